# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random small kernels, and which of their lines race by the definition: every access of every thread is written down,
and each is compared with each. This shares nothing with the checks themselves.

All kernels run with 192 threads in groups of 64, so three groups of two SIMD groups."""

import dataclasses
import itertools
import random

HEAD = "#include <metal_stdlib>\nusing namespace metal;\n"
GROUPS, GROUP, SIMD = 3, 64, 32

# Of words; Metal and Python read them alike but for the division.
DEVICE_INDICES = ["i", "i", "(i * 3) & 255", "i / 2", "i & 63", "g * 64 + 63 - t", "t", "7", "(i + 64) & 255", "i ^ 32",
                  "i ^ 1", "g", "200 + g"]  # fmt: skip
GROUP_INDICES = ["t", "t", "63 - t", "t ^ 1", "t ^ 32", "t / 2", "t & 15", "5", "(t + 1) & 63"]
CONDITIONS = ["", "", "", "t < 32", "t == 3", "t == 40", "(t & 31) == 5", "t >= 32", "g == 1", "(i & 3) == 2", "t / 32 == 1"]
BARRIERS = {
    "threadgroup_barrier(mem_flags::mem_threadgroup);": (False, (False, True)),
    "threadgroup_barrier(mem_flags::mem_device);": (False, (True, False)),
    "threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);": (False, (True, True)),
    "threadgroup_barrier(mem_flags::mem_none);": (False, (False, False)),
    "simdgroup_barrier(mem_flags::mem_threadgroup);": (True, (False, True)),
    "simdgroup_barrier(mem_flags::mem_device);": (True, (True, False)),
}
# What is done, to elements of how many bytes, whether it writes, whether it is an atomic.
ACTIONS = [
    ("s += {words}[{at}];", 4, False, False),
    ("s += {words}[{at}];", 4, False, False),
    ("{words}[{at}] = {value};", 4, True, False),
    ("{words}[{at}] = {value};", 4, True, False),
    ("atomic_fetch_add_explicit(({space} atomic_uint*)&{words}[{at}], 1u, memory_order_relaxed);", 4, True, True),
    ("s += (({space} volatile ushort*){words})[{at}];", 2, False, False),
    ("(({space} volatile uchar*){words})[{at}] = uchar({value});", 1, True, False),
]


@dataclasses.dataclass(frozen=True)
class Access:
    thread: int
    line: int
    is_write: bool
    is_atomic: bool
    passed: int  # barriers of the group that order this memory
    simd_passed: int

    def is_ordered(self, other):
        if self.thread == other.thread:
            return True
        if self.thread // GROUP != other.thread // GROUP:
            return False
        if self.passed != other.passed:
            return True
        return self.thread // SIMD == other.thread // SIMD and self.simd_passed != other.simd_passed

    def races_with(self, other):
        if not (self.is_write or other.is_write) or (self.is_atomic and other.is_atomic):
            return False
        return not self.is_ordered(other)


class Program:
    """A kernel from line `first` on. `small`: bytes and halves are touched too."""

    def __init__(self, name, seed, first):
        choose = random.Random(seed)
        self.name, self.seed = name, seed
        small = choose.random() < 0.4
        self.lines = [
            f"kernel void {name}(device uint* given [[buffer(0)]], device uint* out [[buffer(1)]], "
            "uint i [[thread_position_in_grid]], uint t [[thread_position_in_threadgroup]], "
            "uint g [[threadgroup_position_in_grid]]) {",
            "threadgroup uint memory[64]; threadgroup volatile uint* m = memory;",
            "device volatile uint* a = given; uint s = 0;",
        ]
        self.bytes = {}  # by place: a list of accesses
        passed, simd_passed = [0, 0], [0, 0]
        for _ in range(choose.randint(2, 9)):
            line = first + len(self.lines)
            if choose.random() < 0.35:
                text = choose.choice(list(BARRIERS))
                is_simd, orders = BARRIERS[text]
                for memory in (0, 1):
                    (simd_passed if is_simd else passed)[memory] += orders[memory]
                self.lines.append(text)
                continue
            memory = choose.randint(0, 1)
            action, size, is_write, is_atomic = choose.choice(ACTIONS if small else ACTIONS[:5])
            at = choose.choice((DEVICE_INDICES, GROUP_INDICES)[memory])
            condition = choose.choice(CONDITIONS)
            text = action.format(words="am"[memory], at=at, value=f"i + {line * 1000 + 1}",
                                 space=("device", "threadgroup")[memory])  # fmt: skip
            self.lines.append(f"if ({condition or 'true'}) {{ {text} }}")
            for thread in range(GROUPS * GROUP):
                names = {"i": thread, "t": thread % GROUP, "g": thread // GROUP}
                if condition and not eval(condition.replace("/", "//"), names):
                    continue
                begin = eval(at.replace("/", "//"), names) * size
                access = Access(thread, line, is_write, is_atomic, passed[memory], simd_passed[memory])
                for byte in range(begin, begin + size):
                    place = (memory, names["g"] if memory else 0, byte)
                    self.bytes.setdefault(place, []).append(access)
        self.lines.append("out[i] = s; }")

    def races(self):
        """Pairs of lines that race, by byte; bytes without one are left out."""
        found = {}
        for place, accesses in self.bytes.items():
            pairs = {tuple(sorted((a.line, b.line))) for a, b in itertools.combinations(accesses, 2) if a.races_with(b)}
            if pairs:
                found[place] = pairs
        return found


def programs(count, seed):
    """The text of so many kernels, and what they are."""
    text, made = HEAD, []
    for number in range(count):
        program = Program(f"random_{number}", seed * 1000 + number, text.count("\n") + 1)
        text += "\n".join(program.lines) + "\n"
        made.append(program)
    return text, made
