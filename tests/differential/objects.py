# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Objects of one thread, in Metal and in C++: arrays and pointers into them, structures that functions take by value and by reference,
tables of constants, unions, bits taken as another type, matrices. Places in them depend on the thread."""

from expressions import INTEGERS, Expression, wide

ELEMENTS = ["uint", "int", "ushort", "short", "uchar", "char", "ulong", "bool", "half", "float"]
SAME_BITS = [("uchar4", "uint"), ("ushort2", "uint"), ("char4", "uint"), ("uint2", "ulong"), ("ushort4", "ulong"), ("uchar4", "int"), ("uchar2", "ushort")]


def cpp_type(kind, count=1):
    return kind if count == 1 else f"Vec<{kind}, {count}>"


def metal_type(kind, count=1):
    return kind if count == 1 else f"{kind}{count}"


class Objects:
    """What Kernel adds to Expressions with the feature "objects". Without it nothing here is asked, and nothing is drawn."""

    def make_objects(self):
        def element():
            kind = self.pick(ELEMENTS)
            return kind, self.pick([1, 1, 2, 3, 3, 4]) if kind not in ("ulong", "bool") else 1

        self.thread_arrays = [(f"q{i}", *element(), 2 + self.below(6)) for i in range(2)]
        self.tables = [(f"K{i}_{self.name}", *element(), 2 + self.below(7)) for i in range(2)]
        self.members = [(f"m{i}", *element(), self.pick([0, 0, 0, 2, 3])) for i in range(2 + self.below(3))]
        self.record_type = f"R_{self.name}"
        self.matrices_of = [(f"x{i}", self.pick(["float", "float", "half"]), 2 + self.below(3), 2 + self.below(3)) for i in range(2)]

    # ---- Values

    def element_of(self, kind, count, depth, most=63):
        """A value of that type. A float is a whole number from 0 to `most`."""
        def one():
            if kind in ("float", "half"):
                return self.make_of(kind, f"{kind}(uint({{}}) & {most})", self.integer("uint", min(depth, 1)))
            if kind == "bool":
                return self.condition(1)
            return self.integer(kind, depth)

        if count == 1:
            e = one()
            return Expression(kind, f"{kind}({e.metal})", f"{kind}({e.cpp})")
        parts = [one() for _ in range(count)]
        return Expression(kind, f"{kind}{count}({', '.join(f'{kind}({p.metal})' for p in parts)})",
                          f"{cpp_type(kind, count)}{{{{{', '.join(f'{kind}({p.cpp})' for p in parts)}}}}}")  # fmt: skip

    def place(self, size):
        return self.make_of("uint", f"(uint({{}}) % {size}u)", self.leaf("uint"))

    def whole(self, kind, count, metal, cpp):
        """An integer of what is an element."""
        if count > 1:
            at = self.place(count) if self.chance(50) else Expression("uint", str(self.below(count)))
            metal, cpp = f"{metal}[{at.metal}]", f"{cpp}[{at.cpp}]"
        return Expression("int", f"int({metal})", f"int({cpp})") if kind in ("half", "float", "bool") else Expression(kind, metal, cpp)

    def of_object(self):
        """An integer out of an array, a table or a structure."""
        choice = self.below(7)
        if choice < 2:
            name, kind, count, size = self.pick(self.thread_arrays)
            at = self.place(size)
            return self.whole(kind, count, f"{name}[{at.metal}]", f"{name}[t][{at.cpp}]")
        if choice < 3:
            name, kind, count, size = self.pick(self.tables)
            at = self.place(size)
            return self.whole(kind, count, f"{name}[{at.metal}]", f"{name}[{at.cpp}]")
        if choice < 5:
            name = self.pick(["r0", "r1"])
            member, kind, count, length = self.pick(self.members)
            at = self.place(length) if length else None
            return self.whole(kind, count, f"{name}.{member}" + (f"[{at.metal}]" if at else ""), f"{name}[t].{member}" + (f"[{at.cpp}]" if at else ""))
        if choice < 6:
            parts, of = self.pick(SAME_BITS)
            kind, count = parts[:-1], int(parts[-1])
            e = self.integer(of, 1)
            return self.whole(kind, count, f"as_type<{parts}>({of}({e.metal}))", f"as<{cpp_type(kind, count)}>({of}({e.cpp}))")
        name, kind, columns, rows = self.pick(self.matrices_of)
        column, row = self.place(columns), self.below(rows)
        return Expression("int", f"int({name}[{column.metal}][{row}])", f"int({name}[t][{column.cpp}][{row}])")

    # ---- Statements

    def object_statement(self, mask):
        choice = self.below(14)
        if choice < 3:
            name, kind, count, size = self.pick(self.thread_arrays)
            at, e = self.place(size), self.element_of(kind, count, 2)
            if count > 1 and self.chance(40):
                part, e = self.place(count), self.element_of(kind, 1, 1)
                return self.each(mask, f"{name}[{at.metal}][{part.metal}] = {e.metal};", f"{name}[t][{at.cpp}][{part.cpp}] = {e.cpp};")
            return self.each(mask, f"{name}[{at.metal}] = {e.metal};", f"{name}[t][{at.cpp}] = {e.cpp};")
        if choice < 5:
            return self.by_pointer(mask)
        if choice < 7:
            member, kind, count, length = self.pick(self.members)
            at = self.place(length) if length else None
            name, e = self.pick(["r0", "r1"]), self.element_of(kind, count, 1)
            return self.each(mask, f"{name}.{member}{f'[{at.metal}]' if at else ''} = {e.metal};", f"{name}[t].{member}{f'[{at.cpp}]' if at else ''} = {e.cpp};")
        if choice < 9:
            a, b, to = (self.pick(["r0", "r1"]) for _ in "abc")
            if a == b == to:
                b = "r1" if a == "r0" else "r0"
            e = self.integer("uint", 1)
            return self.each(mask, f"{to} = mixed_{self.name}({a}, {b}, {e.metal});", f"{to}[t] = mixed_{self.name}({a}[t], {b}[t], {e.cpp});")
        if choice < 10:
            condition = self.condition(1)
            return self.each(mask, f"r0 = {condition.metal} ? r1 : r0;", f"r0[t] = {condition.cpp} ? r1[t] : r0[t];")
        if choice < 11:
            name, kind, count, size = self.pick(self.thread_arrays)
            a, b = self.place(size), self.place(size)
            return self.each(mask, f"{name}[{a.metal}] = {name}[{b.metal}];", f"{name}[t][{a.cpp}] = {name}[t][{b.cpp}];")
        if choice < 12:
            return self.union_statement(mask)
        self.matrix_statement(mask)

    def by_pointer(self, mask):
        name, kind, count, size = self.pick(self.thread_arrays)
        number, at = self.number(), self.place(size - 1)
        to, of = self.pick(self.variables)
        e = self.element_of(kind, count, 1)
        read = self.cast(of, self.whole(kind, count, f"p{number}[0]", f"p{number}[0]"))
        w = wide(of)
        self.line(f"{{ thread {metal_type(kind, count)}* p{number} = &{name}[{at.metal}]; p{number}[1] = {e.metal}; {to} = {of}({w}({to}) * 5 + {w}({read.metal})); }}",
                  f"EACH({mask}) {{ {cpp_type(kind, count)}* p{number} = &{name}[t][{at.cpp}]; p{number}[1] = {e.cpp}; {to}[t] = {of}({w}({to}[t]) * 5 + {w}({read.cpp})); }}")  # fmt: skip

    def union_statement(self, mask):
        number = self.number()
        parts, of = self.pick(SAME_BITS)
        kind, count = parts[:-1], int(parts[-1])
        e, one, at, to = self.integer(of, 1), self.integer(kind, 1), self.place(count), self.pick(self.variables)
        for line, vector, value, part, index, target in ((self.m, parts, e.metal, one.metal, at.metal, to[0]),
                                                         (self.c, cpp_type(kind, count), e.cpp, one.cpp, at.cpp, to[0] + "[t]")):  # fmt: skip
            line.append("  " * self.indent + (f"EACH({mask}) " if line is self.c else "") +
                        f"{{ union {{ {of} all; {vector} part; }} both{number}; both{number}.all = {of}({value}); "
                        f"both{number}.part[{index}] = {kind}({part}); {target} = {to[1]}(both{number}.all); }}")  # fmt: skip

    def matrix_statement(self, mask):
        name, kind, columns, rows = self.pick(self.matrices_of)
        small = self.make_of(kind, f"{kind}(uint({{}}) & 7)", self.integer("uint", 1))
        choice = self.below(5)
        if choice < 1:
            at, row = self.place(columns), self.place(rows)
            return self.each(mask, f"{name}[{at.metal}][{row.metal}] = {small.metal};", f"{name}[t][{at.cpp}][{row.cpp}] = {small.cpp};")
        to, of = self.pick(self.variables)
        if choice < 3:  # by a vector of small numbers; one component of it goes on
            left = self.chance(50)
            e = self.element_of(kind, rows if left else columns, 1, 7)
            at = self.place(columns if left else rows)
            product = (f"({e.metal} * {name})", f"row_times({e.cpp}, {name}[t])") if left else (f"({name} * {e.metal})", f"times_column({name}[t], {e.cpp})")
            return self.each(mask, f"{to} = {of}(int({product[0]}[{at.metal}]) & 1023);", f"{to}[t] = {of}(int({product[1]}[{at.cpp}]) & 1023);")
        if choice < 4:
            at, row = self.place(rows), self.place(columns)
            return self.each(mask, f"{to} = {of}(int(transpose({name})[{at.metal}][{row.metal}]));", f"{to}[t] = {of}(int({name}[t][{row.cpp}][{at.cpp}]));")
        self.each(mask, f"{name} = {name} + {kind}{columns}x{rows}({small.metal}) - {kind}{columns}x{rows}({small.metal});", f"(void){name}[t];")

    # ---- The kernel

    def declare_objects(self):
        fields = lambda type_: " ".join(f"{type_(kind, count)} {name}{f'[{length}]' if length else ''};" for name, kind, count, length in self.members)  # noqa: E731
        for lines, type_, reference, inline in ((self.structures_m, metal_type, "thread ", "static inline"), (self.structures_c, cpp_type, "", "static")):
            lines.append(f"struct {self.record_type} {{ {fields(type_)} }};")
            lines.append(self.function_text(type_, reference, inline))
        for name, kind, count, size in self.tables:
            values = [[self.pick([0, 1, 2, 3, 7, 9, 31, 63, 100, 127]) % (2 if kind == "bool" else 128) for _ in range(count)] for _ in range(size)]
            text = lambda one, metal: (f"{kind}({one[0]})" if count == 1 else f"{kind}{count}({', '.join(map(str, one))})" if metal else  # noqa: E731
                                       f"{{{{{', '.join(f'{kind}({x})' for x in one)}}}}}")  # fmt: skip
            self.structures_m.append(f"constant {metal_type(kind, count)} {name}[{size}] = {{{', '.join(text(one, True) for one in values)}}};")
            self.structures_c.append(f"static const {cpp_type(kind, count)} {name}[{size}] = {{{', '.join(text(one, False) for one in values)}}};")
        for name, kind, count, size in self.thread_arrays:
            self.declared.append(f"{cpp_type(kind, count)} {name}[kMost][{size}]{{}};")
            start = self.element_of(kind, count, 0)
            self.line(f"{metal_type(kind, count)} {name}[{size}]; for (uint k = 0; k < {size}; ++k) {name}[k] = {start.metal};",
                      f"EACH(g.all) for (uint k = 0; k < {size}; ++k) {name}[t][k] = {start.cpp};")  # fmt: skip
        for name in ("r0", "r1"):
            self.declare(self.record_type, name)
            self.line(f"{self.record_type} {name};")
            for member, kind, count, length in self.members:
                e = self.element_of(kind, count, 0)
                loop = f"for (uint k = 0; k < {length}; ++k) " if length else ""
                at = f"{member}{'[k]' if length else ''}"
                self.line(f"{loop}{name}.{at} = {e.metal};", f"EACH(g.all) {loop}{name}[t].{at} = {e.cpp};")
        for name, kind, columns, rows in self.matrices_of:
            self.declared.append(f"Mat<{kind}, {columns}, {rows}> {name}[kMost]{{}};")
            parts = [[self.below(8) for _ in range(rows)] for _ in range(columns)]
            metal = ", ".join(f"{kind}{rows}({', '.join(map(str, p))})" for p in parts)
            cpp = ", ".join(f"{{{{{', '.join(f'{kind}({x})' for x in p)}}}}}" for p in parts)
            self.line(f"{kind}{columns}x{rows} {name} = {kind}{columns}x{rows}({metal});", f"EACH(g.all) {name}[t] = Mat<{kind}, {columns}, {rows}>{{{{{cpp}}}}};")
        self.has_objects = True

    def function_text(self, type_, reference, inline):
        """Takes a structure by value and one by reference, changes both, and gives one of them back."""
        body = []
        for name, kind, count, length in self.members:
            at = f"{name}[c % {length}u]" if length else name
            if kind in INTEGERS and count == 1:
                body.append(f"a.{at} = {kind}({wide(kind)}(a.{at}) + {wide(kind)}(c));")
            elif count > 1:
                body.append(f"if (c & 1) b.{at} = a.{at}; else a.{at}[c % {count}u] = b.{at}[{count - 1}];")
            else:
                body.append(f"if (c & 2) a.{at} = b.{at};")
        return f"{inline} {self.record_type} mixed_{self.name}({self.record_type} a, {reference}{self.record_type}& b, uint c) {{ {' '.join(body)} return c % 3u == 0 ? b : a; }}"

    def show_objects(self):
        """One word of a sum goes to O."""
        terms, k = [], 0
        for name, kind, count, size in self.thread_arrays:
            for i in range(size):
                for part in range(count):
                    k += 1
                    terms.append((f"{name}[{i}]" + (f"[{part}]" if count > 1 else ""), f"{name}[t][{i}]" + (f"[{part}]" if count > 1 else ""), kind, k))
        for name in ("r0", "r1"):
            for member, kind, count, length in self.members:
                for i in range(length or 1):
                    k += 1
                    at = f".{member}" + (f"[{i}]" if length else "") + (f"[{count - 1}]" if count > 1 else "")
                    terms.append((f"{name}{at}", f"{name}[t]{at}", kind, k))
        metal = " + ".join(f"uint(int({m})) * {2 * k + 1}u" for m, _, _, k in terms)
        cpp = " + ".join(f"uint(int({c})) * {2 * k + 1}u" for _, c, _, k in terms)
        self.each("m0", f"O[number * 16 + 13] = {metal};", f"O[g.number[t] * 16 + 13] = {cpp};")
