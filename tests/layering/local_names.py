#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""local_names.py ROOT: no two files of a folder give something of their own the same name, or that of a function in a
header which the others call.

The release build compiles the files of a folder together (smelt_unity in cmake/smelt.cmake). Two structs or constants of
one name would end that build; two functions of one name could do worse and overload each other. This looks at what
stands in unnamed namespaces of the folders that are built so: functions, types, variables. Aliases may be the same."""
import collections
import pathlib
import re
import sys

MODULES = ["aot", "bindings/python", "cache", "service", "tools/smelt", "tools/toolchain"]
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|^[ \t]*#(?:\\\n|[^\n])*', re.S | re.M)
TYPE = re.compile(r"^(?:template\s*<.*>\s*)?(?:struct|class|union|enum(?:\s+class)?)\s+(\w+)[^=(]*$", re.S)
NAME = re.compile(r"\b(\w+)\s*(?:\(|\[|=|$)")


def declared(head):
    """The name that a declaration gives, by the words before its body, value or end."""
    head = head.strip()
    if not head or head.startswith(("using ", "namespace", "static_assert", "extern")):
        return None
    if found := TYPE.match(head):
        return found[1]
    # Template arguments may hold anything; one name is left before the parameters, the value or the end.
    while head != (shorter := re.sub(r"<[^<>]*>", "", head)):
        head = shorter
    head = re.sub(r"\[\[.*?\]\]|\balignas\([^)]*\)", "", head)
    found = NAME.search(head)
    # A member's definition (Type::name) belongs to its type.
    return found[1] if found and not re.search(rf"::\s*~?{found[1]}\b\s*\(", head) else None


def local_names(text):
    """What the unnamed namespaces of one file declare; the text is without comments and strings."""
    names, scopes, head = set(), [], ""
    for token in re.findall(r"[{};]|[^{};]+", text):
        ours = bool(scopes) and scopes[-1] == "unnamed"
        if token == "{":
            kind = "unnamed" if re.search(r"\bnamespace\s*$", head) else "named" if re.search(r"\bnamespace\b", head) else "body"
            if ours and kind == "body" and (name := declared(head)):
                names.add(name)
            # What follows a value in braces, up to the semicolon, belongs to the value.
            scopes.append("value" if kind == "body" and "=" in re.sub(r"\(.*\)", "", head, flags=re.S) else kind)
            head = ""
        elif token == "}":
            head = "value" if scopes.pop() == "value" else ""
        elif token == ";":
            if ours and head != "value" and (name := declared(head)):
                names.add(name)
            head = ""
        elif head != "value":
            head = token
    return names


def header_functions(folder):
    """Functions of namespaces, by the headers below a folder: they begin a line."""
    texts = (NOISE.sub(" ", file.read_text()) for file in folder.rglob("*.hpp"))
    return {name for text in texts for name in re.findall(r"^(?! )[\w:<>,&*\[\] ]+[ &*](\w+)\(", text, re.M)}


def main():
    root = pathlib.Path(sys.argv[1])
    everywhere = header_functions(root / "base")
    found = bad = 0
    for module in MODULES:
        in_headers = everywhere | header_functions(root / module)
        for folder in sorted({file.parent for file in (root / module).rglob("*.cpp")}):
            texts = {file.name: NOISE.sub(" ", file.read_text()) for file in sorted(folder.glob("*.cpp"))}
            owners = collections.defaultdict(list)
            for file, text in texts.items():
                for name in local_names(text):
                    owners[name].append(file)
            found += len(owners)
            for name, files in sorted(owners.items()):
                called = re.compile(rf"(?<![\w.:>]){name}\(")
                callers = [f for f, text in texts.items() if f not in files and called.search(text)]
                if len(files) > 1:
                    print(f"{folder.relative_to(root)}: '{name}' is in {', '.join(files)}; give each a name of its own")
                elif name in in_headers and callers:
                    print(f"{folder.relative_to(root)}: '{name}' of {files[0]} is a header's function too, which "
                          f"{', '.join(callers)} may mean; give it another name")  # fmt: skip
                else:
                    continue
                bad += 1
    print(f"{found} names of single files, {bad} that another file would see")
    return 1 if bad or not found else 0


if __name__ == "__main__":
    sys.exit(main())
