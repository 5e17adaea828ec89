# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a module of AIR uses of the language: operations, attributes, flags, types, kinds of metadata, linkage.

`uses_of(text)` reads what LLVM 14's llvm-dis prints and counts each, by a name such as "operation air.simd_sum.f32" or
"flag nsw of shl". Names that a program chooses are left out: those of functions, structs, values and argument nodes."""

import collections
import re

CALL = re.compile(r"\bcall\b[^@]*@(\"[^\"]+\"|[\w.$]+)\(")
OPCODE = re.compile(r"^  (?:%\S+ = )?(?:(tail|musttail|notail) )?([a-z]\w*)\b")
FLAGS = re.compile(r"^((?: (?:nuw|nsw|exact|inbounds|volatile|atomic|fast|nnan|ninf|nsz|arcp|contract|afn|reassoc))+) ")
ATTACHED = re.compile(r", !([\w.]+) !\d+")
TYPE = re.compile(r"<\d+ x \w+>|\b(?:i\d+|half|bfloat|float|double|x86_fp80|fp128|token)\b")
WORD = re.compile(r'"[^"]*"(?:="[^"]*")?|[\w.]+(?:\([^()]*\))?')
# What stands before the symbol of a function or a global and is none of its type.
LINKAGE = re.compile(
    r"\b(?:private|internal|external|linkonce|linkonce_odr|weak|weak_odr|common|appending|extern_weak|available_externally|"
    r"dso_local|hidden|protected|unnamed_addr|local_unnamed_addr|externally_initialized|thread_local|fastcc|coldcc|cc \d+)\b")
POINTER = re.compile(r" addrspace\(\d+\)|\*")
PARAMETER_ATTRIBUTE = re.compile(
    r'(?<![\w%@.])(?:"air-[^"]*"|(?:align|dereferenceable|dereferenceable_or_null|byval|sret|inalloca|preallocated|byref|elementtype)'
    r"(?=[ (])|(?:zeroext|signext|inreg|noalias|nocapture|nofree|nest|returned|nonnull|noundef|readnone|readonly|writeonly|immarg|swiftself)"
    r"(?![\w.]))")
# Strings of metadata that AIR or LLVM give a meaning; what follows these keys is the program's.
SAID = re.compile(r'!"((?:air\.|llvm\.)[\w.]*)"')
CHOSEN = re.compile(r'(!"air\.(?:arg_type_name|arg_name)", )!"(?:[^"])*"')


def without_strings(line):
    """The line without what is quoted: names and the bytes of constants hold anything."""
    return re.sub(r'c?"[^"]*"', '""', line)


class Reader:
    def __init__(self, text):
        self.found = collections.Counter()
        self.groups = dict(re.findall(r"^attributes (#\d+) = \{ (.*) \}$", text, re.M))
        for line in text.splitlines():
            if line.startswith("  "):
                self.instruction(line)
            elif line.startswith(("define ", "declare ")):
                self.function(line)
            elif line.startswith("@"):
                self.variable(line)
            elif line.startswith("!"):
                self.metadata(line)
            elif line.startswith("target datalayout"):
                self.found[line] += 1

    def add(self, kind, words):
        for word in words:
            self.found[f"{kind} {word}"] += 1

    def attributes(self, kind, line):
        for group in re.findall(r"(#\d+)\b", line):
            self.add(kind, (re.sub(r'="[^"]*"$', "", word) for word in WORD.findall(self.groups.get(group, ""))))

    def function(self, line):
        word, declared = line.split(" ", 1)[0], line.startswith("declare ")
        symbol = re.search(r"@(\"[^\"]+\"|[\w.$]+)\(", line)
        name = symbol.group(1).strip('"')
        self.add(f"{word} with", LINKAGE.findall(line[: symbol.start()]))
        tail = line[line.rfind(")") :]
        self.add(f"{word} with", LINKAGE.findall(tail))
        known = name.startswith(("air.", "llvm."))
        operation = re.sub(r"\..*", "", name[4:]) if name.startswith("air.") else ".".join(name.split(".")[:2])
        whose = f"of the declaration of {'air.' if name.startswith('air.') else ''}{operation}" if declared and known else f"of a {word}"
        self.attributes(f"function attribute {whose}:", tail)
        self.add(f"parameter attribute {whose}:", PARAMETER_ATTRIBUTE.findall(line[: len(line) - len(tail)]))
        self.add("section", re.findall(r'section "([^"]*)"', tail))
        self.add("metadata of functions", re.findall(r" !([\w.]+) !\d+", tail))
        self.add("type", TYPE.findall(without_strings(line)))

    def variable(self, line):
        bare = without_strings(line)
        self.add("variable", LINKAGE.findall(bare))
        self.add("variable in", re.findall(r"= [^(]*?(addrspace\(\d+\))", bare))
        self.add("section", re.findall(r'section "([^"]*)"', line))
        self.add("type", TYPE.findall(bare))
        self.add("value", re.findall(r"\b(?:poison|undef|zeroinitializer)\b", bare))

    def instruction(self, line):
        opcode = OPCODE.match(line)
        if line.startswith("    ") or not opcode:
            return
        tail, word = opcode.groups()
        bare = without_strings(line)
        called = CALL.search(line) if word == "call" else None
        name = called.group(1).strip('"') if called else ""
        after = bare[opcode.end() :]
        flags = FLAGS.match(after)
        if called:
            air = name.startswith(("air.", "llvm."))
            self.add("operation" if air else "call of", [name if air else "a function"])
            self.add("call with", filter(None, [tail]))
            self.attributes("call attribute", line[line.rfind(")") :])
            self.add("parameter attribute of a call:", PARAMETER_ATTRIBUTE.findall(line))
        else:
            types = TYPE.findall(POINTER.sub("", after.split(", !")[0]))
            self.add("instruction", [f"{word} {types[0]}" if types else word])
            if word in ("icmp", "fcmp", "atomicrmw"):
                self.add(word, re.findall(r"^[ a-z]*?\b(eq|ne|[us][gl][te]|o[a-z]+|u[a-z]+|true|false|xchg|add|sub|and|or|xor|max|min)\b", after)[:1])
        self.add(f"flag of {'a call' if called else word}:", flags.group(1).split() if flags else ())
        self.add("metadata", ATTACHED.findall(line))
        self.add("type", TYPE.findall(bare))
        self.add("value", re.findall(r"\b(?:poison|undef)\b", bare))
        self.add("constant expression", re.findall(r"\b(getelementptr|bitcast|addrspacecast|ptrtoint|inttoptr|select|icmp)(?: inbounds)? \(", bare))

    def metadata(self, line):
        named = re.match(r"!([A-Za-z][\w.]*) = ", line)
        self.add("named metadata", [named.group(1)] if named else [])
        self.add("string", SAID.findall(CHOSEN.sub(r"\1", line)))
        flag = re.match(r'!\d+ = !\{i32 \d+, !"([^"]+)", ', line)
        if flag and not flag.group(1).startswith(("air.", "llvm.")):
            self.add("module flag", [flag.group(1)])


def uses_of(text):
    """{use: times} of one module."""
    return Reader(text).found
