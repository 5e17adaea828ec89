# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random kernels, each as Metal's text and as C++ of the same meaning (reference.hpp), statement by statement.

A kernel ends, has no data race, and leaves nothing undefined. Conditions say something of a linear value's low bits or range;
what is under them goes to memory by that value. So lanes are off everywhere, and lane 0 is among them.

    Kernel(seed, name, features)    one kernel: .metal, .reference
    library(seeds, features)        the two texts of several
"""

import re

from expressions import FEATURES, GRID, INTEGERS, MOST_THREADS, TABLE, Expression, Expressions, Linear, wide
from objects import Objects
from vectors import Vectors


class Kernel(Vectors, Objects, Expressions):
    def __init__(self, seed, name, features=None):
        super().__init__(seed, name, features)
        self.seed = seed
        self.m, self.c = [], []
        self.indent = 1
        self.loops = []  # of the block that is made: (number, counter)
        self.owned = self.random.choice([(1, 0), (1, 1), (2, 0), (2, 1), (2, 3), (3, 2)])  # who writes to C
        self.variables = [(f"v{i}", self.pick("uint uint int ushort uchar short char ulong long".split())) for i in range(5)]
        if self.features["vectors"]:
            self.make_vectors()
        if self.features["objects"]:
            self.make_objects()
        self.structure = self.make_structure() if self.chance(70) else None
        self.signed_texels = self.features["textures"] and self.chance(50)
        self.make()

    # ---- Text

    def line(self, metal, cpp=None):
        if metal is not None:
            self.m.append("  " * self.indent + metal)
        if cpp is not None:
            self.c.append("  " * self.indent + cpp)

    def both(self, text):
        self.line(text, text)

    def each(self, mask, metal, cpp):
        self.line(metal, f"EACH({mask}) {cpp}")

    # ---- Statements

    def block(self, mask, depth, statements, together):
        """`together`: all threads of the group run it."""
        count = len(self.linear)
        for _ in range(1 + self.below(statements)):
            self.statement(mask, depth, together)
        del self.linear[count:]

    def gone(self, mask):
        """Behind what may have ended threads, or taken them out of the loop."""
        text = f"{mask} = {mask} & live"
        if self.loops:
            text += f" & in{self.loops[-1][0]} & it{self.loops[-1][0]}"
        self.line(None, text + ";")

    def statement(self, mask, depth, together):
        if self.features["matrices"] and together and self.chance(30):
            return self.matrices(mask)
        if self.features["textures"] and self.chance(15):
            return self.texel_store(mask)
        if self.vectors and self.chance(35):
            return self.vector_statement(mask)
        if self.has_objects and self.chance(35):
            return self.object_statement(mask)
        if self.reals and self.chance(30):
            return self.inexact_store(mask)
        choice = self.below(100)
        if depth > 0 and choice < 22:
            self.branch(mask, depth, together)
        elif depth > 0 and choice < 32:
            self.loop(mask, depth, together)
        elif depth > 0 and choice < 36:
            self.choice(mask, depth)
        elif self.loops and self.loops[-1][1] and choice < 40:
            leave, out_of = self.pick([("break;", "in"), ("continue;", "it")])
            self.guarded(mask, leave, f"{out_of}{self.loops[-1][0]}")
        elif self.features["returns"] and choice < 42 and not self.keeps_together:
            self.guarded(mask, f"{{ O[number * 16 + 15] = {self.below(1000)}; return; }}", "live")
        elif self.features["barriers"] and together and choice < 54 and self.keeps_together and self.arrays:
            self.exchange(mask)
        elif self.features["collectives"] and choice < 68 and not self.in_choice:
            self.collective(mask)
        elif choice < 76:
            self.owned_store(mask)
        elif choice < 80:
            self.count_bins(mask)
        elif self.structure and choice < 82:
            self.record(mask)
        elif choice < 84:
            self.new_linear(mask)
        elif choice < 90:
            name = self.pick(self.floats)
            e = self.tame(self.real(2))
            self.each(mask, f"{name} = {e.metal};", f"{name}[t] = {e.cpp};")
        else:
            name, kind = self.pick(self.variables)
            e = self.integer(kind, 3)
            self.each(mask, f"{name} = {e.metal};", f"{name}[t] = {e.cpp};")

    def under(self, mask, e):
        """A mask of those for whom the condition holds."""
        number = self.number()
        self.line(None, f"Mask c{number} = none();")
        self.line(None, f"EACH({mask}) c{number}.b[t] = {e.cpp};")
        return f"c{number}"

    def branch(self, mask, depth, together):
        same = together and self.chance(30)
        x = None
        if same:
            k = self.below(8)
            e = Expression("bool", f"P[{k}] {self.pick(['<', '>='])} {1 + self.below(6)}u")
        elif self.linear and self.chance(50):
            x = self.pick(self.linear)
            e = self.of_low_bits(x)
        else:
            e = self.condition(2)
        c = self.under(mask, e)
        first, second = f"m{self.number()}", f"m{self.number()}"
        self.line(f"if ({e.metal}) {{", f"if (Mask {first} = {mask} & {c}; any({first})) {{")
        self.inside(first, depth, same, x)
        if self.chance(50):
            self.line("} else {", f"}} if (Mask {second} = without({mask}, {c}); any({second})) {{")
            self.inside(second, depth, same, x)
        self.both("}")
        self.gone(mask)

    def inside(self, mask, depth, together, of=None):
        """A block under a condition, one of the linear value `of` if that is given."""
        self.indent += 1
        self.favoured += [of] if of else []
        if of and self.chance(80):
            self.near(mask, of)
        self.block(mask, depth - 1, 4, together)
        if of:
            self.favoured.pop()
        self.indent -= 1

    def near(self, mask, x):
        """A sum with what lies where `x` says, or beside that."""
        name, kind = self.pick(self.variables)
        fitting = [array for array in self.arrays if x.most + 3 < array[2]]
        if fitting and self.chance(50):
            e = self.of_array(self.pick(fitting), x)
        else:
            at = self.index(TABLE, x)
            e = Expression("uint", f"A[{at.metal}]", f"load<uint>(A, {at.cpp})")
        w = wide(kind)
        self.each(mask, f"{name} = {kind}({w}({name}) + {w}({e.metal}));", f"{name}[t] = {kind}({w}({name}[t]) + {w}({e.cpp}));")

    def record(self, mask):
        """A few members of one structure, which lanes have in a row: wide loads take them apart."""
        name, kind = self.pick(self.variables)
        fitting = [x for x in self.linear if x.most < 2000]
        x = self.pick(fitting) if fitting else None
        w = wide(kind)
        for _ in range(2 + self.below(4)):
            e = self.of_structure(self.make_of("uint", f"{{}} + {self.below(3)}", self.of_linear(x)) if x else None)
            self.each(mask, f"{name} = {kind}({w}({name}) * 3 + {w}({e.metal}));", f"{name}[t] = {kind}({w}({name}[t]) * 3 + {w}({e.cpp}));")

    def loop(self, mask, depth, together):
        number = self.number()
        counter = f"j{number}"
        kind = self.pick(["uint", "uint", "int", "ushort"])
        same = together and self.chance(50)
        if same or self.chance(40):
            limit = Expression("uint", f"P[{self.below(8)}] % 5")
        else:
            limit = self.make_of("uint", f"(uint({{}}) & {self.pick([1, 3, 3, 7])})", self.integer("uint", 1))
        # The limit is evaluated once: what it is made of may change in the loop.
        self.each(mask, f"const {kind} n{number} = {limit.metal};", f"n{number}[t] = {kind}({limit.cpp});")
        self.declare(kind, f"n{number}")
        self.declare(kind, counter)
        self.line(None, f"{{ Mask in{number} = {mask}; EACH(in{number}) {counter}[t] = 0;")
        self.line(f"for ({kind} {counter} = 0; {counter} < n{number}; ++{counter}) {{", "for (;;) {")
        inner = f"m{self.number()}"
        self.line(None, f"  in{number} = in{number} & live; EACH(in{number}) in{number}.b[t] = {counter}[t] < n{number}[t];")
        self.line(None, f"  if (!any(in{number})) break;")
        self.line(None, f"  Mask it{number} = in{number}, {inner} = in{number};")
        self.loops.append((number, not same))
        self.counters.append(Expression(kind, counter, f"{counter}[t]"))
        self.inside(inner, depth, same)
        self.counters.pop()
        self.loops.pop()
        self.line(None, f"  EACH(in{number}) ++{counter}[t];")
        self.line("}", "} }")
        self.gone(mask)

    def choice(self, mask, depth):
        """A switch, in which one case falls into the next."""
        number = self.number()
        e = self.make_of("uint", "(uint({}) & 3)", self.integer("uint", 1))
        self.line(None, f"EACH({mask}) s{number}[t] = {e.cpp};")
        self.declare("uint", f"s{number}")
        falls = self.chance(50)
        loops, self.loops = self.loops, []  # `break` would leave the switch
        self.in_choice += 1
        self.line(f"switch ({e.metal}) {{")
        self.indent += 1
        for case in range(3):
            label = "default" if case == 2 else f"case {case}"
            inner = f"m{self.number()}"
            takes = [f"s{number}[t] == {case}", f"s{number}[t] == 1" + (f" || s{number}[t] == 0" if falls else ""), f"s{number}[t] >= 2"][case]
            self.line(f"{label}: {{", f"{{ Mask {inner} = {mask} & live; EACH({inner}) {inner}.b[t] = {takes};")
            self.inside(inner, depth, False)
            self.line("}" if case == 0 and falls else "} break;", "}")
        self.indent -= 1
        self.line("}")
        self.in_choice -= 1
        self.loops = loops
        self.gone(mask)

    def guarded(self, mask, leave, out_of):
        e = self.condition(1)
        c = self.under(mask, e)
        self.line(f"if ({e.metal}) {leave}")
        if "return" in leave:
            store = leave[leave.index("{") + 1 : leave.index("return")].replace("number", "g.number[t]")
            self.line(None, f"EACH({mask} & {c}) {store}")
        self.line(None, f"{out_of} = without({out_of}, {mask} & {c});")
        self.gone(mask)

    def new_linear(self, mask):
        name = f"t{self.number()}"
        bases = [("gid.x", "g.gx[t]", GRID), ("lid.x", "g.lx[t]", MOST_THREADS), ("li", "g.index[t]", MOST_THREADS),
                 ("lane", "g.lane[t]", 32), ("number", "g.number[t]", GRID)]  # fmt: skip
        metal, cpp, most = self.pick(bases)
        e = Expression("uint", metal, cpp)
        form = self.below(10)
        if form < 3:
            add = self.below(8)
            e, most = self.make_of("uint", f"{{}} + {add}u", e), most + add
        elif form < 5:
            e, most = self.make_of("uint", f"{{}} + P[{self.below(8)}]", e), most + 15
        elif form < 6:
            e = self.make_of("uint", f"{most}u - {{}}", e)
        elif form < 7:
            by = self.pick([2, 3, 4])
            e, most = self.make_of("uint", f"{{}} * {by}u + P[{self.below(8)}]", e), most * by + 15
        elif form < 8 and self.linear:
            x = self.pick(self.linear)
            e, most = self.make_of("uint", f"{{}} + {self.below(5)}", self.of_linear(x)), x.most + 5
        elif form < 9:
            e, most = self.make_of("uint", "{} + tg.x * 3u", e), most + 3 * GRID
            e.cpp = e.cpp.replace("tg.x", "g.position[0]")
        kind = self.pick(["uint", "uint", "uint", "int", "ushort", "ulong"])
        if kind == "ushort" and self.chance(40):  # wraps round somewhere
            e, most = self.make_of("uint", f"{{}} + {65536 - self.below(80)}u", e), 65535
        elif self.chance(20):
            kind, most = "uchar", 255
            e = self.make_of("uint", f"{{}} + {self.below(256)}u", e)
        self.declare(kind, name)
        self.each(mask, f"const {kind} {name} = {kind}({e.metal});", f"{name}[t] = {kind}({e.cpp});")
        self.linear.append(Linear(name, kind, most))

    def owned_store(self, mask):
        """To places of the thread's own: four words of B, and of C some behind its own, where its low bits say so."""
        e = self.integer("uint", 2)
        if self.chance(50):
            at, operator = self.below(4), self.pick(["=", "+=", "^="])
            self.each(mask, f"B[number * 4 + {at}] {operator} {e.metal};", f"B[g.number[t] * 4 + {at}] {operator} {e.cpp};")
            return
        k, rest = self.owned
        d = self.below((1 << k) - rest)
        condition = self.make_of("bool", f"(({{}} & {(1 << k) - 1}) == {rest})", Expression("uint", "own", "own[t]"))
        c = self.under(mask, condition)
        inner = f"m{self.number()}"
        self.line(f"if {condition.metal} {{", f"{{ Mask {inner} = {mask} & {c};")
        if self.features["collectives"] and not self.in_choice and self.chance(40):
            self.collective(inner)
        place = f"own + {d}" if d or self.chance(50) else "own"
        value = self.make_of("uint", f"{{}} ^ C[{place}]", e) if self.chance(40) else e
        value = Expression("uint", value.metal, value.cpp.replace(f"C[{place}]", f"C[{place.replace('own', 'own[t]')}]"))
        self.line(f"  C[{place}] = {value.metal};", f"  EACH({inner}) C[{place.replace('own', 'own[t]')}] = {value.cpp};")
        self.both("}")

    def texel_store(self, mask):
        """To the thread's own texel, which saturates, or outside, where nothing is."""
        kind = "int" if self.signed_texels else "uint"
        e = self.integer(kind, 2)
        place = self.pick(["uint2(gid)", "uint2(gid)", "ushort2(gid)", "uint2(gid.x + grid.x, gid.y)"])
        self.line(f"T1.write({kind}4({e.metal}), {place});", None if "grid" in place else f"EACH({mask}) W[g.number[t]] = texel_of({e.cpp}, texel_bits);")

    def matrices(self, mask):
        """Small whole numbers are multiplied, and sums of products come out. Each SIMD group has memory of its own for it."""
        c = self.below(2)
        condition = self.pick(["true", f"(sg & 1) == {c}", f"sg >= {c}", f"P[{self.below(8)}] > {self.below(6)}u", f"((sg + P[{self.below(8)}]) & 1) == {c}"])
        rounds = self.pick(["1", "1", "1 + (sg & 1)", f"(P[{self.below(8)}] & 3)"])
        number = self.number()
        wait = "simdgroup_barrier(mem_flags::mem_threadgroup);"
        self.line(f"if ({condition}) for (uint r{number} = 0; r{number} < {rounds}; ++r{number}) {{",
                  f"for (uint sg = 0; sg * 32 < uint(n); ++sg) if ({mask}.b[sg * 32] && ({condition})) for (uint r{number} = 0; r{number} < {rounds}; ++r{number}) {{")  # fmt: skip
        each = "for (int t = int(sg) * 32; t < int(sg) * 32 + 32; ++t)"
        self.indent += 1
        for _ in range(1 + self.below(3)):
            choice = self.below(10)
            small, sum_ = self.pick(["q0", "q1"]), self.pick(["q2", "q3"])
            if choice < 3:
                a, b = (self.make_of("float", "float(uint({}) & 3)", self.integer("uint", 1)) for _ in "ab")
                turned = self.chance(30)
                self.line(f"mt[sg * 64 + lane] = {a.metal}; mt[sg * 64 + 32 + lane] = {b.metal}; {wait}",
                          f"{each} mt[t / 32 * 64 + t % 32] = {a.cpp}, mt[t / 32 * 64 + 32 + t % 32] = {b.cpp};")  # fmt: skip
                self.line(f"simdgroup_load({small}, mt + sg * 64, 8{', ulong2(0, 0), true' if turned else ''}); {wait}",
                          f"for (int i = 0; i < 64; ++i) {small}[sg][i] = mt[sg * 64 + {'i % 8 * 8 + i / 8' if turned else 'i'}];")  # fmt: skip
            elif choice < 4:
                k = self.below(8)
                self.line(f"{small} = make_filled_simdgroup_matrix<float, 8, 8>(float(P[{k}] & 3));", f"for (float& x : {small}[sg]) x = float(P[{k}] & 3);")
            elif choice < 7:
                a, b = self.pick(["q0", "q1"]), self.pick(["q0", "q1"])
                self.line(f"simdgroup_multiply_accumulate({sum_}, {a}, {b}, {sum_});", f"multiply({sum_}[sg], {a}[sg], {b}[sg], {sum_}[sg]);")
            elif choice < 8:
                self.line(f"simdgroup_multiply({sum_}, q0, q1);", f"multiply({sum_}[sg], q0[sg], q1[sg], none_[sg]);")
            else:
                name, kind = self.pick(self.variables)
                at = self.pick(["", " + 32"])
                self.line(f"simdgroup_store({sum_}, mt + sg * 64, 8); {wait} {name} = {kind}(uint(mt[sg * 64 + lane{at}]) & 127); {wait}",
                          f"for (int i = 0; i < 64; ++i) mt[sg * 64 + i] = {sum_}[sg][i]; {each} {name}[t] = {kind}(uint(mt[t / 32 * 64 + t % 32{at}]) & 127);")  # fmt: skip
        self.indent -= 1
        self.both("}")

    def count_bins(self, mask):
        operation, bank = self.pick([("add", 0), ("max", 1), ("min", 2), ("xor", 3), ("or", 4), ("and", 5)])
        at = self.make_of("uint", f"(uint({{}}) & 15) + {16 * bank}", self.integer("uint", 1) if self.chance(60) else self.parameter())
        e = self.integer("uint", 1)
        self.line(f"atomic_fetch_{operation}_explicit(&bins[{at.metal}], {e.metal}, memory_order_relaxed);")
        combined = {"add": "b + e", "max": "max_(b, e)", "min": "min_(b, e)", "xor": "b ^ e", "or": "b | e", "and": "b & e"}[operation]
        self.line(None, f"EACH({mask}) {{ const uint e = {e.cpp}; uint& b = bins[{at.cpp}]; b = {combined}; }}")

    def declare(self, kind, name):
        """A variable of each thread in the reference, for the whole group."""
        self.declared.append(f"{kind} {name}[kMost]{{}};")

    def exchange(self, mask):
        """Threads write to places of their own in an array of the group, and then read others'."""
        name, kind, size = array = self.pick(self.arrays)
        arrays, self.arrays = self.arrays, []  # what is stored reads none: others write to them
        e = self.tame(self.real(1)) if kind == "float" else self.integer(kind, 2)
        self.arrays = arrays
        at = self.pick(["li", f"{size - 1} - li"]) if size >= MOST_THREADS else f"li % {size}u"
        self.line("threadgroup_barrier(mem_flags::mem_threadgroup);")
        cpp = at.replace("li", "g.index[t]")
        if size >= MOST_THREADS:
            self.each(mask, f"{name}[{at}] = {e.metal};", f"{name}[{cpp}] = {e.cpp};")
        else:
            self.line(f"if (li < {size}) {name}[li] = {e.metal};", f"EACH({mask}) if (g.index[t] < {size}) {name}[g.index[t]] = {e.cpp};")
        self.line("threadgroup_barrier(mem_flags::mem_threadgroup);")
        for _ in range(1 + self.below(3)):
            target, to = self.pick(self.variables)
            got = self.cast(to, self.of_array(array if self.chance(70) else self.pick(self.arrays)))
            got = self.make_of(to, f"{to}({{}} ^ {{}})", got, self.integer(to, 1)) if self.chance(40) else got
            if self.chance(40):
                condition = self.condition(1)
                got = self.choose(to, condition, got, Expression(to, target, f"{target}[t]"))
            self.each(mask, f"{target} = {got.metal};", f"{target}[t] = {got.cpp};")
        if any(size > 255 for _, _, size in self.arrays) and self.chance(50):
            self.walk(mask)
        self.line("threadgroup_barrier(mem_flags::mem_threadgroup);")

    def walk(self, mask):
        """Reads an array by an index of 8 bits that goes round, in a loop of the same count for all threads."""
        array, kind, _ = self.pick([one for one in self.arrays if one[2] > 255])
        name, to = self.pick(self.variables)
        narrow, add = self.pick([("uchar", ""), ("char", "128 + ")])
        number, w = self.number(), wide(to)
        first, step = self.below(256), self.pick([1, 1, 2, 5, 32, 255])
        count = self.pick(["4u", f"P[{self.below(8)}] % 5"])
        read = f"int({array}[{add}i{number}])" if kind == "float" else f"{array}[{add}i{number}]"
        for place, variable, line in (("li", name, self.m), ("g.index[t]", f"{name}[t]", self.c)):
            line.append("  " * self.indent + (f"EACH({mask}) {{" if line is self.c else "{"))
            line.append(f"{narrow} i{number} = {narrow}({place} + {first}u); for (uint k{number} = 0; k{number} < {count}; ++k{number}) {{")
            line.append(f"{variable} = {to}({w}({variable}) * 3 + {w}({read})); i{number} = {narrow}(i{number} + {step}); }} }}")

    def inexact_store(self, mask):
        name = self.pick(self.reals)
        e = self.inexact(3)
        if not self.features["collectives"] or self.in_choice or self.chance(70):
            return self.each(mask, f"{name} = clamp({e.metal}, -64.0f, 64.0f);", f"{name}[t] = clamp({e.cpp}, -64, 64);")
        what, combine = self.pick([("sum", "plus_<Real>"), ("max", "most"), ("min", "least")])
        number = self.number()
        self.line(None, f"{{ Real x{number}[kMost]{{}}, r{number}[kMost]{{}}; EACH({mask}) x{number}[t] = {e.cpp};")
        self.line(None, f"reduce({mask}, n, 32, x{number}, r{number}, {combine});")
        self.each(mask, f"{name} = clamp(simd_{what}({e.metal}), -64.0f, 64.0f);", f"{name}[t] = clamp(r{number}[t], -64, 64);")
        self.line(None, "}")

    # ---- What lanes do together

    def collective(self, mask):
        quad = self.chance(25)
        prefix, width = ("quad", 4) if quad else ("simd", 32)
        number = self.number()
        kinds = ["uint", "int", "ushort", "short", "uchar", "char", "float", "float"]
        kind = self.pick(kinds)
        x, r = f"x{number}", f"r{number}"
        choice = self.below(10)

        def operand(e):
            self.line(None, f"{kind} {x}[kMost]{{}}, {r}[kMost]{{}}; EACH({mask}) {x}[t] = {e.cpp};")

        def result(metal):
            """To a variable; what is left of a float is a whole number again."""
            if kind == "float":
                name = self.pick(self.floats)
                self.each(mask, f"{name} = tame({metal});", f"{name}[t] = tame({r}[t]);")
            else:
                name, to = self.pick(self.variables)
                self.each(mask, f"{name} = {to}({metal});", f"{name}[t] = {to}({r}[t]);")

        self.line(None, "{")
        if choice < 3:
            names = ["sum", "min", "max", "product"] + (["and", "or", "xor"] if kind != "float" else [])
            name = self.pick(names)
            e = self.summand(kind, name)
            operand(e)
            combine = {"sum": "plus_", "product": "times_", "min": "min_", "max": "max_"}.get(name)
            lambda_ = f"{combine}<{kind}>" if combine else f"[]({kind} a, {kind} b) {{ return {kind}(a {dict([('and', '&'), ('or', '|'), ('xor', '^')])[name]} b); }}"
            self.line(None, f"reduce({mask}, n, {width}, {x}, {r}, {lambda_});")
            result(f"{prefix}_{name}({e.metal})")
        elif choice < 5:
            name = self.pick(["sum", "product"])
            inclusive = self.chance(50)
            e = self.summand(kind, name)
            operand(e)
            neutral = f"{kind}(0)" if name == "sum" else f"{kind}(1)"
            self.line(None, f"prefix({mask}, n, {width}, {str(inclusive).lower()}, {neutral}, {x}, {r}, {'plus_' if name == 'sum' else 'times_'}<{kind}>);")
            result(f"{prefix}_prefix_{'inclusive' if inclusive else 'exclusive'}_{name}({e.metal})")
        elif choice < 8:
            self.move(mask, quad, kind, x, r, operand, result)
        else:
            self.vote(mask, quad, number)
        self.line(None, "}")

    def summand(self, kind, name):
        if kind != "float":
            return self.integer(kind, 1)
        e = self.real(1)
        if name == "product":  # a power of two, so that every product is exact
            return self.make_of("float", "({} < 3.0f ? 1.0f : {} == 4.0f ? -1.0f : 2.0f)", e, self.real(1))
        if name == "sum" and self.chance(40):  # most lanes have -0
            return self.make_of("float", "({} < 200.0f ? -0.0f : {})", e, e)
        if name in ("min", "max"):  # of +0 and -0 either is the smaller
            return self.make_of("float", "({} + 0.0f)", e)
        return e

    def move(self, mask, quad, kind, x, r, operand, result):
        width = 4 if quad else 32
        prefix = "quad" if quad else "simd"
        e = self.real(1) if kind == "float" else self.integer(kind, 2)
        operand(e)
        number = self.number()
        place = "lane" if not quad else "(lane & 3)"
        name = self.pick(["shuffle", "shuffle_xor", "shuffle_up", "shuffle_down", "shuffle_rotate_up", "shuffle_rotate_down", "broadcast", "broadcast_first"])
        most = width - 1
        otherwise = self.pick([7, 0, 1])
        cpp_lane = "g.lane[t]" if not quad else "(g.lane[t] & 3)"
        self.line(None, f"uint from{number}[kMost]{{}};")
        same = Expression("uint", f"(P[{self.below(8)}] & {most})")
        if name == "broadcast_first":
            self.line(None, f"EACH({mask}) from{number}[t] = first_of({mask}, n, {width}, t);")
            call, source = f"{prefix}_broadcast_first({e.metal})", None
        else:
            if name == "shuffle":
                amount = self.make_of("uint", f"(uint({{}}) & {most})", self.integer("uint", 1) if self.chance(60) else self.hardware())
                source = amount
            elif name == "broadcast":
                amount = source = same
            else:
                amount = same if self.chance(50) else Expression("uint", f"{self.below(width)}")
                if name == "shuffle_xor":
                    source = Expression("uint", f"({place} ^ {amount.metal})", f"({cpp_lane} ^ {amount.cpp})")
                else:
                    sign = "-" if name.endswith("up") else "+"
                    source = Expression("uint", f"({place} {sign} {amount.metal})", f"({cpp_lane} {sign} {amount.cpp})")
            self.line(None, f"EACH({mask}) from{number}[t] = {source.cpp};")
            call = f"{prefix}_{name}({e.metal}, ushort({amount.metal}))"
        shifted = name in ("shuffle_up", "shuffle_down")
        if source is None:
            self.line(None, f"move({mask}, n, {width}, {x}, from{number}, {kind}({otherwise}), {r});")
            return result(call)
        # A lane that is off, or not there, gives what nobody knows.
        active = f"(ulong({prefix}_vote::vote_t({prefix}_active_threads_mask())) >> (({source.metal}) & {most}) & 1) != 0"
        inside = f" && ({source.metal}) < {width}u" if shifted else ""
        if shifted:
            self.line(None, f"{{ Mask given = {mask}; EACH({mask}) if (from{number}[t] >= {width}u) given.b[t] = false;")
            self.line(None, f"EACH({mask}) {r}[t] = {kind}({otherwise}); ")
            self.line(None, f"{kind} moved[kMost]{{}}; move({mask}, n, {width}, {x}, from{number}, {kind}({otherwise}), moved); EACH(given) {r}[t] = moved[t]; }}")
        else:
            self.line(None, f"move({mask}, n, {width}, {x}, from{number}, {kind}({otherwise}), {r});")
        temporary = f"k{number}"
        self.line(f"const {kind} {temporary} = {call};")
        self.line(f"const bool {temporary}on = {active}{inside};")
        result(f"({temporary}on ? {temporary} : {kind}({otherwise}))")

    def vote(self, mask, quad, number):
        prefix, width = ("quad", 4) if quad else ("simd", 32)
        e = self.condition(1)
        name, kind = self.pick(self.variables)
        what = self.pick(["ballot", "all", "any", "is_first"])
        self.line(None, f"bool b{number}[kMost]{{}}; EACH({mask}) b{number}[t] = {e.cpp};")
        ballot = f"ballot({mask}, n, {width}, b{number}, t)"
        on = f"ballot({mask}, n, {width}, {mask}.b, t)"
        metal = {"ballot": f"{kind}(ulong({prefix}_vote::vote_t({prefix}_ballot({e.metal}))))", "all": f"{kind}({prefix}_all({e.metal}))",
                 "any": f"{kind}({prefix}_any({e.metal}))", "is_first": f"{kind}({prefix}_is_first())"}[what]  # fmt: skip
        cpp = {"ballot": f"{kind}({ballot})", "all": f"{kind}({ballot} == {on})", "any": f"{kind}({ballot} != 0)",
               "is_first": f"{kind}((t % {width}) == int(first_of({mask}, n, {width}, t)))"}[what]  # fmt: skip
        operator = self.pick(["=", "^=", "+="])
        if operator == "+=":
            self.each(mask, f"{name} = {kind}({wide(kind)}({name}) + {wide(kind)}({metal}));", f"{name}[t] = {kind}({wide(kind)}({name}[t]) + {wide(kind)}({cpp}));")
        else:
            self.each(mask, f"{name} {operator} {metal};", f"{name}[t] {operator} {cpp};")

    # ---- The kernel

    def make(self):
        self.declared = []
        self.in_choice = 0
        self.keeps_together = self.features["barriers"] and self.chance(60)
        if self.features["barriers"]:
            for i in range(self.pick([0, 1, 2, 3])):
                kind = self.pick(["uint", "uint", "float", "ushort", "uchar", "short", "ulong", "char"])
                self.arrays.append((f"w{i}", kind, self.pick([5, 33, 67, 128, 129, 131, 177, 256, 257, 300, 300])))
        for name, kind, size in self.arrays:
            self.line(f"threadgroup {kind} {name}[{size}];", f"static {kind} {name}[{size}];")
        for name, kind, size in self.arrays:
            self.line(f"for (uint k = li; k < {size}; k += size.x * size.y) {name}[k] = {kind}(k * 3 & 255);",
                      f"for (uint k = 0; k < {size}; ++k) {name}[k] = {kind}(k * 3 & 255);")  # fmt: skip
        if self.arrays:
            self.line("threadgroup_barrier(mem_flags::mem_threadgroup);")
        if self.features["matrices"]:
            self.line("threadgroup float mt[256];", "static float mt[256]; [[maybe_unused]] const float none_[4][64]{};")
            for name in ("q0", "q1", "q2", "q3"):
                self.line(f"simdgroup_float8x8 {name} = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);", f"float {name}[4][64]{{}};")
        first = self.below(8)
        self.line(f"const uint own = number + P[{first}];")
        self.declare("uint", "own")
        self.line(None, f"EACH(g.all) own[t] = g.number[t] + P[{first}];")
        self.linear.append(Linear("own", "uint", GRID + 15))
        for name, kind in self.variables:
            self.declare(kind, name)
            e = self.pick([Expression("uint", "A[number]", "load<uint>(A, g.number[t])"), self.hardware(), self.constant("uint"), self.parameter()])
            e = self.cast(kind, e)
            self.each("g.all", f"{kind} {name} = {e.metal};", f"{name}[t] = {e.cpp};")
        for name in self.floats:
            self.declare("float", name)
            e = self.pick([Expression("float", "-0.0f"), Expression("float", "0.0f"), Expression("float", "float(A[number] & 63)", "float(load<uint>(A, g.number[t]) & 63)"),
                           Expression("float", "(A[number] & 1 ? -0.0f : 0.0f)", "(load<uint>(A, g.number[t]) & 1 ? -0.0f : 0.0f)")])  # fmt: skip
            self.each("g.all", f"float {name} = {e.metal};", f"{name}[t] = {e.cpp};")
        for name in self.reals:
            self.declare("Real", name)
            self.each("g.all", f"float {name} = float(A[number] & 255) * 0.1f;", f"{name}[t] = Real(double(load<uint>(A, g.number[t]) & 255)) * Real(double(0.1f));")
        self.declare_vectors()
        if self.features["objects"]:
            self.declare_objects()
        for _ in range(1 + self.below(3)):
            self.new_linear("g.all")
        self.line(None, "Mask live = g.all, m0 = g.all;")
        kept = list(self.linear)
        depth = self.pick([2, 2, 3])
        for _ in range(3 + self.below(5)):
            self.statement("m0", depth, True)
            self.linear = kept + [x for x in self.linear if x not in kept]
        for i, (name, kind) in enumerate(self.variables):
            folded = f"uint({name})" if INTEGERS[kind][0] < 64 else f"uint({name}) ^ uint(ulong({name}) >> 32)"
            self.each("m0", f"O[number * 16 + {i}] = {folded};", f"O[g.number[t] * 16 + {i}] = {folded.replace(name, name + '[t]')};")
        self.show_vectors()
        if self.has_objects:
            self.show_objects()
        for i in range(3 if self.structure else 0):  # so that each kernel with a structure shows its layout
            e = self.cast("uint", self.of_structure())
            self.each("m0", f"O[number * 16 + {10 + i}] = {e.metal};", f"O[g.number[t] * 16 + {10 + i}] = {e.cpp};")
        for i, name in enumerate(self.floats):
            # Fast math keeps no sign of a zero.
            bits = ("uint(int({}))", "uint(int({}))") if self.reals else ("as_type<uint>({})", "as<uint>({})")
            self.each("m0", f"O[number * 16 + {8 + i}] = {bits[0].format(name)};", f"O[g.number[t] * 16 + {8 + i}] = {bits[1].format(name + '[t]')};")
        for i, name in enumerate(self.reals):
            self.each("m0", f"O[number * 16 + {13 + i}] = as_type<uint>({name});",
                      f"{{ R[g.number[t] * 4 + {2 * i}] = {name}[t].value; R[g.number[t] * 4 + {2 * i + 1}] = {name}[t].error; }}")  # fmt: skip

    @property
    def metal(self):
        s = f", device const S_{self.name}* S [[buffer(6)]]" if self.structure else ", device const uchar* S [[buffer(6)]]"
        args = ", constant Args& args [[buffer(7)]]" if self.features["argument_buffer"] else ""
        head = (f"kernel void {self.name}(device const uint* A [[buffer(0)]], device uint* O [[buffer(1)]], constant uint* P [[buffer(2)]], "
                f"device uint* B [[buffer(3)]], device uint* C [[buffer(4)]], device atomic_uint* bins [[buffer(5)]]{s}{args}, "
                "uint2 gid [[thread_position_in_grid]], uint2 lid [[thread_position_in_threadgroup]], uint2 size [[threads_per_threadgroup]], "
                "uint2 tg [[threadgroup_position_in_grid]], uint li [[thread_index_in_threadgroup]], uint2 grid [[threads_per_grid]]")  # fmt: skip
        if self.features["textures"]:
            head += f", texture2d<uint, access::read> T0 [[texture(0)]], texture2d<{'int' if self.signed_texels else 'uint'}, access::write> T1 [[texture(1)]]"
        head += ", uint lane [[thread_index_in_simdgroup]], uint sg [[simdgroup_index_in_threadgroup]]" if self.uses("lane") or self.uses("sg") else ""
        body = ["  const uint number = gid.y * grid.x + gid.x;", *self.m]
        return "\n".join([f"// seed {self.seed}", *self.structures_m, head + ") {", *body, "}"])

    def uses(self, word):
        return any(re.search(rf"\b{word}\b", line) for line in self.m)

    @property
    def reference(self):
        s = f"[[maybe_unused]] auto* S = reinterpret_cast<const S_{self.name}*>(launch.S);" if self.structure else ""
        head = [f"// seed {self.seed}", *self.structures_c, f'extern "C" void {self.name}(const Launch& launch) {{',
                "  [[maybe_unused]] auto [gr_, gs_, A, O, P, B, C, bins, S_, F, T, W, texel_bits, R] = launch;", f"  {s}",
                "  each_group(launch, [&](Group& g) {", "  [[maybe_unused]] const int n = g.n;", *("  " + d for d in self.declared)]  # fmt: skip
        return "\n".join([*head, *self.c, "  });", "}"])


METAL_HEAD = """#include <metal_stdlib>
using namespace metal;
static inline float tame(float x) { return fabs(x) <= 4096.0f ? trunc(x) : 1.0f; }
static inline float2 tame(float2 x) { return select(float2(1.0f), trunc(x), fabs(x) <= 4096.0f); }
static inline float3 tame(float3 x) { return select(float3(1.0f), trunc(x), fabs(x) <= 4096.0f); }
static inline float4 tame(float4 x) { return select(float4(1.0f), trunc(x), fabs(x) <= 4096.0f); }
"""
CPP_HEAD = """#include "reference.hpp"
static inline float tame(float x) { return std::fabs(x) <= 4096.0f ? std::trunc(x) : 1.0f; }
"""


def library(seeds, features=None, prefix="k"):
    """The names of the kernels, Metal's text of them all, and the C++ text."""
    features = {**FEATURES, **(features or {})}
    kernels = [Kernel(seed, f"{prefix}{seed}", features) for seed in seeds]
    head = METAL_HEAD
    if features["constants"]:
        head += "".join(f"constant uint F{i} [[function_constant({i})]];\n" for i in range(3))
    if features["argument_buffer"]:
        head += "struct Args { device const uint* a [[id(0)]]; uint n [[id(1)]]; constant uint* p [[id(2)]]; };\n"
    return [k.name for k in kernels], head + "\n".join(k.metal for k in kernels), CPP_HEAD + "\n".join(k.reference for k in kernels)
