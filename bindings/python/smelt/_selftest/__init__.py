# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernels of `python -m smelt.selftest`, as source and, in a built copy, as a package, with the expected result of each."""

from __future__ import annotations

import os
import struct
from typing import NamedTuple

FOLDER = os.path.dirname(os.path.abspath(__file__))
THREADS, GROUP = 1024, 64
_M = 0xFFFFFFFF


class Case(NamedTuple):
    """A launch of 1024 threads in threadgroups of 64. Each buffer has a type letter of struct and values; one of them is the output."""

    kernel: str
    buffers: tuple[tuple[str, list[float] | list[int]], ...]
    output: int
    want: list[float] | list[int]


def _f32(x: float) -> float:
    found: float = struct.unpack("<f", struct.pack("<f", x))[0]
    return found


def _random(count: int) -> list[int]:
    state, found = 1, []
    for _ in range(count):
        state = (state * 1664525 + 1013904223) & _M
        found.append(state >> 8)
    return found


def _mixed(i: int) -> int:
    h = (i * 2654435761 ^ (i % GROUP) << 16 ^ (i // GROUP) * 40503) & _M
    for k in range(8):
        h ^= h >> 15
        h = (((h << 7 | h >> 25) & _M) * 2246822519 + k) & _M
    return bin(h).count("1") + h % 1000 * 64


def cases() -> list[Case]:
    """Return the cases. Their numbers are small integers and halves, so that every sum is exact, in any order."""
    numbers = _random(THREADS)
    x = [float(n % 1024) / 4 for n in numbers]
    y = [float(n % 97) for n in numbers]
    signed = [float(n % 4096 - 2048) / 8 for n in numbers]
    bins = [0] * 16
    for n in numbers:
        bins[n % 16] += 1
    shuffled = [(sum(n & 255 for n in numbers[i - i % 32 : i - i % 32 + 32]) + numbers[i ^ 5]) & _M for i in range(THREADS)]
    return [
        Case("saxpy", (("f", x), ("f", y), ("f", [2.5])), 1, [_f32(2.5 * a + b) for a, b in zip(x, y)]),
        Case("mixed", (("I", [0] * THREADS),), 0, [_mixed(i) for i in range(THREADS)]),
        Case("halves", (("e", signed), ("f", [0.0] * THREADS)), 1, [a * 0.5 + (a < 0) for a in signed]),
        Case("summed", (("f", x), ("f", [0.0] * (THREADS // GROUP))), 1, [sum(x[i : i + GROUP]) for i in range(0, THREADS, GROUP)]),
        Case("counted", (("I", numbers), ("I", [0] * 16)), 1, bins),
        Case("shuffled", (("I", numbers), ("I", [0] * THREADS)), 1, shuffled),
    ]


def source() -> str:
    with open(os.path.join(FOLDER, "kernels.metal"), encoding="utf-8") as file:
        return file.read()


def package() -> str:
    """Return the path of the package, which has slices for several systems."""
    return os.path.join(FOLDER, "kernels.smelt")
