# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random kernels as LLVM IR of the kind that Triton makes for AMD's targets of 32 lanes (docs/formats/triton-amdgcn.md), and
as C++ of the same meaning (triton_ir.hpp). Promises that the IR makes (nuw, nsw, disjoint, exact, nneg, inbounds) hold:
each value carries its largest number.

    library(seeds, warps)   names, the IR, the C++ text

Floats are whole numbers, so that every way to compute them has the same bits; signs of zeros are not looked at.
"""

import random

BITS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64}
CPP = {"i1": "bool", "i8": "uchar", "i16": "ushort", "i32": "uint", "i64": "ulong", "float": "float", "half": "half"}
SIGNED = {"i8": "char", "i16": "short", "i32": "int", "i64": "long"}
TABLE = 1 << 14  # 32-bit words of A that a kernel may read
RESULTS = 12  # words that a thread writes to O, at 16 of its own
SHARED = 4096
WORDS = ("i8", "i16", "i32", "i32", "i32", "i64")


class Value:
    """An SSA value: `name` in the IR, the array of the same name in C++. `most`: of an integer, the largest it can be; of
    a float, of its absolute value."""

    def __init__(self, kind, name, most):
        self.kind, self.name, self.most = kind, name, most

    @property
    def ir(self):
        return f"%{self.name}"

    @property
    def cpp(self):
        return f"{self.name}[t]"

    @property
    def signed(self):
        return f"{SIGNED[self.kind]}({self.cpp})"


class Constant(Value):
    def __init__(self, kind, number):
        bits = BITS[kind]
        super().__init__(kind, None, number & ((1 << bits) - 1))

    @property
    def ir(self):
        bits = BITS[self.kind]
        return str(self.most - (1 << bits) if bits > 1 and self.most >> (bits - 1) else self.most) if bits > 1 else ("true" if self.most else "false")

    @property
    def cpp(self):
        return f"{CPP[self.kind]}({self.most}ul)"


class Kernel:
    def __init__(self, seed, name, warps):
        self.random = random.Random(seed)
        self.name, self.warps, self.threads = name, warps, 32 * warps
        self.count = 0
        self.lines, self.text, self.declared = [], [], []
        self.values = []
        self.block = "entry"
        self.declarations = set()
        self.make()

    # ---- Text

    def chance(self, percent):
        return self.random.randrange(100) < percent

    def pick(self, among):
        return among[self.random.randrange(len(among))]

    def below(self, bound):
        return self.random.randrange(bound)

    def new(self, kind, most=None):
        self.count += 1
        value = Value(kind, f"v{self.count}", (1 << BITS[kind]) - 1 if most is None else most)
        self.declared.append(f"{CPP[kind]} {value.name}[kMost]{{}};")
        return value

    def op(self, kind, ir, cpp, most=None, keep=True):
        value = self.new(kind, most)
        self.lines.append(f"  {value.ir} = {ir}")
        self.text.append(f"  EACH(g.all) {value.name}[t] = {CPP[kind]}({cpp});")
        if keep:
            self.values.append(value)
        return value

    def label(self, name):
        self.lines.append(f"{name}:")
        self.block = name

    def call(self, result, function, *operands):
        """A call of an intrinsic. An operand is a Value, or a string such as "i32 5", which the declaration says to be immediate."""
        types = [f"{o.kind}" if isinstance(o, Value) else o.split()[0] + " immarg" for o in operands]
        self.declarations.add(f"declare {result} @llvm.{function}({', '.join(types)})")
        return f"call {result} @llvm.{function}({', '.join(f'{o.kind} {o.ir}' if isinstance(o, Value) else o for o in operands)})"

    # ---- Values

    def constant(self, kind):
        bits = BITS[kind]
        return Constant(kind, self.pick([0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 33, 63, 100, 127, 128, 255, -1, -2, -8, 1 << (bits - 1), (1 << (bits - 1)) - 1, self.random.getrandbits(bits)]))

    def of(self, kind, constants=20):
        """An operand of this type."""
        if kind in BITS and self.chance(constants):
            return self.constant(kind)
        fitting = [v for v in self.values if v.kind == kind]
        if fitting and self.chance(85):
            return self.pick(fitting[-12:] if self.chance(60) else fitting)
        if kind == "i1":
            return self.compare()
        if kind == "float":
            return self.whole()
        if kind == "half":
            x = self.mask(self.of("i32", 0), 10)
            return self.op("half", f"uitofp i32 {x.ir} to half", x.cpp, x.most)
        return self.converted(kind)

    def converted(self, kind):
        others = [v for v in self.values if v.kind in BITS and v.kind not in ("i1", kind)]
        if not others:
            return self.pick([v for v in self.values if v.kind == kind])
        x = self.pick(others)
        a, b = BITS[x.kind], BITS[kind]
        if b < a:
            flag = " nuw" if x.most >> b == 0 and self.chance(60) else ""
            return self.op(kind, f"trunc{flag} {x.kind} {x.ir} to {kind}", x.cpp, x.most if x.most >> b == 0 else None)
        if self.chance(50):
            flag = " nneg" if x.most >> (a - 1) == 0 and self.chance(60) else ""
            return self.op(kind, f"zext{flag} {x.kind} {x.ir} to {kind}", x.cpp, x.most)
        return self.op(kind, f"sext {x.kind} {x.ir} to {kind}", f"{SIGNED[kind]}({x.signed})", x.most if x.most >> (a - 1) == 0 else None)

    def mask(self, x, bits):
        if x.most >> bits == 0:
            return x
        m = Constant(x.kind, (1 << bits) - 1)
        return self.op(x.kind, f"and {x.kind} {x.ir}, {m.ir}", f"{x.cpp} & {m.cpp}", m.most)

    def whole(self):
        x = self.mask(self.of("i32", 0), self.pick([4, 8, 10]))
        if self.chance(50):
            return self.op("float", f"uitofp i32 {x.ir} to float", x.cpp, x.most)
        y = self.op("i32", f"sub nsw i32 {x.ir}, 9", f"{x.cpp} - 9u", keep=False)
        return self.op("float", f"sitofp i32 {y.ir} to float", f"int({y.cpp})", x.most + 9)

    def integer_of(self, x):
        """A whole float as an integer."""
        if x.kind == "half":
            x = self.op("float", f"fpext half {x.ir} to float", x.cpp, x.most, keep=False)
        return self.op("i32", f"fptosi float {x.ir} to i32", f"uint(int({x.cpp}))")

    def compare(self):
        if self.chance(15):
            a, b = self.of("float"), self.of("float")
            predicate, operator = self.pick([("olt", "<"), ("oeq", "=="), ("une", "!="), ("oge", ">="), ("ogt", ">"), ("ole", "<=")])
            return self.op("i1", f"fcmp {predicate} float {a.ir}, {b.ir}", f"{a.cpp} {operator} {b.cpp}")
        kind = self.pick(WORDS)
        a, b = self.of(kind, 0), self.of(kind, 60)
        predicate, operator = self.pick([("slt", "<"), ("ult", "<"), ("sge", ">="), ("uge", ">="), ("eq", "=="), ("ne", "!="), ("sgt", ">"), ("ule", "<=")])
        x, y = (a.signed, b.signed) if predicate[0] == "s" else (a.cpp, b.cpp)
        top = BITS[kind] - 1
        same = "samesign " if a.most >> top == 0 and b.most >> top == 0 and predicate not in ("eq", "ne") and self.chance(40) else ""
        return self.op("i1", f"icmp {same}{predicate} {kind} {a.ir}, {b.ir}", f"{x} {operator} {y}")

    # ---- Operations of one lane

    def arithmetic(self):
        kind = self.pick(WORDS)
        bits, c = BITS[kind], CPP[kind]
        a, b = self.of(kind, 5), self.of(kind, 40)
        limit, half = 1 << bits, 1 << (bits - 1)
        choice = self.below(16)
        if choice < 4:
            name, operator = self.pick([("add", "+"), ("sub", "-"), ("mul", "*")])
            if self.chance(40):
                a, b = self.mask(a, bits // 2 - 1), self.mask(b, bits // 2 - 1)
            most = {"add": a.most + b.most, "mul": a.most * b.most, "sub": limit}[name]
            flags = (" nuw" if most < limit and self.chance(60) else "") + (" nsw" if (most < half or name == "sub" and max(a.most, b.most) < half) and self.chance(60) else "")
            self.op(kind, f"{name}{flags} {kind} {a.ir}, {b.ir}", f"Wide<{c}>({a.cpp}) {operator} Wide<{c}>({b.cpp})", most if most < limit else None)
        elif choice < 6:
            name, operator = self.pick([("and", "&"), ("or", "|"), ("xor", "^")])
            most = min(a.most, b.most) if name == "and" else (1 << max(a.most, b.most).bit_length()) - 1
            self.op(kind, f"{name} {kind} {a.ir}, {b.ir}", f"{a.cpp} {operator} {b.cpp}", most)
        elif choice < 8:  # an index whose low bits are free, and a number for them
            k = 1 + self.below(min(bits - 2, 6))
            low = self.mask(b, k)
            clear = Constant(kind, limit - (1 << k))
            high = self.op(kind, f"and {kind} {a.ir}, {clear.ir}", f"{a.cpp} & {clear.cpp}", a.most, keep=False)
            self.op(kind, f"or disjoint {kind} {high.ir}, {low.ir}", f"{high.cpp} | {low.cpp}", (1 << max(a.most, (1 << k) - 1).bit_length()) - 1)
            if self.chance(40):
                by = Constant(kind, self.below(k + 1))
                self.op(kind, f"lshr exact {kind} {high.ir}, {by.ir}", f"{high.cpp} >> {by.cpp}", high.most >> by.most)
        elif choice < 10:
            if self.chance(60):
                by = Constant(kind, self.below(bits))
                most = a.most << by.most
                flags = (" nuw" if most < limit and self.chance(60) else "") + (" nsw" if most < half and self.chance(60) else "")
            else:
                by, flags, most = self.mask(self.of(kind, 0), bits.bit_length() - 1), "", limit
            name = self.pick(["shl", "shl", "lshr", "ashr"])
            cpp = {"shl": f"{a.cpp} << {by.cpp}", "lshr": f"{a.cpp} >> {by.cpp}", "ashr": f"{a.signed} >> {by.cpp}"}[name]
            self.op(kind, f"{name}{flags if name == 'shl' else ''} {kind} {a.ir}, {by.ir}", cpp, (most if most < limit else None) if name == "shl" else a.most if name == "lshr" else None)
        elif choice < 12:
            divisor = Constant(kind, self.pick([2, 3, 5, 7, 8, 10, 16, 60, 100]))
            name = self.pick(["udiv", "urem", "sdiv", "srem"])
            x, y = (a.cpp, divisor.cpp) if name[0] == "u" else (a.signed, divisor.signed)
            most = {"udiv": a.most // divisor.most, "urem": min(a.most, divisor.most - 1)}.get(name)
            self.op(kind, f"{name} {kind} {a.ir}, {divisor.ir}", f"{x} {'/' if 'div' in name else '%'} {y}", most)
        elif choice < 13:
            condition = self.of("i1", 0)
            self.op(kind, f"select i1 {condition.ir}, {kind} {a.ir}, {kind} {b.ir}", f"{condition.cpp} ? {a.cpp} : {b.cpp}", max(a.most, b.most))
        else:
            self.function(kind, a, b)

    def function(self, kind, a, b):
        c = CPP[kind]
        x, y = a.signed, b.signed
        two = {"umax": (f"max_({a.cpp}, {b.cpp})", max(a.most, b.most)), "umin": (f"min_({a.cpp}, {b.cpp})", min(a.most, b.most)),
               "smax": (f"max_({x}, {y})", None), "smin": (f"min_({x}, {y})", None),
               "uadd.sat": (f"addsat_({a.cpp}, {b.cpp})", None), "usub.sat": (f"subsat_({a.cpp}, {b.cpp})", a.most),
               "sadd.sat": (f"addsat_({x}, {y})", None), "ssub.sat": (f"subsat_({x}, {y})", None)}  # fmt: skip
        one = {"ctpop": f"popcount_({a.cpp})", "bitreverse": f"reverse_bits_({a.cpp})"}
        choice = self.below(12)
        if choice < 8:
            name = self.pick(sorted(two))
            cpp, most = two[name]
            self.op(kind, self.call(kind, f"{name}.{kind}", a, b), cpp, most)
        elif choice < 9:
            name = self.pick(sorted(one))
            self.op(kind, self.call(kind, f"{name}.{kind}", a), one[name])
        elif choice < 10:
            name, cpp = self.pick([("ctlz", "clz_"), ("cttz", "ctz_"), ("abs", "abs_")])
            self.op(kind, self.call(kind, f"{name}.{kind}", a, "i1 false"), f"{cpp}({x if name == 'abs' else a.cpp})")
        elif choice < 11 and kind != "i8":
            self.op(kind, self.call(kind, f"bswap.{kind}", a), f"bswap_({a.cpp})")
        else:
            name = self.pick(["fshl", "fshr"])
            by = self.of(kind, 50)
            self.op(kind, self.call(kind, f"{name}.{kind}", a, b, by), f"{name}_<{c}>({a.cpp}, {b.cpp}, {by.cpp})")

    def packed(self):
        a, b, c = self.of("i32"), self.of("i32"), self.of("i32")
        choice = self.below(6)
        clamp = self.pick(["true", "false"])
        if choice < 1:
            self.op("i32", self.call("i32", "amdgcn.perm", a, b, c), f"perm({a.cpp}, {b.cpp}, {c.cpp})")
        elif choice < 3:
            sign, bits, width = self.pick([("s", 8, 4), ("u", 8, 4), ("s", 4, 8), ("u", 4, 8)])
            flag = str(sign == "s").lower()
            self.op("i32", self.call("i32", f"amdgcn.{sign}dot{width}", a, b, c, f"i1 {clamp}"), f"dot({a.cpp}, {b.cpp}, {c.cpp}, {bits}, {flag}, {flag}, {clamp})")
        elif choice < 4:
            first, second = self.pick(["true", "false"]), self.pick(["true", "false"])
            if (first, second) == ("false", "false"):
                clamp = "false"  # the result is signed, which `dot` takes it for only if a factor is
            self.op("i32", self.call("i32", "amdgcn.sudot4", f"i1 {first}", a, f"i1 {second}", b, c, f"i1 {clamp}"),
                    f"dot({a.cpp}, {b.cpp}, {c.cpp}, 8, {first}, {second}, {clamp})")  # fmt: skip
        elif choice < 5:
            name, text = self.pick([("mul.u24", f"({a.cpp} & 0xffffffu) * ({b.cpp} & 0xffffffu)"),
                                    ("mul.i24", f"uint(int({a.cpp} << 8) >> 8) * uint(int({b.cpp} << 8) >> 8)"),
                                    ])
            self.op("i32", self.call("i32", f"amdgcn.{name}", a, b), text)
        else:
            self.op("i32", self.call("i32", "amdgcn.alignbyte", a, b, c), f"uint((ulong({a.cpp}) << 32 | {b.cpp}) >> 8 * ({c.cpp} & 3))")

    def real(self):
        kind = "half" if self.chance(20) else "float"
        bound = 2048 if kind == "half" else 1 << 22
        a, b = self.of(kind), self.of(kind)
        choice = self.below(10)
        if choice < 4:
            name, operator = self.pick([("fadd", "+"), ("fsub", "-"), ("fmul", "*")])
            most = a.most * b.most if name == "fmul" else a.most + b.most
            if most <= bound:
                self.op(kind, f"{name} {kind} {a.ir}, {b.ir}", f"{a.cpp} {operator} {b.cpp}", most)
        elif choice < 5:
            name, cpp = self.pick([("maxnum", "max_"), ("minnum", "min_")])
            suffix = "f16" if kind == "half" else "f32"
            self.op(kind, self.call(kind, f"{name}.{suffix}", a, b), f"{cpp}({a.cpp}, {b.cpp})", max(a.most, b.most))
        elif choice < 6:
            self.op(kind, f"fneg {kind} {a.ir}", f"-{a.cpp}", a.most)
        elif choice < 7 and kind == "float":
            c = self.of("float")
            if a.most * b.most + c.most <= bound:
                self.op("float", self.call("float", self.pick(["fma.f32", "fmuladd.f32"]), a, b, c), f"{a.cpp} * {b.cpp} + {c.cpp}", a.most * b.most + c.most)
        elif choice < 8:
            condition = self.of("i1", 0)
            self.op(kind, f"select i1 {condition.ir}, {kind} {a.ir}, {kind} {b.ir}", f"{condition.cpp} ? {a.cpp} : {b.cpp}", max(a.most, b.most))
        elif choice < 9 and kind == "float" and a.most <= 2048:
            self.op("half", f"fptrunc float {a.ir} to half", a.cpp, a.most)
        else:
            self.integer_of(a)

    # ---- What lanes exchange. All lanes of a wave are on.

    def exchange(self):
        kind = self.pick(["i32", "i32", "float"])
        x = self.of(kind, 0)
        wide = kind == "float" and self.chance(50)  # overloaded on float, too
        if kind == "float" and not wide:
            most, x = x.most, self.op("i32", f"bitcast float {x.ir} to i32", f"as<uint>({x.cpp})", keep=False)
        t = x.kind
        suffix = {"i32": "i32", "float": "f32"}[t]
        choice = self.below(9)
        r = self.new(t, x.most if t == "float" else (1 << 32) - 1)

        def done(ir, cpp):
            self.lines.append(f"  {r.ir} = {ir}")
            self.text.append(f"  {cpp}")

        if choice < 1 and t == "i32":
            imm = self.pick([0x041F, 0x081F, 0x101F, 0x201F, 0x401F, 0x8000 | self.below(256), self.below(0x8000)])
            done(self.call("i32", "amdgcn.ds.swizzle", x, f"i32 {imm}"), f"lanes(n, {x.name}, {r.name}, [&](int, int l) {{ return swizzled(l, {imm}); }});")
        elif choice < 3 and t == "i32":
            index = self.of("i32", 10)
            if self.chance(50):
                index = self.op("i32", f"shl i32 {index.ir}, 2", f"{index.cpp} << 2", keep=False)
            done(self.call("i32", "amdgcn.ds.bpermute", index, x), f"lanes(n, {x.name}, {r.name}, [&](int t, int) {{ return int({index.cpp} >> 2 & 31); }});")
        elif choice < 5:
            old = x if self.chance(50) or kind != t else self.of(t, 0)
            control = self.pick([self.below(256), 0xB1, 0x4E, 0x101 + self.below(15), 0x111 + self.below(15), 0x111, 0x112, 0x114, 0x118, 0x121 + self.below(15), 0x140, 0x141, 0x150 + self.below(16), 0x160 + self.below(16)])
            rows, banks = self.pick([15, 15, 1, 2, 3, self.below(16)]), self.pick([15, 15, 5, 10, 12, self.below(16)])
            bound = self.pick(["true", "false"])
            if t == "float":
                r.most = max(x.most, old.most)
            done(self.call(t, f"amdgcn.update.dpp.{suffix}", old, x, f"i32 {control}", f"i32 {rows}", f"i32 {banks}", f"i1 {bound}"),
                 f"dpp(n, {old.name}, {x.name}, {r.name}, {control}, {rows}, {banks}, {bound});")  # fmt: skip
        elif choice < 7:
            name = self.pick(["permlanex16", "permlanex16", "permlane16"])
            low, high = self.pick([(0x76543210, 0xFEDCBA98), (0xFFFFFFFF, 0xFFFFFFFF), (self.random.getrandbits(32), self.random.getrandbits(32))])
            flags = [f"i1 {self.pick(['true', 'false'])}" for _ in "ab"]
            done(self.call(t, f"amdgcn.{name}.{suffix}", x, x, Constant("i32", low), Constant("i32", high), *flags),
                 f"lanes(n, {x.name}, {r.name}, [&](int, int l) {{ return permuted(l, {low}u, {high}u, {str(name == 'permlanex16').lower()}); }});")  # fmt: skip
        elif choice < 8:
            lane = self.below(32)
            done(self.call(t, f"amdgcn.readlane.{suffix}", x, Constant("i32", lane)), f"lanes(n, {x.name}, {r.name}, [&](int, int) {{ return {lane}; }});")
        else:
            done(self.call(t, f"amdgcn.readfirstlane.{suffix}", x), f"lanes(n, {x.name}, {r.name}, [&](int, int) {{ return 0; }});")
        if kind == "float" and not wide:
            self.op("float", f"bitcast i32 {r.ir} to float", f"as<float>({r.cpp})", most)
        else:
            self.values.append(r)

    def ballot(self):
        x = self.of("i1", 0)
        self.op("i32", self.call("i32", "amdgcn.ballot.i32", x), f"uint(ballot(g.all, n, 32, {x.name}, t))")

    def shared(self):
        """Each thread writes elements of its own to threadgroup memory, and reads others'."""
        kind = self.pick(["i8", "i16", "i32", "i32", "i64", "float"])
        size = BITS.get(kind, 32) // 8
        per = self.pick([1, 1, 2, 4]) if kind in ("i32", "float") else 1
        most = 0
        values = [self.of(kind, 0) for _ in range(per)]
        most = max(v.most for v in values)
        form = self.below(3)
        place, cpp = "%tid", "g.index[t]"
        if form == 1:
            place, cpp = self.at(f"xor i32 %tid, {(x := self.below(self.threads))}"), f"(g.index[t] ^ {x}u)"
        elif form == 2:
            place, cpp = self.at(f"sub nuw nsw i32 {self.threads - 1}, %tid"), f"({self.threads - 1}u - g.index[t])"
        self.text.append(f"  static {CPP[kind]} shared{self.count}[{self.threads * per}];")
        array = f"shared{self.count}"
        byte = self.at(f"mul nuw nsw i32 {place}, {size * per}")
        pointer = self.at(f"getelementptr inbounds i8, ptr addrspace(3) @global_smem, i32 {byte}")
        stored = f"{kind} {values[0].ir}" if per == 1 else f"<{per} x {kind}> {self.vector(kind, values)}"
        self.barrier()
        self.lines.append(f"  store {stored}, ptr addrspace(3) {pointer}, align {size}")
        self.text += [f"  EACH(g.all) {array}[{cpp} * {per} + {i}] = {v.cpp};" for i, v in enumerate(values)]
        self.barrier()
        for _ in range(1 + self.below(2)):
            wide = per > 1 and self.chance(50)
            index = self.mask(self.of("i32", 5), (self.threads * (1 if wide else per)).bit_length() - 1)
            byte = self.at(f"mul nuw nsw i32 {index.ir}, {size * (per if wide else 1)}")
            pointer = self.at(f"getelementptr inbounds i8, ptr addrspace(3) @global_smem, i32 {byte}")
            if wide:
                loaded = self.at(f"load <{per} x {kind}>, ptr addrspace(3) {pointer}, align {size}")
                for i in range(per):
                    self.op(kind, f"extractelement <{per} x {kind}> {loaded}, i64 {i}", f"{array}[{index.cpp} * {per} + {i}]", most)
            else:
                self.op(kind, f"load {kind}, ptr addrspace(3) {pointer}, align {size}", f"{array}[{index.cpp}]", most)
        self.barrier()

    def at(self, ir):
        """A value that C++ has no name for."""
        self.count += 1
        self.lines.append(f"  %w{self.count} = {ir}")
        return f"%w{self.count}"

    def vector(self, kind, values):
        made = "poison"
        for i, v in enumerate(values):
            made = self.at(f"insertelement <{len(values)} x {kind}> {made}, {kind} {v.ir}, i64 {i}")
        return made

    def barrier(self):
        self.declarations.add("declare void @llvm.amdgcn.s.barrier()")
        self.lines += ['  fence syncscope("workgroup") release', "  call void @llvm.amdgcn.s.barrier()", '  fence syncscope("workgroup") acquire']

    # ---- Device memory

    def buffer_load(self):
        kind = self.pick(["i8", "i16", "i32", "i32", "i32"])
        width = self.pick([1, 1, 2, 4]) if kind == "i32" else 1
        size = BITS[kind] // 8
        records = self.pick([2147483646, 2147483646, 1000, 4096 + self.below(9)])
        self.declarations.add("declare ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) readnone, i16, i64, i32)")
        resource = self.at(f"call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) %A, i16 0, i64 {records}, i32 822243328)")
        index = self.index(TABLE * 4 // size // width)
        by = (size * width).bit_length() - 1
        offset = self.op("i32", f"shl nuw nsw i32 {index.ir}, {by}", f"{index.cpp} << {by}", index.most << by, keep=False) if by else index
        if self.chance(70):
            on = self.of("i1", 0)
            offset = self.op("i32", f"select i1 {on.ir}, i32 {offset.ir}, i32 -2147483648", f"{on.cpp} ? {offset.cpp} : 0x80000000u", keep=False)
        if width == 1:
            self.op(kind, self.call_buffer(kind, resource, offset.ir), f"buffer_load<{CPP[kind]}>(A, {offset.cpp}, {records}ul)")
            return
        loaded = self.at(self.call_buffer(f"<{width} x {kind}>", resource, offset.ir, f"v{width}{kind}"))
        self.text.append(f"  struct {loaded[1:]} {{ uint at[{width}]; }};")
        for i in range(width):
            self.op(kind, f"extractelement <{width} x {kind}> {loaded}, i64 {i}", f"buffer_load<{loaded[1:]}>(A, {offset.cpp}, {records}ul).at[{i}]")

    def call_buffer(self, kind, resource, offset, suffix=None):
        suffix = suffix or kind
        self.declarations.add(f"declare {kind} @llvm.amdgcn.raw.ptr.buffer.load.{suffix}(ptr addrspace(8) readonly captures(none), i32, i32, i32 immarg)")
        return f"call {kind} @llvm.amdgcn.raw.ptr.buffer.load.{suffix}(ptr addrspace(8) {resource}, i32 {offset}, i32 0, i32 0)"

    def index(self, bound):
        """Of an element, mostly of lanes in a row."""
        fitting = [v for v in self.values if v.kind == "i32" and v.most < bound]
        if fitting and self.chance(75):
            return self.pick(fitting)
        return self.mask(self.of("i32", 5), bound.bit_length() - 1)

    def masked_load(self):
        """Under a branch, as Triton does for pointers that are no buffers."""
        kind = self.pick(["i8", "i16", "i32", "i32", "i64", "float"])
        size = BITS.get(kind, 32) // 8
        index = self.index(TABLE * 4 // size)
        on, otherwise = self.of("i1", 0), self.of(kind)
        wide = self.op("i64", f"zext nneg i32 {index.ir} to i64", index.cpp, index.most, keep=False)
        pointer = self.at(f"getelementptr inbounds {'i32' if kind == 'float' else kind}, ptr addrspace(1) %A, i64 {wide.ir}")
        self.count += 1
        then, join, before = f"then{self.count}", f"join{self.count}", self.block
        self.lines.append(f"  br i1 {on.ir}, label %{then}, label %{join}")
        self.label(then)
        if kind == "float":
            word = self.at(f"load i32, ptr addrspace(1) {pointer}, align 4")
            small = self.at(f"and i32 {word}, 255")
            loaded, cpp, most = self.at(f"uitofp i32 {small} to float"), f"float(load<uint>(A, {index.cpp}) & 255)", 255
        else:
            loaded, cpp, most = self.at(f"load {kind}, ptr addrspace(1) {pointer}, align {size}"), f"load<{CPP[kind]}>(A, {index.cpp})", (1 << BITS[kind]) - 1
            if self.chance(50):
                loaded, cpp = self.at(f"xor {kind} {loaded}, 5"), f"{CPP[kind]}({cpp} ^ 5)"
        self.lines.append(f"  br label %{join}")
        self.label(join)
        self.op(kind, f"phi {kind} [ {loaded}, %{then} ], [ {otherwise.ir}, %{before} ]", f"{on.cpp} ? {cpp} : {otherwise.cpp}", max(most, otherwise.most))

    def atomic(self):
        name, bank, cpp = self.pick([("add", 0, "b + e"), ("umax", 1, "max_(b, e)"), ("umin", 2, "min_(b, e)"), ("xor", 3, "b ^ e"), ("or", 4, "b | e"), ("and", 5, "b & e")])
        index, e = self.mask(self.of("i32", 5), 4), self.of("i32")
        wide = self.op("i64", f"zext nneg i32 {index.ir} to i64", index.cpp, index.most, keep=False)
        bins = self.at(f"getelementptr inbounds i8, ptr addrspace(1) %bins, i64 {64 * bank}")
        pointer = self.at(f"getelementptr inbounds i32, ptr addrspace(1) {bins}, i64 {wide.ir}")
        on = self.of("i1", 30)
        self.count += 1
        then, join = f"then{self.count}", f"join{self.count}"
        self.lines.append(f"  br i1 {on.ir}, label %{then}, label %{join}")
        self.label(then)
        self.lines.append(f"  %a{self.count} = atomicrmw {name} ptr addrspace(1) {pointer}, i32 {e.ir} syncscope(\"agent\") monotonic, align 4")
        self.lines.append(f"  br label %{join}")
        self.label(join)
        self.text.append(f"  EACH(g.all) if ({on.cpp}) {{ const uint e = {e.cpp}; uint& b = bins[{16 * bank} + {index.cpp}]; b = {cpp}; }}")

    # ---- Flow

    def loop(self, depth):
        """Of the same count for all threads, with values that it carries round."""
        carried = [self.of(self.pick(["i32", "i32", "float", "i16", "i64"]), 20) for _ in range(1 + self.below(3))]
        self.count += 1
        number, before = self.count, self.block
        head, body, end = f"head{number}", f"body{number}", f"end{number}"
        limit = f"%n{self.below(4)}"
        bound = self.at(f"and i32 {limit}, 3")
        phis = [self.new(c.kind, None if c.kind in BITS else 1 << 12) for c in carried]
        first = [self.bounded(c) for c in carried]
        before = self.block
        self.lines.append(f"  br label %{head}")
        self.text += [f"  EACH(g.all) {p.name}[t] = {f.cpp};" for p, f in zip(phis, first)]
        counter = self.new("i32", 3)
        self.label(head)
        place = len(self.lines)
        more = self.at(f"icmp slt i32 {counter.ir}, {bound}")
        self.lines.append(f"  br i1 {more}, label %{body}, label %{end}")
        self.label(body)
        self.text.append(f"  for (uint i{number} = 0; i{number} < (P[{limit[2:]}] & 3); ++i{number}) {{ EACH(g.all) {counter.name}[t] = i{number};")
        kept = len(self.values)
        self.values += [*phis, counter]
        for _ in range(2 + self.below(5)):
            self.statement(depth - 1)
        nexts = [self.bounded(self.of(p.kind, 0)) for p in phis]
        increased = self.at(f"add nuw nsw i32 {counter.ir}, 1")
        latch = self.block
        self.lines.append(f"  br label %{head}")
        del self.values[kept:]
        self.lines[place:place] = [f"  {p.ir} = phi {p.kind} [ {f.ir}, %{before} ], [ {x.ir}, %{latch} ]" for p, f, x in zip(phis, first, nexts)] + \
            [f"  {counter.ir} = phi i32 [ 0, %{before} ], [ {increased}, %{latch} ]"]  # fmt: skip
        moved = "; ".join(f"const auto next{i} = {x.cpp}" for i, x in enumerate(nexts)) + "; " + " ".join(f"{p.name}[t] = next{i};" for i, p in enumerate(phis))
        self.text.append(f"  EACH(g.all) {{ {moved} }} }}")
        self.label(end)
        self.values += phis

    def bounded(self, value):
        """A float that a loop may carry."""
        if value.kind != "float" or value.most <= 1 << 12:
            return value
        x = self.mask(self.integer_of(value), 12)
        return self.op("float", f"uitofp i32 {x.ir} to float", x.cpp, x.most)

    def statement(self, depth):
        choice = self.below(100)
        if depth > 0 and choice < 8:
            self.loop(depth)
        elif choice < 24:
            self.exchange()
        elif choice < 27:
            self.ballot()
        elif choice < 35:
            self.shared()
        elif choice < 46:
            self.buffer_load()
        elif choice < 54:
            self.masked_load()
        elif choice < 57:
            self.atomic()
        elif choice < 62:
            self.packed()
        elif choice < 75:
            self.real()
        else:
            self.arithmetic()

    def make(self):
        most = self.threads - 1
        tid = self.op("i32", f"and i32 %tid, {most}", "g.index[t]", most)
        pid = self.op("i32", "add nuw nsw i32 %pid, 0", "g.position[0]", 63)
        base = self.op("i32", f"shl nuw nsw i32 {pid.ir}, {self.threads.bit_length() - 1}", f"{pid.cpp} * {self.threads}u", 63 * self.threads, keep=False)
        own = self.op("i32", f"or disjoint i32 {base.ir}, {tid.ir}", f"{base.cpp} + {tid.cpp}", 64 * self.threads - 1)
        self.op("i32", f"and i32 {tid.ir}, 31", f"{tid.cpp} & 31", 31)
        self.op("i32", f"lshr i32 {tid.ir}, 5", f"{tid.cpp} >> 5", self.warps - 1)
        for i in range(4):
            self.op("i32", f"add i32 %n{i}, 0", f"P[{i}]", (1 << 32) - 1)
        by = self.below(40)
        self.op("i32", f"add nuw nsw i32 {own.ir}, {by}", f"{own.cpp} + {by}u", 64 * self.threads + by)
        for _ in range(3):
            self.buffer_load()
        for _ in range(14 + self.below(30)):
            self.statement(2)
        place = self.op("i64", f"zext nneg i32 {own.ir} to i64", own.cpp, own.most, keep=False)
        row = self.at(f"shl nuw nsw i64 {place.ir}, 6")
        out = self.at(f"getelementptr inbounds i8, ptr addrspace(1) %O, i64 {row}")
        shown = self.values[-RESULTS:]
        for i, v in enumerate(shown):
            if v.kind in ("float", "half"):
                v = self.integer_of(v)
            if v.kind in ("i1", "i8", "i16"):
                v = self.op("i32", f"zext {v.kind} {v.ir} to i32", v.cpp)
            if v.kind == "i64":
                high = self.op("i64", f"lshr i64 {v.ir}, 32", f"{v.cpp} >> 32", (1 << 32) - 1)
                both = self.op("i64", f"xor i64 {v.ir}, {high.ir}", f"{v.cpp} ^ {high.cpp}")
                v = self.op("i32", f"trunc i64 {both.ir} to i32", both.cpp)
            pointer = self.at(f"getelementptr inbounds i8, ptr addrspace(1) {out}, i64 {4 * i}")
            self.lines.append(f"  store i32 {v.ir}, ptr addrspace(1) {pointer}, align 4")
            self.text.append(f"  EACH(g.all) O[{own.cpp} * 16 + {i}] = {v.cpp};")

    @property
    def ir(self):
        head = [f"define amdgpu_kernel void @{self.name}(ptr addrspace(1) inreg readonly captures(none) %A, ptr addrspace(1) inreg %O, ptr addrspace(1) inreg %bins, "
                "i32 inreg %n0, i32 inreg %n1, i32 inreg %n2, i32 inreg %n3, ptr addrspace(1) inreg readnone captures(none) %x, ptr addrspace(1) inreg readnone captures(none) %y) "
                f'"amdgpu-flat-work-group-size"="1,{self.threads}" {{',
                "entry:", "  %tid = call i32 @llvm.amdgcn.workitem.id.x()", "  %pid = call i32 @llvm.amdgcn.workgroup.id.x()"]  # fmt: skip
        return "\n".join([*head, *self.lines, "  ret void", "}"])

    @property
    def reference(self):
        head = [f'extern "C" void {self.name}(const Launch& launch) {{', "  [[maybe_unused]] auto* const A = launch.A; auto* const O = launch.O; auto* const P = launch.P; [[maybe_unused]] auto* const bins = launch.bins;",
                "  each_group(launch, [&](Group& g) {", "  [[maybe_unused]] const int n = g.n;", *("  " + d for d in self.declared)]  # fmt: skip
        return "\n".join([*head, *self.text, "  });", "}"])


HEAD = """target datalayout = "e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128:128:48-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"
@global_smem = external local_unnamed_addr addrspace(3) global [0 x i8], align 16
declare noundef range(i32 0, 1024) i32 @llvm.amdgcn.workitem.id.x()
declare noundef i32 @llvm.amdgcn.workgroup.id.x()
"""


def metadata(warps):
    return {"shared": SHARED, "num_warps": warps, "warp_size": 32, "target": "GPUTarget(backend='hip', arch='gfx1100', warp_size=32)"}


def library(seeds, warps, prefix="k"):
    kernels = [Kernel(seed, f"{prefix}{seed}", warps) for seed in seeds]
    declarations = sorted(set().union(*(k.declarations for k in kernels)))
    return [k.name for k in kernels], HEAD + "\n".join([*declarations, *(k.ir for k in kernels)]) + "\n", '#include "triton_ir.hpp"\n' + "\n".join(k.reference for k in kernels)
