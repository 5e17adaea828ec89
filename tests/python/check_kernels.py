# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random kernels for a judge of checks. Each is a row of blocks on variables of their own; a block is free of faults, or
has one that was put into it, so what is to be found is known by construction and shares nothing with the checks.

Variables are declared in a random order before the first block, so that they lie beside each other in any order and with
odd sizes. `in` holds zeros: what depends on it is known here and not to the compiler."""

import dataclasses
import random

GROUPS = 3

# Metal's scalars and their bytes. simd_sum and related functions take those of SUMS.
SUMS = {"float": 4, "half": 2, "uint": 4, "int": 4, "ushort": 2, "short": 2, "uchar": 1, "char": 1}
SCALARS = {**SUMS, "bfloat": 2, "ulong": 8, "long": 8}
INTEGERS = ("uint", "int", "ushort", "short", "uchar", "char")

WAIT = "threadgroup_barrier(mem_flags::mem_threadgroup);"
WAIT_DEVICE = "threadgroup_barrier(mem_flags::mem_device);"
WAIT_SIMD = "simdgroup_barrier(mem_flags::mem_threadgroup);"
NO_WAIT = ("", "threadgroup_barrier(mem_flags::mem_none);", WAIT_DEVICE)


@dataclasses.dataclass(frozen=True)
class Type:
    element: str
    width: int = 1
    packed: bool = False

    @property
    def name(self):
        return ("packed_" if self.packed else "") + self.element + (str(self.width) if self.width > 1 else "")

    @property
    def bytes(self):
        size = SCALARS.get(self.element, 1)
        return size * (4 if self.width == 3 and not self.packed else self.width)

    def value(self, number):
        """A value made of a whole number, which may depend on the thread. Numbers below 61 make different values."""
        if self.element == "bool":
            return f"bool(({number}) & 1)"
        return f"{self.name}({self.element}(({number}) % 61u + 1u))"

    def read(self, text):
        """A whole number that depends on every component."""
        if self.width == 1:
            return f"uint({text})"
        value = text if not self.packed else f"{self.element}{self.width}({text})"
        return " + ".join(f"uint(({value}).{axis})" for axis in "xyzw"[: self.width])


def any_type(choose):
    if choose.random() < 0.05:
        return Type("bool")
    element = choose.choice(tuple(SCALARS))
    width = choose.choice((1, 1, 1, 2, 3, 4))
    packed = width > 1 and element not in ("bfloat",) and choose.random() < 0.25
    return Type(element, width, packed)


@dataclasses.dataclass
class Block:
    """`must` is found, `may` besides, and findings of races and bounds name one of `names`."""

    lines: list
    globals: list = dataclasses.field(default_factory=list)
    buffers: list = dataclasses.field(default_factory=list)  # bytes of each device buffer, which is `dN`
    shared: int | None = None  # bytes of the threadgroup argument
    must: set = dataclasses.field(default_factory=set)
    may: set = dataclasses.field(default_factory=set)
    names: set = dataclasses.field(default_factory=set)


class Maker:
    def __init__(self, seed):
        self.choose = random.Random(seed)
        choose = self.choose
        self.group = choose.choice((32, 64, 64, 96, 50))
        self.simds = -(-self.group // 32)
        self.count = 0
        self.buffers = 0
        self.has_shared = False

    def name(self):
        self.count += 1
        return f"v{self.count}"

    def across(self):
        """An index of another thread of the group, and whether SIMD groups are crossed."""
        last = self.group - 1
        choices = [(f"{last}u - t", self.simds > 1), (f"(t + 1u) % {self.group}u", self.simds > 1)]
        if self.group % 2 == 0:
            choices.append(("t ^ 1u", False))
        return self.choose.choice(choices)

    # ---- blocks: each a function of the fault, which may be None ----

    def tile(self, fault):
        """Every thread writes an element and reads another one's."""
        choose, v, kind = self.choose, self.name(), any_type(self.choose)
        more = choose.randrange(0, 9)
        elements = self.group + more
        made = Block([], [f"threadgroup {kind.name} {v}[{elements}];"])
        is_argument = not self.has_shared and choose.random() < 0.25
        memory = f"threadgroup variable '{v}'"
        if is_argument:
            self.has_shared = True
            made.globals = []
            made.lines.append(f"threadgroup {kind.name}* {v} = (threadgroup {kind.name}*)shared;")
            made.shared = elements * kind.bytes
            memory = "threadgroup argument 0" if fault == "race" else "threadgroup 0 'shared'"
        place, crosses = self.across()
        wait = WAIT
        condition = ""
        if fault == "race":
            if kind.element == "bool":
                return None
            made.lines.append(f"{v}[t] = {kind.value('0u')}; {WAIT}")
            wait = choose.choice(NO_WAIT + ((WAIT_SIMD,) if crosses else ()))
            made.must, made.names = {"race"}, {memory}
        elif fault == "unwritten":
            condition = f"if (t != {choose.randrange(self.group)}u + z) "
            made.must = {"unwritten"}
        elif fault == "bounds":
            where = f"{v}[{elements}u + z + {choose.randrange(5)}u]"
            line = choose.choice((f"acc += {kind.read(where)};", f"if (t == 1u) {where} = {kind.value('t')};"))
            made.lines.append(line)
            made.must, made.names = {"bounds"}, {memory}
        made.lines.append(f"{condition}{v}[t] = {kind.value('t * 7u + z')}; {wait}")
        made.lines.append(f"acc += {kind.read(f'{v}[{place}]')};")
        return made

    def leader(self, fault):
        """One thread writes for all."""
        choose, v, kind = self.choose, self.name(), any_type(self.choose)
        made = Block([], [f"threadgroup {kind.name} {v};"])
        who, wait = f"{choose.randrange(self.group)}u", WAIT
        if fault == "race":
            wait = choose.choice(NO_WAIT)
            made.must, made.may, made.names = {"race"}, {"unwritten"}, {f"threadgroup variable '{v}'"}
        elif fault == "unwritten":
            who = "1000u"
            made.must = {"unwritten"}
        elif fault is not None:
            return None
        made.lines = [f"if (t == {who} + z) {v} = {kind.value('t + z')};", wait, f"acc += {kind.read(v)};"]
        return made

    def partials(self, fault):
        """A sum by SIMD groups, and a mean of it for all threads."""
        choose, part, mean = self.choose, self.name(), self.name()
        kind = choose.choice(tuple(SUMS))
        elements = self.simds + 1 + choose.randrange(7)
        made = Block([], [f"threadgroup {kind} {part}[{elements}];", f"threadgroup {kind} {mean};"])
        first, second, until = WAIT, WAIT, self.simds
        if fault == "race":
            made.must, made.may = {"race"}, {"unwritten"}
            if self.simds > 1 and choose.random() < 0.5:
                first = ""
                made.names = {f"threadgroup variable '{part}'"}
            else:
                second = ""
                made.names = {f"threadgroup variable '{mean}'"}
        elif fault == "unwritten":
            until += 1
            made.must = {"unwritten"}
        elif fault == "bounds":
            until = elements + 1
            made.must, made.may = {"bounds"}, {"unwritten"}
            made.names = {f"threadgroup variable '{part}'"}
        made.lines = [
            f"{{ {kind} s = simd_sum({kind}(t % 3u + z)); if (lane == 0) {part}[w] = s; }} {first}",
            f"if (t == 0) {{ {kind} m = 0; for (uint k = z; k < {until}u; ++k) m += {part}[k]; {mean} = m; }} {second}",
            f"acc += uint({mean});",
        ]
        return made

    def rounds(self, fault):
        """A tile that is used again and again."""
        v, kind = self.name(), any_type(self.choose)
        place, crosses = self.across()
        last = WAIT
        made = Block([], [f"threadgroup {kind.name} {v}[{self.group + self.choose.randrange(5)}];"])
        if fault == "race":
            if kind.element == "bool":
                return None
            last = self.choose.choice(("",) + ((WAIT_SIMD,) if crosses else ()))
            made.must, made.names = {"race"}, {f"threadgroup variable '{v}'"}
        elif fault is not None:
            return None
        made.lines = [
            f"for (uint r = z; r < 3u; ++r) {{ {v}[t] = {kind.value('t * 5u + r')}; {WAIT}"
            f" acc += {kind.read(f'{v}[{place}]')}; {last} }}"
        ]
        return made

    def private(self, fault):
        """An array of the thread's own."""
        choose, v, kind = self.choose, self.name(), any_type(self.choose)
        elements = choose.randrange(3, 12)
        index = f"(t + z) % {elements}u"
        condition = ""
        made = Block([])
        if fault == "unwritten":
            condition = f"if (k != {choose.randrange(elements)}u + z) "
            made.must = {"unwritten"}
        elif fault == "bounds":
            index += f" + (t == 3u + z ? {elements + choose.randrange(3)}u : 0u)"
            made.must, made.names = {"bounds"}, {None}
        elif fault is not None:
            return None
        made.lines = [
            f"{kind.name} {v}[{elements}]; for (uint k = 0; k < {elements}u + z; ++k) {condition}{v}[k] = {kind.value('k + t')};",
            f"acc += {kind.read(f'{v}[{index}]')};",
        ]
        return made

    def shuffle(self, fault):
        """The upper half of each SIMD group hands on what nobody has written."""
        if self.group % 32 or fault not in (None, "unwritten"):
            return None
        choose, v = self.choose, self.name()
        kind = Type(choose.choice(tuple(SUMS)), choose.choice((1, 1, 2, 3, 4)))
        n = choose.randrange(1, 16)
        at = choose.randrange(32)
        text, source = choose.choice((
            (f"simd_shuffle_xor(x, ushort({n + 16}))", lambda lane: lane ^ (n + 16)),
            (f"simd_shuffle_xor(x, ushort({n}))", lambda lane: lane ^ n),
            (f"simd_broadcast(x, ushort({at}))", lambda lane: at),
            ("simd_broadcast_first(x)", lambda lane: 0),
            (f"simd_shuffle(x, ushort((lane + {n}u) & 31u))", lambda lane: (lane + n) % 32),
            (f"simd_shuffle_up(x, ushort({n}))", lambda lane: lane - n if lane >= n else lane),
            (f"simd_shuffle_down(x, ushort({n}))", lambda lane: lane + n if lane + n < 32 else lane),
            (f"simd_shuffle_rotate_up(x, ushort({n}))", lambda lane: (lane - n) % 32),
            (f"simd_shuffle_rotate_down(x, ushort({n}))", lambda lane: (lane + n) % 32),
            ("quad_shuffle_xor(x, ushort(2))", lambda lane: lane ^ 2),
            ("quad_broadcast(x, ushort(3))", lambda lane: lane | 3),
        ))  # fmt: skip
        good = [lane for lane in range(32) if source(lane) < 16]
        bad = [lane for lane in range(32) if source(lane) >= 16]
        made = Block([], [f"threadgroup {kind.name} {v}[{self.group + choose.randrange(5)}];"])
        if fault == "unwritten":
            if not bad:
                return None
            good.append(choose.choice(bad))
            made.must = {"unwritten"}
        mask = sum(1 << lane for lane in good)
        made.lines = [
            f"if (lane < 16u + z) {v}[t] = {kind.value('t')};",
            f"{{ {kind.name} x = {v}[t]; x = {text}; if ((({mask}u + z) >> lane) & 1u) acc += {kind.read('x')}; }}",
        ]
        return made

    def prefix(self, fault):
        """The first lanes alone have values."""
        if self.group % 32 or fault not in (None, "unwritten"):
            return None
        choose, v, kind = self.choose, self.name(), self.choose.choice(tuple(SUMS))
        exclusive = choose.random() < 0.5
        word = choose.choice(("sum", "product"))
        until = choose.randrange(2, 30)
        used = until + (1 if exclusive else 0)
        made = Block([], [f"threadgroup {kind} {v}[{self.group}];"])
        if fault == "unwritten":
            used += 1
            made.must = {"unwritten"}
        made.lines = [
            f"if (lane < {until}u + z) {v}[t] = {kind}(1u + z);",
            f"{{ {kind} x = simd_prefix_{'exclusive' if exclusive else 'inclusive'}_{word}({v}[t]);"
            f" if (lane < {used}u) acc += uint(x); }}",
        ]
        return made

    def reduce(self, fault):
        """A reduction uses the values of all its lanes."""
        if fault not in (None, "unwritten"):
            return None
        choose, v = self.choose, self.name()
        words = ["simd_sum", "simd_product", "simd_min", "simd_max", "quad_sum", "quad_max"]
        element = choose.choice(tuple(SUMS))
        if element in INTEGERS:
            words += ["simd_and", "simd_or", "simd_xor", "quad_xor"]
        kind = Type(element, choose.choice((1, 1, 2, 3, 4)))
        made = Block([], [f"threadgroup {kind.name} {v}[{self.group + choose.randrange(5)}];"])
        condition = choose.choice((f"t < {choose.randrange(1, self.group)}u + z", "(lane & 1u) == z"))
        written = condition
        if fault == "unwritten":
            condition = "t < 1024u"
            made.must = {"unwritten"}
        made.lines = [
            f"if ({written}) {v}[t] = {kind.value('t')};",
            f"if ({condition}) acc += {kind.read(f'{choose.choice(words)}({v}[t])')};",
        ]
        return made

    def device(self, fault):
        """A tile in device memory."""
        choose, kind = self.choose, any_type(self.choose)
        number, v = self.buffers, self.name()
        self.buffers += 1
        all_threads = GROUPS * self.group
        made = Block([f"device {kind.name}* {v} = (device {kind.name}*)d{number};"], buffers=[all_threads * kind.bytes])
        place, _ = self.across()
        place, wait = f"g * {self.group}u + ({place})", WAIT_DEVICE
        memory = f"buffer {number + 2} 'd{number}'"
        if fault == "race":
            if kind.element == "bool":
                return None
            made.must, made.names = {"race"}, {memory}
            if choose.random() < 0.3:
                place = f"(i + {self.group}u) % {all_threads}u"
            else:
                wait = choose.choice(("", WAIT, "threadgroup_barrier(mem_flags::mem_none);"))
        elif fault == "bounds":
            where = f"{v}[{all_threads}u + z + {choose.randrange(4)}u]"
            made.lines.append(
                choose.choice((f"acc += {kind.read(where)};", f"if (i == 1u) {where} = {kind.value('t')};"))
            )
            made.must, made.names = {"bounds"}, {memory}
        elif fault is not None:
            return None
        made.lines += [f"{v}[i] = {kind.value('i * 3u + z')}; {wait}", f"acc += {kind.read(f'{v}[{place}]')};"]
        return made

    def unwritten_to_buffer(self, fault):
        """Whole values are stored, with what their types leave unused."""
        if fault not in (None, "unwritten"):
            return None
        choose, v, kind = self.choose, self.name(), any_type(self.choose)
        number = self.buffers
        self.buffers += 1
        made = Block([], [f"threadgroup {kind.name} {v}[{self.group}];"], [GROUPS * self.group * kind.bytes])
        condition = ""
        if fault == "unwritten":
            condition = f"if (t != {choose.randrange(self.group)}u + z) "
            made.must = {"unwritten"}
        made.lines = [
            f"{condition}{v}[t] = {kind.value('t')};",
            f"((device {kind.name}*)d{number})[i] = {v}[t];",
        ]
        return made

    def convert(self, fault):
        """Conversions between vectors whose fourth place nobody has."""
        if fault is not None:
            return None
        choose = self.choose
        number = self.buffers
        self.buffers += 2
        width = choose.choice((2, 3, 3, 3, 4))
        names = [name for name in SCALARS if name != "bfloat"]
        a, b, c = (Type(choose.choice(names), width) for _ in range(3))
        size = GROUPS * self.group
        read = Type(a.element, width, True)
        text = f"((device const {read.name}*)d{number})[i]"
        return Block(
            [f"((device {c.name}*)d{number + 1})[i] = {c.name}({b.name}({a.name}({text})));"],
            buffers=[size * read.bytes, size * c.bytes],
        )

    def counter(self, fault):
        """Atomics, which somebody must set before."""
        choose, v = self.choose, self.name()
        size = choose.randrange(1, 9)
        made = Block([], [f"threadgroup atomic_uint {v}[{size}];"])
        wait, begin = WAIT, f"if (t < {size}u) atomic_store_explicit(&{v}[t], z, memory_order_relaxed);"
        if fault == "race":
            begin, wait = f"if (t < {size}u) ((threadgroup uint*){v})[t] = z;", choose.choice(NO_WAIT)
            made.must, made.may, made.names = {"race"}, {"unwritten"}, {f"threadgroup variable '{v}'"}
        elif fault == "unwritten":
            begin = begin.replace("t <", "t + 1u <") if size > 1 else begin.replace("t <", "1000u + z <")
            made.must = {"unwritten"}
        elif fault is not None:
            return None
        made.lines = [
            f"{begin} {wait}",
            f"atomic_fetch_{choose.choice(('add', 'max', 'or'))}_explicit(&{v}[(t + z) % {size}u], t, memory_order_relaxed); {WAIT}",
            f"acc += atomic_load_explicit(&{v}[z], memory_order_relaxed) & 1u;",
        ]
        return made

    def bytes_of_word(self, fault):
        """A word that is written byte by byte."""
        if fault not in (None, "unwritten"):
            return None
        choose, v, kind = self.choose, self.name(), Type(self.choose.choice(("uint", "float", "half", "short")))
        until = kind.bytes
        made = Block([], [f"threadgroup {kind.name} {v}[{self.group}];"])
        if fault == "unwritten":
            until -= 1
            made.must = {"unwritten"}
        made.lines = [
            f"{{ threadgroup uchar* p = (threadgroup uchar*)&{v}[t]; for (uint k = z; k < {until}u; ++k) p[k] = 1; }} {WAIT}",
            f"acc += {kind.read(f'{v}[{self.across()[0]}]')};",
        ]
        return made

    def records(self, fault):
        """Structures are copied whole, with what lies between their members."""
        choose, v = self.choose, self.name()
        kind = any_type(choose)
        made = Block([], [f"struct S_{v} {{ uchar a; {kind.name} b; ushort c; }}; threadgroup S_{v} {v}[{self.group}];"])
        place, _ = self.across()
        wait = WAIT
        last = f"s.b = {kind.value('t')};"
        if fault == "race":
            wait = choose.choice(NO_WAIT)
            made.must, made.may, made.names = {"race"}, {"unwritten"}, {f"threadgroup variable '{v}'"}
        elif fault == "unwritten":
            last = f"if (t != {choose.randrange(self.group)}u + z) {v}[t].b = {kind.value('t')};"
            made.must = {"unwritten"}
        elif fault is not None:
            return None
        if fault == "unwritten":
            made.lines = [f"{v}[t].a = uchar(t); {v}[t].c = ushort(t); {last} {wait}"]
        else:
            made.lines = [f"{{ S_{v} s; s.a = uchar(t); s.c = ushort(t); {last} {v}[t] = s; }} {wait}"]
        made.lines.append(f"{{ S_{v} s = {v}[{place}]; acc += uint(s.a) + {kind.read('s.b')} + uint(s.c); }}")
        return made

    def table(self, fault):
        """A constant of the program."""
        if fault not in (None, "bounds"):
            return None
        v, kind, elements = self.name(), self.choose.choice(("uint", "float", "uchar", "short")), self.choose.randrange(2, 9)
        made = Block([])
        index = f"(t + z) % {elements}u"
        if fault == "bounds":
            index = f"{elements}u + z"
            made.must, made.names = {"bounds"}, {None}
        numbers = ", ".join(str(self.choose.randrange(100)) for _ in range(elements))
        made.globals = [f"const {kind} {v}[{elements}] = {{{numbers}}};"]
        made.lines = [f"acc += uint({v}[{index}]);"]
        return made

    BLOCKS = (
        tile, tile, leader, leader, partials, partials, rounds, private, shuffle, shuffle, prefix, reduce, device, unwritten_to_buffer,
        convert, counter, bytes_of_word, records, table,
    )  # fmt: skip

    def block(self, fault):
        for _ in range(200):
            state = self.count, self.buffers, self.has_shared
            made = self.choose.choice(self.BLOCKS)(self, fault)
            if made is not None and self.buffers <= 8:
                return made
            self.count, self.buffers, self.has_shared = state
        raise RuntimeError("no block has this fault")


class Kernel:
    def __init__(self, name, seed):
        maker = Maker(seed)
        choose = maker.choose
        self.name, self.seed, self.group = name, seed, maker.group
        chosen = choose.random()
        faults = 0 if chosen < 0.35 else 1 if chosen < 0.9 else 2
        wanted = [choose.choice(("race", "unwritten", "bounds")) for _ in range(faults)]
        wanted += [None] * choose.randint(1, 4)
        choose.shuffle(wanted)
        blocks = [maker.block(fault) for fault in wanted]
        self.must = set().union(*(block.must for block in blocks))
        self.may = set().union(*(block.may for block in blocks))
        self.names = set().union(*(block.names for block in blocks))
        self.buffers = [size for block in blocks for size in block.buffers]
        self.shared = max((block.shared for block in blocks if block.shared is not None), default=None)
        variables = [line for block in blocks for line in block.globals]
        choose.shuffle(variables)
        body = []
        for block in blocks:
            lines = block.lines
            way = choose.random()
            if way < 0.15:  # all threads go there, and the compiler does not know it
                lines = ["if (g < 99u + z) {", *lines, "}"]
            elif way < 0.25:
                lines = ["for (uint again = 0; again < 1u + z; ++again) {", *lines, "}"]
            body += lines
        parameters = ["device const uint* in [[buffer(0)]]", "device uint* out [[buffer(1)]]"]
        parameters += [f"device uchar* d{number} [[buffer({number + 2})]]" for number in range(len(self.buffers))]
        if self.shared is not None:
            parameters.append("threadgroup uchar* shared [[threadgroup(0)]]")
        parameters += [
            "uint i [[thread_position_in_grid]]", "uint t [[thread_position_in_threadgroup]]",
            "uint g [[threadgroup_position_in_grid]]", "uint lane [[thread_index_in_simdgroup]]",
            "uint w [[simdgroup_index_in_threadgroup]]",
        ]  # fmt: skip
        self.text = "\n".join([
            f"kernel void {name}({', '.join(parameters)}) {{", *variables, "const uint z = in[i]; uint acc = z;", *body,
            "out[i] = acc;", "}",
        ])  # fmt: skip

    def complaint(self, findings):
        """Nothing, or what is wrong with what was found."""
        found = {one["kind"] for one in findings} - {"same-value"}
        if not self.must <= found:
            return f"missed: {sorted(self.must - found)}"
        if not found <= self.must | self.may:
            return f"false: {sorted(found - self.must - self.may)}"
        for one in findings:
            if one["kind"] in ("race", "bounds") and (one["memory"] or None) not in self.names:
                return f"a {one['kind']} names {one['memory']!r}, and not one of {sorted(map(str, self.names))}"
        return None


def kernels(first, count):
    """The source of so many kernels, and what they are."""
    made = [Kernel(f"k{seed}", seed) for seed in range(first, first + count)]
    return "#include <metal_stdlib>\nusing namespace metal;\n" + "\n".join(one.text for one in made), made
