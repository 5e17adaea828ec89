# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random expressions of one thread, each in Metal and in C++ (reference.hpp): integers, floats, conditions, and what is read
from memory. Nothing in them is undefined: shifts count modulo the width and conversions saturate, as Metal says, and signed
sums are made of unsigned ones. Floats are whole numbers of at most 4096, so that every order of a sum has the same bits."""

import random

INTEGERS = {"uchar": (8, False), "char": (8, True), "ushort": (16, False), "short": (16, True), "uint": (32, False),
            "int": (32, True), "ulong": (64, False), "long": (64, True)}  # fmt: skip
MOST_THREADS = 128  # of a group
GRID = 640  # threads at the most
TABLE = 65536  # elements of A that any type may read
FEATURES = {
    "collectives": True, "barriers": True, "returns": True, "constants": False, "argument_buffer": False,
    "wide_shifts": True,  # by constants as wide as the type, or wider
    "saturating": True,  # constants that a conversion saturates
    "vectors_in_structures": True,  # packed and derived structures with vectors
    "textures": False,  # read anywhere, also outside; each thread writes a texel of its own
    "fast": False,  # fast math: beside whole numbers, floats whose results lie within a bound (Real)
    "objects": False,  # arrays, structures, unions and matrices of a thread
    "zero_divisors": False,  # whose quotient is not used
    "vectors": False,  # variables of two to four components
    "matrices": False,  # of SIMD groups, in flow that SIMD groups take apart from each other; all of a group's SIMD groups are full
}  # fmt: skip


class Expression:
    """A value of a thread: `metal` and `cpp`, the same expression in two languages."""

    def __init__(self, kind, metal, cpp=None):
        self.kind, self.metal, self.cpp = kind, metal, metal if cpp is None else cpp


class Linear:
    """A variable that lanes have in a row: its values are 0 to `most`."""

    def __init__(self, name, kind, most):
        self.name, self.kind, self.most = name, kind, most


def unsigned(kind):
    return kind if not INTEGERS[kind][1] else "u" + kind


def wide(kind):
    """Sums in it wrap in both languages."""
    return "ulong" if INTEGERS[kind][0] == 64 else "uint"


def constant_text(kind, value):
    bits, signed = INTEGERS[kind]
    value &= (1 << bits) - 1
    if bits <= 16:
        return f"{kind}({value - (1 << bits) if signed and value >> (bits - 1) else value})"
    return f"{kind}({value}{'ul' if bits == 64 else 'u'})"


class Expressions:
    """Makes them from what is in scope, which the kernel that is made keeps up to date."""

    def __init__(self, seed, name, features=None):
        self.random = random.Random(seed)
        self.name = name
        self.features = {**FEATURES, **(features or {})}
        self.names = 0
        self.variables, self.floats = [], ["f0", "f1"]  # (name, type); names
        self.reals = ["g0", "g1"] if self.features["fast"] else []
        self.linear, self.counters, self.arrays = [], [], []
        self.has_objects = False
        self.vectors = []  # (name, type, components)
        self.favoured = []  # linear values of which a condition round here says something
        self.structure = None
        self.depth_of_loads = 0
        self.structures_m, self.structures_c = [], []

    # ---- Choices

    def chance(self, percent):
        return self.random.randrange(100) < percent

    def pick(self, among):
        return among[self.random.randrange(len(among))]

    def below(self, bound):
        return self.random.randrange(bound)

    def number(self):
        self.names += 1
        return self.names

    # ---- Values

    def constant(self, kind):
        bits, _ = INTEGERS[kind]
        value = self.pick([0, 1, 2, 3, 5, 7, 8, 15, 16, 31, 32, 33, 63, 64, 100, 127, 128, 255, -1, -2, -3, -8, 1 << (bits - 1),
                           (1 << (bits - 1)) - 1, (1 << bits // 2) - 1, self.random.getrandbits(bits)])  # fmt: skip
        return Expression(kind, constant_text(kind, value))

    def cast(self, kind, e):
        if e.kind == kind:
            return e
        if e.kind == "float" and not self.features["saturating"] and kind != "int":
            return self.cast(kind, self.cast("int", e))
        if e.kind == "float":
            return Expression(kind, f"{kind}({e.metal})", f"to<{kind}>({e.cpp})")
        return Expression(kind, f"{kind}({e.metal})", f"{kind}({e.cpp})")

    def variable(self):
        name, kind = self.pick(self.variables)
        return Expression(kind, name, f"{name}[t]")

    def of_linear(self, x):
        return Expression(x.kind, x.name, f"{x.name}[t]")

    def parameter(self):
        k = self.below(8)
        if self.features["constants"] and self.chance(40):
            return Expression("uint", f"F{k % 3}", f"F[{k % 3}]")
        if self.features["argument_buffer"] and self.chance(40):
            return Expression("uint", f"args.p[{k}]", f"P[{k}]") if self.chance(50) else Expression("uint", "args.n", "P[3]")
        return Expression("uint", f"P[{k}]")

    def hardware(self):
        return self.pick([Expression("uint", "gid.x", "g.gx[t]"), Expression("uint", "gid.y", "g.gy[t]"),
                          Expression("uint", "lid.x", "g.lx[t]"), Expression("uint", "li", "g.index[t]"),
                          Expression("uint", "lane", "g.lane[t]"), Expression("uint", "sg", "g.simd[t]"),
                          Expression("uint", "size.x", "g.size[0]"), Expression("uint", "tg.x", "g.position[0]")])  # fmt: skip

    def leaf(self, kind):
        if self.vectors and self.chance(15):
            return self.cast(kind, self.component())
        if self.has_objects and self.chance(12):
            return self.cast(kind, self.of_object())
        choice = self.below(100)
        if choice < 25:
            return self.constant(kind)
        if choice < 60:
            return self.cast(kind, self.variable())
        if choice < 75 and self.linear:
            return self.cast(kind, self.of_linear(self.pick(self.linear)))
        if choice < 82:
            return self.cast(kind, self.parameter())
        if choice < 88 and self.counters:
            return self.cast(kind, self.pick(self.counters))
        if choice < 92:
            return self.cast(kind, self.hardware())
        return self.cast(kind, self.loaded())

    def integer(self, kind, depth):
        """An expression of this type; both languages agree on every operator in it."""
        if depth == 0 or self.chance(20):
            return self.leaf(kind)
        bits, signed = INTEGERS[kind]
        a, b = self.integer(kind, depth - 1), self.integer(kind, depth - 1)
        w = wide(kind)
        if self.features["zero_divisors"] and self.chance(8):
            c, op = self.condition(1), self.pick("/%")
            positive = self.make_of(kind, f"{kind}(({{}} & 63) | 1)", b)
            divisor = self.choose(kind, c, Expression(kind, constant_text(kind, 0)), positive)
            quotient = Expression(kind, f"{kind}({a.metal} {op} {divisor.metal})", f"{kind}({'over_' if op == '/' else 'rest_'}({kind}({a.cpp}), {kind}({divisor.cpp})))")
            return self.choose(kind, c, self.leaf(kind), quotient)
        choice = self.below(26)
        if choice < 5:
            op = self.pick("+-*")
            if bits < 16 and self.chance(50):
                return self.make_of(kind, f"{kind}({{}} {op} {{}})", a, b)
            return self.make_of(kind, f"{kind}({w}({{}}) {op} {w}({{}}))", a, b)
        if choice < 8:
            return self.make_of(kind, f"{kind}({{}} {self.pick('&|^')} {{}})", a, b)
        if choice < 11:
            left = self.chance(50)
            return self.cast(kind, self.shifted(a, self.count(kind, depth), left))
        if choice < 13:
            op = self.pick("/%")
            if self.chance(50):
                divisor = self.pick([2, 3, 4, 5, 7, 8, 10, 16, 60, 100, 127] + ([-2, -3, -7, -8] if signed else [128, 255]))
                return self.make_of(kind, f"{kind}({{}} {op} {constant_text(kind, divisor)})", a)
            if signed:
                return self.make_of(kind, f"{kind}({{}} {op} (({{}} & 63) | 1))", a, b)
            return self.make_of(kind, f"{kind}({{}} {op} ({{}} | 1))", a, b)
        if choice < 14:
            return self.make_of(kind, f"{kind}({self.pick(['~{}', f'{w}(0) - {w}({{}})'])})", a)
        own = [name for name, of in self.variables if of == kind]
        shared = [array for array in self.arrays if array[1] == kind]
        if choice < 16 and own and shared and self.chance(60):  # objects in two address spaces
            name, array = self.pick(own), self.pick(shared)
            inner = self.choose(kind, self.condition(depth - 1), Expression(kind, name, f"{name}[t]"), self.of_array(array))
            return self.choose(kind, self.condition(depth - 1), self.constant(kind), inner)
        if choice < 16:
            return self.choose(kind, self.condition(depth - 1), a, b)
        if choice < 17:
            other = self.pick(list(INTEGERS))
            return self.cast(kind, self.integer(other, depth - 1))
        if choice < 18:
            return self.cast(kind, self.real(depth - 1))
        return self.function(kind, a, b, depth)

    def make_of(self, kind, text, *operands):
        return Expression(kind, text.format(*(o.metal for o in operands)), text.format(*(o.cpp for o in operands)))

    def choose(self, kind, condition, a, b):
        text = f"({condition.metal} ? {a.metal} : {b.metal})"
        return Expression(kind, text, f"({condition.cpp} ? {a.cpp} : {b.cpp})")

    def count(self, kind, depth):
        bits = max(INTEGERS[kind][0], 32)
        if self.chance(50):
            return Expression("uint", f"{self.below(2 * bits + 9) if self.features['wide_shifts'] else self.below(bits)}u")
        count = self.integer(self.pick(["uint", "int", "uchar"]), depth - 1)
        if not self.features["wide_shifts"]:  # what it is made of may be constants
            return self.make_of(count.kind, f"({{}} & {bits - 1})", count)
        return count

    def shifted(self, a, count, left):
        kind = a.kind if INTEGERS[a.kind][0] >= 32 else "int"
        return Expression(kind, f"({a.metal} {'<<' if left else '>>'} {count.metal})", f"{'shl' if left else 'shr'}({a.cpp}, {count.cpp})")

    def function(self, kind, a, b, depth):
        bits, signed = INTEGERS[kind]
        one = ["popcount", "clz", "ctz", "reverse_bits", "abs"]
        two = ["min", "max", "rotate", "mulhi", "addsat", "subsat", "hadd", "rhadd", "absdiff"]
        three = ["clamp", "madhi", "extract_bits", "insert_bits", "select"]
        name = self.pick(one + two + two + three)
        if name in one:
            call = self.make_of(kind, f"{name}@({{}})", a)
        elif name == "absdiff":
            return self.cast(kind, self.named(unsigned(kind), name, a, b))
        elif name in two:
            return self.named(kind, name, a, b)
        elif name == "clamp":
            low, high = sorted(self.below(100) for _ in "ab")
            return self.named(kind, name, a, Expression(kind, constant_text(kind, low)), Expression(kind, constant_text(kind, high)))
        elif name == "madhi":
            return self.named(kind, name, a, b, self.integer(kind, depth - 1))
        elif name == "select":
            return self.named(kind, name, a, b, self.condition(depth - 1))
        else:
            offset = self.below(bits)
            count = self.below(bits - offset + 1)
            numbers = [Expression("uint", f"{offset}u"), Expression("uint", f"{count}u")]
            if self.chance(40):
                numbers[0] = self.make_of("uint", f"(uint({{}}) % {offset + 1}u)", b)
            return self.named(kind, name, *([a, b] if name == "insert_bits" else [a]), *numbers)
        return Expression(kind, call.metal.replace("@", ""), call.cpp.replace("@", "_"))

    def named(self, kind, name, *operands):
        # Constants have the function's type already, so that it is the same overload in both languages.
        return Expression(kind, f"{name}({', '.join(o.metal for o in operands)})", f"{name}_({', '.join(o.cpp for o in operands)})")

    def real(self, depth):
        """A float: a whole number of at most 4096, or -0."""
        if depth <= 0 or self.chance(25):
            choice = self.below(5)
            if choice == 0:
                return Expression("float", self.pick(["0.0f", "-0.0f", "1.0f", "-1.0f", "2.0f", "3.0f", "-5.0f", "100.0f", "4096.0f"]))
            if choice == 1 and self.linear:
                x = self.pick(self.linear)
                return self.make_of("float", "float({} & 1023)", self.of_linear(x))
            if choice == 2:
                return self.make_of("float", "float(short({}) & 255)", self.variable())
            name = self.pick(self.floats)
            return Expression("float", name, f"{name}[t]")
        a, b = self.real(depth - 1), self.real(depth - 1)
        choice = self.below(7)
        if choice == 0:
            return Expression("float", f"(- {a.metal})", f"(- {a.cpp})")
        if choice == 1:
            return self.choose("float", self.condition(depth - 1), a, b)
        if choice == 2:
            if self.features["saturating"] and self.chance(30):
                kind = self.pick([k for k in INTEGERS if INTEGERS[k][0] <= 16])
                text = self.pick(["-31.0f", "300.0f", "1000.0f", "-70000.0f", "70000.0f", "255.0f", "-0.0f"])
                inner = self.cast(kind, Expression("float", text))
            else:
                inner = self.cast(self.pick(["uchar", "char", "short", "ushort", "uint", "int"]), a)
            return Expression("float", f"float({inner.metal} & 2047)", f"float({inner.cpp} & 2047)")
        if choice == 3:
            return self.tame(self.make_of("float", "({} * {})", a, Expression("float", self.pick(["2.0f", "-1.0f", "3.0f", "0.5f"]))))
        return self.tame(self.make_of("float", f"({{}} {self.pick('+-')} {{}})", a, b))

    def inexact(self, depth):
        """A float whose result has a bound, of at most some thousands."""
        if depth <= 0 or self.chance(15):
            choice = self.below(4)
            if choice == 0:
                number = self.pick(["0.1", "-0.7", "3.3", "1e-3", "2.5", "1.0", "0.0", "-17.25"])
                return Expression("float", f"{number}f", f"Real(double({number}f))")
            if choice == 1:
                e = self.integer(self.pick(["uchar", "short", "uint"]), 1)
                return self.wrap("(float(int({}) & 255) * 0.01f)", "(Real(double(int({}) & 255)) * Real(double(0.01f)))", e)
            name = self.pick(self.reals)
            return Expression("float", name, f"{name}[t]")
        a, b = self.inexact(depth - 1), self.inexact(depth - 1)
        within = "clamp({}, -{n}.0f, {n}.0f)", "clamp({}, -{n}, {n})"
        forms = [("({} + {})", None), ("({} - {})", None), ("({} * {})", None), ("({} * {})", None), ("min({}, {})", "least({}, {})"), ("max({}, {})", "most({}, {})"),
                 ("({} / (fabs({}) + 1.0f))", "divide({}, one_more({}))"), ("fma({}, {}, 0.25f)", "({} * {} + Real(0.25))"),
                 ("dot(float3({0}, {1}, 2.0f), float3({1}, 0.5f, {0}))", "({0} * {1} + {1} * Real(0.5) + Real(2) * {0})"),
                 ("mix({}, {}, 0.3f)", "mixed({}, {}, double(0.3f))")]  # fmt: skip
        one = [("sqrt(fabs({}) + 1.0f)", "root(one_more({}))"), ("rsqrt(fabs({}) + 1.0f)", "inverse_root(one_more({}))"), ("log2(fabs({}) + 1.0f)", "logarithm(one_more({}))"),
               (f"exp2({within[0].replace('{n}', '8')})", f"power({within[1].replace('{n}', '8')})"), (f"sin({within[0].replace('{n}', '3')})", f"sine({within[1].replace('{n}', '3')})"),
               (f"cos({within[0].replace('{n}', '3')})", f"cosine({within[1].replace('{n}', '3')})"), (f"float(half({within[0].replace('{n}', '100')}))", f"to_half({within[1].replace('{n}', '100')})"),
               ("smoothstep(0.0f, 8.0f, {})", "smooth({})"), ("(- {})", None)]  # fmt: skip
        if self.chance(12):
            return self.choose("float", self.condition(1), a, b)
        if self.chance(55):
            metal, cpp = self.pick(forms)
            return self.wrap(metal, cpp or metal, a, b)
        metal, cpp = self.pick(one)
        return self.wrap(metal, cpp or metal, a)

    def wrap(self, metal, cpp, *operands):
        return Expression("float", metal.format(*(o.metal for o in operands)), cpp.format(*(o.cpp for o in operands)))

    def tame(self, e):
        return Expression("float", f"tame({e.metal})", f"tame({e.cpp})")

    # ---- Conditions

    def condition(self, depth):
        if depth > 0 and self.chance(25):
            a, b = self.condition(depth - 1), self.condition(depth - 1)
            return self.make_of("bool", self.pick(["({} && {})", "({} || {})", "({} != {})"]), a, b)
        if self.vectors and depth > 0 and self.chance(15):
            return self.vector_condition()
        if self.linear and self.chance(60):
            return self.of_low_bits(self.pick(self.linear))
        kind = self.pick(["uint", "int", "uchar", "short", "ulong", "long"])
        a = self.integer(kind, min(depth, 1))
        choice = self.below(6)
        if choice == 0:
            k = self.below(3) + 1
            return self.make_of("bool", f"(({{}} & {(1 << k) - 1}) == {self.below(1 << k)})", a)
        if choice == 1:
            real = self.pick(["{} < {}", "{} == {}", "{} >= {}"])
            return self.make_of("bool", f"({real})", self.real(1), self.real(1))
        return self.make_of("bool", f"({{}} {self.pick(['<', '<=', '==', '!=', '>', '>='])} {{}})", a, self.integer(kind, min(depth, 1)))

    def of_low_bits(self, x):
        """Says something of a value that lanes have in a row."""
        e = self.of_linear(x)
        k = self.pick([1, 1, 1, 2, 2, 3, 4])
        c = self.below(1 << k)
        m = self.pick([2, 3, 4, 5, 6, 8, 12])
        bound = self.below(min(x.most, 90) + 1)
        if self.chance(40):
            return self.make_of("bool", f"(({{}} & {(1 << k) - 1}) == {c})", e)
        return self.make_of("bool", self.pick([
            f"({{}} % {1 << k} == {c})", f"(({{}} & {(1 << k) - 1}) != {c})",
            f"({{}} % {m} == {self.below(m)})", f"({{}} < {bound})", f"({{}} >= {bound})", f"({{}} == {bound})",
            f"(int({{}}) - {bound} > 0)", f"(({{}} >> {k}) == {bound >> k})", f"(({{}} & {~((1 << k) - 1) & 0xff}) == {bound & 0xf0})",
            f"(({{}} | {(1 << k) - 1}) == {bound | ((1 << k) - 1)})", f"(({{}} & {1 << k}) != 0)",
        ]), e)  # fmt: skip

    # ---- Memory

    def index(self, bound, x=None):
        """An index below `bound`: of lanes in a row where that fits."""
        fitting = [y for y in self.linear if y.most < bound]
        if x is None and self.favoured and self.favoured[-1].most < bound and self.chance(60):
            x = self.favoured[-1]
        if x is None and fitting and self.chance(75):
            x = self.pick(fitting)
        if x is not None:
            e, most = self.of_linear(x), x.most
            forms = [("{}", most), ("{} + 1", most + 1), ("{} + 1", most + 1), ("{} + 1", most + 1), ("({} | 1)", most | 1), ("({} ^ 1)", most | 1), ("({} & ~3)", most),
                     ("{} / 2", most), ("{} * 2 + 1", 2 * most + 1), ("({} << 2) + 3", 4 * most + 3), ("{} * 3 + 2", 3 * most + 2),
                     ("({} << 1 | 1)", 2 * most + 1), ("{} + 2", most + 2), ("{} + 3", most + 3), ("({} ^ 3)", most | 3),
                     ("({} | 2) + 1", (most | 2) + 1), ("{} % 8", 7), ("({} >> 1) + 5", most // 2 + 5)]  # fmt: skip
            if bound > 255:  # lanes in a row wrap round inside the array
                at = 256 - self.below(min(most, 255) + 1)
                forms += [(f"uchar({{}} + {at})", 255), (f"128 + char({{}} + {at - 128})", 255)] * (6 if bound < 512 else 1)
            forms = [f for f in forms if f[1] < bound]
            if forms:
                text, most = self.pick(forms)
                made = self.make_of("uint", text, e)
                for counter in self.counters:
                    step = self.pick([1, 2, 16, 32, 128])
                    if most + 8 * step < bound and self.chance(50):
                        most += 8 * step
                        made = self.make_of("uint", f"{{}} + {{}} * {step}", made, counter)
                        break
                if most + 15 < bound and self.chance(30):
                    made = self.make_of("uint", "{} + {}", made, Expression("uint", f"P[{self.below(8)}]"))
                return made
        kind = "ushort" if bound >= 65536 else "uchar" if bound >= 256 else "uint"
        if kind != "uint" and self.chance(50):
            return self.integer(kind, 1)
        return self.make_of("uint", f"({{}} % {bound}u)", self.integer("uint", 1))

    def loaded(self):
        depth = self.depth_of_loads = self.depth_of_loads + 1
        try:
            if depth > 2:
                return self.variable()
            if self.features["textures"] and self.chance(40):
                return self.texel()
            if self.structure and self.chance(30):
                return self.of_structure()
            if self.arrays and self.chance(50):
                return self.of_array(self.pick(self.arrays))
            kind = self.pick(["uint"] * 4 + ["int", "ushort", "uchar", "short", "char", "ulong"])
            at = self.index(TABLE)
            if kind == "uint":
                base = "args.a" if self.features["argument_buffer"] and self.chance(40) else "A"
                return Expression(kind, f"{base}[{at.metal}]", f"load<uint>(A, {at.cpp})")
            return Expression(kind, f"((device const {kind}*)A)[{at.metal}]", f"load<{kind}>(A, {at.cpp})")
        finally:
            self.depth_of_loads -= 1

    def texel(self):
        """A texel of the texture that is read, which has 64 x 8. Outside of it a read gives 0."""
        x, y = self.index(80), self.make_of("uint", "(uint({}) % 10u)", self.leaf("uint"))
        of = self.pick(["uint2", "uint2", "ushort2"])
        return Expression("uint", f"T0.read({of}({x.metal}, {y.metal})).x", f"texel(T, {x.cpp}, {y.cpp})")

    def of_array(self, array, x=None):
        name, kind, size = array
        at = self.index(size, x)
        e = Expression(kind, f"{name}[{at.metal}]", f"{name}[{at.cpp}]")
        if kind == "float":
            return self.make_of("int", "int({})", e)
        return e

    def make_structure(self):
        """Members of every type, packed or not, derived or not."""
        name = f"S_{self.name}"
        vectors = self.features["vectors_in_structures"]
        small = self.chance(30)  # so that a few registers hold what lanes in a row read: numbers off their own size, too
        packed = small or self.chance(50)
        derived = not small and self.chance(35)
        members = []

        def member(prefix, allowed):
            kind = self.pick(["uchar", "char", "ushort", "short", "uint", "int", "ulong", "half", "float"])
            count = self.pick([1, 1, 2, 3, 3, 4]) if allowed and kind not in ("ulong",) else 1
            compact = count > 1 and self.chance(50)
            text = kind if count == 1 else f"{'packed_' if compact else ''}{kind}{count}"
            length = self.pick([0, 0, 0, 2, 3]) if count == 1 else 0
            members.append((f"{prefix}", kind, count, length))
            return f"{text} {prefix}{f'[{length}]' if length else ''};"

        allowed = vectors or not (packed or derived)
        base = [member(f"b{i}", allowed) for i in range(1 + self.below(3))] if derived else []
        if small:
            kinds = [self.pick(["ushort", "half", "short", "uchar"]), *(self.pick(["float", "uint", "int", "ushort"]) for _ in range(1 + self.below(2)))]
            members += [(f"m{i}", kind, 1, 0) for i, kind in enumerate(kinds)]
            own = [f"{kind} {name};" for name, kind, _, _ in members]
        else:
            own = [member(f"m{i}", allowed) for i in range(2 + self.below(5))]
        attribute = "__attribute__((packed)) " if packed else ""
        for lines in (self.structures_m, self.structures_c):
            if derived:
                lines.append(f"struct {attribute}B_{self.name} {{ {' '.join(base)} }};")
            lines.append(f"struct {attribute}{name}{f' : B_{self.name}' if derived else ''} {{ {' '.join(own)} }};")
        return name, members

    def of_structure(self, at=None):
        name, members = self.structure
        member, kind, count, length = self.pick(members)
        at = at or self.index(2048)
        place = f"[{self.below(length or count)}]" if length or count > 1 else ""
        m, c = f"S[{at.metal}].{member}{place}", f"S[{at.cpp}].{member}{place}"
        if kind == "float":
            return Expression("uint", f"as_type<uint>({m})", f"as<uint>(float({c}))")
        if kind == "half":
            return Expression("ushort", f"as_type<ushort>({m})", f"as<ushort>(half({c}))")
        return Expression(kind, m, c)
