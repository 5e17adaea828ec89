# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random vectors of one thread, in Metal and in C++ (Vec of reference.hpp): operators and functions by component, swizzles, places that
a variable names, memory, comparisons, and what lanes do together with whole vectors. A component takes part in scalar expressions."""

import re

from expressions import INTEGERS, Expression, constant_text, unsigned

KINDS = ["uint", "uint", "int", "ushort", "short", "uchar", "char", "ulong", "float", "float"]
COMBINED = {"sum": "plus_", "product": "times_", "min": "min_", "max": "max_", "and": "and_", "or": "or_", "xor": "xor_"}


class Vectors:
    """What Kernel adds to Expressions with the feature "vectors". Without it nothing here is asked, and nothing is drawn."""

    def make_vectors(self):
        self.vectors = [(f"u{i}", self.pick(KINDS), self.pick([2, 3, 3, 4, 4])) for i in range(3)]

    # ---- Values

    def cpp_of(self, kind, count):
        return f"Vec<{kind}, {count}>"

    def by_component(self, kind, count, metal, function, *operands):
        cpp = ", ".join(o.cpp for o in operands)
        return Expression((kind, count), metal.format(*(o.metal for o in operands)), f"ON({function}, {cpp})")

    def of_components(self, kind, count, one):
        parts = [one() for _ in range(count)]
        return Expression((kind, count), f"{kind}{count}({', '.join(p.metal for p in parts)})",
                          f"{self.cpp_of(kind, count)}{{{{{', '.join(f'{kind}({p.cpp})' for p in parts)}}}}}")  # fmt: skip

    def scalar(self, kind, depth):
        return self.real(depth) if kind == "float" else self.integer(kind, depth)

    def vector_constant(self, kind, count):
        return self.of_components(kind, count, lambda: self.real(0) if kind == "float" else self.constant(kind))

    def splat(self, kind, count, e):
        return Expression((kind, count), f"{kind}{count}({e.metal})", f"splat<{kind}, {count}>({e.cpp})")

    def vector_cast(self, kind, e):
        of, count = e.kind
        if of == kind:
            return e
        made = Expression((kind, count), f"{kind}{count}({e.metal})", f"convert<{kind}>({e.cpp})")
        return self.tame_vector(made) if kind == "float" else made

    def tame_vector(self, e):
        return Expression(e.kind, f"tame({e.metal})", f"ON(tame, {e.cpp})")

    def swizzle(self, e, count):
        """`count` components of e, in any order."""
        places = [self.below(e.kind[1]) for _ in range(count)]
        return Expression((e.kind[0], count), f"{e.metal}.{''.join('xyzw'[p] for p in places)}", f"taken<{', '.join(map(str, places))}>({e.cpp})")

    def vector_leaf(self, kind, count):
        choice = self.below(12)
        if choice < 2:
            return self.vector_constant(kind, count)
        if choice < 3:
            return self.splat(kind, count, self.scalar(kind, 1))
        if choice < 5:
            return self.of_components(kind, count, lambda: self.scalar(kind, 1))
        if choice < 6 and self.linear and kind != "float":
            x = self.cast(kind, self.of_linear(self.pick(self.linear)))
            wide_ = self.vector_constant(unsigned(kind), count)
            sum_ = self.by_component(unsigned(kind), count, "({} + {})", "plus_", wide_, self.splat(unsigned(kind), count, self.cast(unsigned(kind), x)))
            return self.vector_cast(kind, sum_)
        if choice < 8:
            return self.vector_loaded(kind, count)
        name, of, has = self.pick(self.vectors)
        e = Expression((of, has), name, f"{name}[t]")
        return self.vector_cast(kind, e if has == count and self.chance(60) else self.swizzle(e, count))

    def vector_loaded(self, kind, count):
        if kind == "float":
            return self.vector_cast(kind, self.vector_loaded("uchar", count))
        packed = self.chance(40) and kind not in ("ulong", "long")
        stride = count if packed or count != 3 else 4
        at = self.index(min(65536, (512 << 10) // (INTEGERS[kind][0] // 8 * stride)))
        return Expression((kind, count), f"{kind}{count}(((device const {'packed_' if packed else ''}{kind}{count}*)A)[{at.metal}])",
                          f"load_vector<{kind}, {count}, {stride}>(A, {at.cpp})")  # fmt: skip

    def vector(self, kind, count, depth):
        if depth <= 0 or self.chance(15):
            return self.vector_leaf(kind, count)
        a, b = self.vector(kind, count, depth - 1), self.vector(kind, count, depth - 1)
        if self.chance(12):
            condition = self.condition(1)
            return Expression(a.kind, f"({condition.metal} ? {a.metal} : {b.metal})", f"({condition.cpp} ? {a.cpp} : {b.cpp})")
        if self.chance(12):
            c = self.comparison(count, depth - 1)
            return Expression(a.kind, f"select({a.metal}, {b.metal}, {c.metal})", f"ON(select_, {a.cpp}, {b.cpp}, {c.cpp})")
        if self.chance(8):
            other = self.pick([k for k in INTEGERS if k != kind])
            return self.vector_cast(kind, self.vector(other, count, depth - 1))
        if kind == "float":
            return self.float_vector(a, b, count)
        return self.integer_vector(kind, count, a, b, depth)

    def float_vector(self, a, b, count):
        choice = self.below(7)
        if choice < 2:
            op, function = self.pick([("+", "plus_"), ("-", "minus_")])
            return self.tame_vector(self.by_component("float", count, f"({{}} {op} {{}})", function, a, b))
        if choice < 3:
            return self.tame_vector(self.by_component("float", count, "({} * {})", "times_", a, self.splat("float", count, Expression("float", self.pick(["2.0f", "-1.0f", "0.5f"])))))
        if choice < 4:
            return self.by_component("float", count, "(-{})", "negated", a)
        if choice < 5:
            return self.tame_vector(self.by_component("float", count, "fma({}, {}, {})", "fma_", a, b, a))
        name = self.pick(["min", "max"])
        # Of +0 and -0 either is the smaller.
        zero = self.splat("float", count, Expression("float", "0.0f"))
        a, b = (self.by_component("float", count, "({} + {})", "plus_", e, zero) for e in (a, b))
        return self.by_component("float", count, f"{name}({{}}, {{}})", f"{name}_", a, b)

    def integer_vector(self, kind, count, a, b, depth):
        bits, signed = INTEGERS[kind]
        choice = self.below(20)
        if choice < 5:
            op, function = self.pick([("+", "plus_"), ("-", "minus_"), ("*", "times_")])
            a, b = (self.vector_cast(unsigned(kind), e) for e in (a, b))
            if self.chance(25):
                b = self.cast(unsigned(kind), self.scalar(kind, 1))
                made = Expression((unsigned(kind), count), f"({a.metal} {op} {b.metal})", f"ON({function}, {a.cpp}, splat<{unsigned(kind)}, {count}>({b.cpp}))")
            else:
                made = self.by_component(unsigned(kind), count, f"({{}} {op} {{}})", function, a, b)
            return self.vector_cast(kind, made)
        if choice < 8:
            op, function = self.pick([("&", "and_"), ("|", "or_"), ("^", "xor_")])
            return self.by_component(kind, count, f"({{}} {op} {{}})", function, a, b)
        if choice < 10:
            op, function = self.pick([("<<", "left_"), (">>", "right_")])
            if self.chance(50):
                b = self.of_components(kind, count, lambda: Expression(kind, constant_text(kind, self.below(min(2 * bits + 9, 120)))))
            return self.by_component(kind, count, f"({{}} {op} {{}})", function, a, b)
        if choice < 13:
            return self.quotient(kind, count, a, b)
        if choice < 14:
            return self.by_component(kind, count, "(~{})", "inverted", a)
        name = self.pick(["min", "max", "rotate", "mulhi", "addsat", "subsat", "hadd", "rhadd", "absdiff", "popcount", "clz", "ctz", "reverse_bits", "abs", "clamp", "madhi"])
        if name in ("popcount", "clz", "ctz", "reverse_bits"):
            return self.by_component(kind, count, f"{name}({{}})", f"{name}_", a)
        if name == "abs":
            return self.vector_cast(kind, self.by_component(unsigned(kind), count, "abs({})", "abs_", a)) if not signed else self.by_component(kind, count, "abs({})", "abs_", a)
        if name == "absdiff":
            return self.vector_cast(kind, self.by_component(unsigned(kind), count, "absdiff({}, {})", "absdiff_", a, b))
        if name == "clamp":
            low, high = sorted(self.below(100) for _ in "ab")
            limits = (self.splat(kind, count, Expression(kind, constant_text(kind, n))) for n in (low, high))
            return self.by_component(kind, count, "clamp({}, {}, {})", "clamp_", a, *limits)
        if name == "madhi":
            return self.by_component(kind, count, "madhi({}, {}, {})", "madhi_", a, b, self.vector_leaf(kind, count))
        return self.by_component(kind, count, f"{name}({{}}, {{}})", f"{name}_", a, b)

    def quotient(self, kind, count, a, b):
        """A divisor may be 0 in a component that is not used: the others are what they are."""
        signed = INTEGERS[kind][1]
        op, function = self.pick([("/", "over_"), ("%", "rest_")])
        if self.chance(50):
            fixed = [self.pick([0, 0, 1, 2, 3, 5, 7, 8, 10, 100]) for _ in range(count)]
            if not any(fixed):
                fixed[-1] = 3
            b = self.of_components(kind, count, iter([Expression(kind, constant_text(kind, n)) for n in fixed]).__next__)
            made = self.by_component(kind, count, f"({{}} {op} {{}})", function, a, b)
            used = [i for i, n in enumerate(fixed) if n]
            places = [self.pick(used) for _ in range(count)]
            return Expression(made.kind, f"{made.metal}.{''.join('xyzw'[p] for p in places)}", f"taken<{', '.join(map(str, places))}>({made.cpp})")
        if signed:  # neither 0 nor -1
            b = self.by_component(kind, count, "({} & {})", "and_", b, self.splat(kind, count, Expression(kind, constant_text(kind, 63))))
        b = self.by_component(kind, count, "({} | {})", "or_", b, self.splat(kind, count, Expression(kind, constant_text(kind, 1))))
        return self.by_component(kind, count, f"({{}} {op} {{}})", function, a, b)

    def comparison(self, count, depth):
        kind = self.pick(KINDS)
        a, b = self.vector(kind, count, min(depth, 1)), self.vector(kind, count, min(depth, 1))
        op, function = self.pick([("<", "less_"), ("<=", "most_of"), ("==", "same_"), ("!=", "unlike_"), (">", "more_"), (">=", "least_of")])
        return self.by_component("bool", count, f"({{}} {op} {{}})", function, a, b)

    # ---- Components in scalar expressions

    def component(self):
        """An integer."""
        name, kind, count = self.pick(self.vectors)
        e = Expression((kind, count), name, f"{name}[t]")
        if self.chance(30):
            kind, count = self.pick(KINDS), self.pick([2, 3, 4])
            e = self.vector(kind, count, 1)
        if self.chance(60):
            place = self.below(count)
            got = Expression(kind, f"{e.metal}.{'xyzw'[place]}", f"{e.cpp}[{place}]")
        else:
            at = self.make_of("uint", f"(uint({{}}) % {count}u)", self.leaf("uint"))
            got = Expression(kind, f"{e.metal}[{at.metal}]", f"{e.cpp}[{at.cpp}]")
        return self.make_of("int", "int({})", got) if kind == "float" else got

    def vector_condition(self):
        name = self.pick(["any", "all"])
        c = self.comparison(self.pick([2, 3, 4]), 1)
        return Expression("bool", f"{name}({c.metal})", f"{name}_of({c.cpp})")

    # ---- Statements

    def vector_statement(self, mask):
        choice = self.below(12)
        if choice < 3:
            return self.vector_store(mask)
        if choice < 5 and self.features["collectives"] and not self.in_choice:
            return self.vector_collective(mask)
        name, kind, count = self.pick(self.vectors)
        if choice < 7:
            places = self.random.sample(range(count), 1 + self.below(count))
            if len(places) == 1:
                e = self.tame(self.real(2)) if kind == "float" else self.integer(kind, 2)
                return self.each(mask, f"{name}.{'xyzw'[places[0]]} = {e.metal};", f"{name}[t][{places[0]}] = {kind}({e.cpp});")
            e = self.vector(kind, len(places), 2)
            return self.each(mask, f"{name}.{''.join('xyzw'[p] for p in places)} = {e.metal};", f"put<{', '.join(map(str, places))}>({name}[t], {e.cpp});")
        if choice < 8:
            at = self.make_of("uint", f"(uint({{}}) % {count}u)", self.leaf("uint"))
            e = self.tame(self.real(1)) if kind == "float" else self.integer(kind, 1)
            return self.each(mask, f"{name}[{at.metal}] = {e.metal};", f"{name}[t][{at.cpp}] = {kind}({e.cpp});")
        e = self.vector(kind, count, 2)
        if choice < 9 and kind != "float":
            op, function = self.pick([("&", "and_"), ("|", "or_"), ("^", "xor_")])
            return self.each(mask, f"{name} {op}= {e.metal};", f"{name}[t] = ON({function}, {name}[t], {e.cpp});")
        self.each(mask, f"{name} = {e.metal};", f"{name}[t] = {e.cpp};")

    def vector_store(self, mask):
        """To the thread's own four words of B."""
        kind, count = self.pick([("uint", 4), ("uint", 2), ("int", 2), ("ushort", 4), ("short", 2), ("uchar", 4), ("char", 3), ("uint", 3), ("ulong", 2), ("ushort", 3), ("uchar", 2)])
        packed = kind != "ulong" and (count == 3 or self.chance(40))
        size = INTEGERS[kind][0] // 8 * count
        step = INTEGERS[kind][0] // 8 if packed else size
        offset = step * self.below((16 - size) // step + 1)
        e = self.vector(kind, count, 2)
        self.each(mask, f"*(device {'packed_' if packed else ''}{kind}{count}*)((device uchar*)B + number * 16 + {offset}) = {e.metal};",
                  f"store_vector(B, g.number[t] * 16 + {offset}, {e.cpp});")  # fmt: skip

    def vector_collective(self, mask):
        quad = self.chance(25)
        prefix, width = ("quad", 4) if quad else ("simd", 32)
        name, kind, count = self.pick([v for v in self.vectors if v[1] != "ulong"] or [("", "", 0)])
        if not name:
            return
        number = self.number()
        cpp, x, r = self.cpp_of(kind, count), f"x{number}", f"r{number}"
        what = self.pick(["sum", "min", "max", "broadcast_first"] + ([] if kind == "float" else ["product", "and", "or", "xor", "prefix"]))
        e = self.vector(kind, count, 1)
        if kind == "float" and what in ("min", "max"):
            e = self.by_component(kind, count, "({} + {})", "plus_", e, self.splat(kind, count, Expression("float", "0.0f")))
        self.line(None, f"{{ {cpp} {x}[kMost]{{}}, {r}[kMost]{{}}; EACH({mask}) {x}[t] = {e.cpp};")
        if what == "broadcast_first":
            self.line(None, f"uint from{number}[kMost]{{}}; EACH({mask}) from{number}[t] = first_of({mask}, n, {width}, t);")
            self.line(None, f"move({mask}, n, {width}, {x}, from{number}, {cpp}{{}}, {r});")
        elif what == "prefix":
            way = self.pick(["inclusive", "exclusive"])
            what = f"prefix_{way}_sum"
            self.line(None, f"prefix({mask}, n, {width}, {str(way == 'inclusive').lower()}, {cpp}{{}}, {x}, {r}, [](auto a, auto b) {{ return ON(plus_, a, b); }});")
        else:
            self.line(None, f"reduce({mask}, n, {width}, {x}, {r}, [](auto a, auto b) {{ return ON({COMBINED[what]}, a, b); }});")
        metal, given = f"{prefix}_{what}({e.metal})", f"{r}[t]"
        if kind == "float":
            metal, given = f"tame({metal})", f"ON(tame, {given})"
        self.each(mask, f"{name} = {metal};", f"{name}[t] = {given};")
        self.line(None, "}")

    # ---- The kernel

    def declare_vectors(self):
        for name, kind, count in self.vectors:
            self.declare(self.cpp_of(kind, count), name)
            e = self.of_components(kind, count, lambda of=kind: self.real(0) if of == "float" else self.cast(of, self.pick([self.hardware(), self.constant("uint"), self.variable()])))
            self.each("g.all", f"{kind}{count} {name} = {e.metal};", f"{name}[t] = {e.cpp};")

    def show_vectors(self):
        """One word of each goes to O."""
        for i, (name, kind, count) in enumerate(self.vectors):
            parts = []
            for k in range(count):
                one = f"as_type<uint>({name}[{k}])" if kind == "float" else f"uint({name}[{k}])"
                parts.append(f"{one} * {2 * k + 1}u" if kind != "ulong" else f"({one} ^ uint({name}[{k}] >> 32)) * {2 * k + 1}u")
            text = " + ".join(parts)
            cpp = re.sub(rf"\b{name}\[", f"{name}[t][", text).replace("as_type<", "as<")
            self.each("m0", f"O[number * 16 + {5 + i}] = {text};", f"O[g.number[t] * 16 + {5 + i}] = {cpp};")
