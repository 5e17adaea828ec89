# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Supports tl.device_print: makes the memory to which a launch prints, and reads the lines from it. The layout is in
aot/frontend/ir/amdgcn/reports.hpp."""

from __future__ import annotations

import ctypes
import re
import struct
from collections.abc import Iterator, Sequence
from typing import Any

# Of a kernel's LLVM IR, where it prints.
PRINTS = "@__ockl_printf_begin"
# For the records of one launch: 4 MiB, some 90,000 lines.
WORDS = 1 << 20
_FIRST = 3

_FORMAT = re.compile(r'^@printfFormat_(\d+) = [^\n]*? c"((?:[^"\\]|\\.)*)"', re.MULTILINE)
_BYTE = re.compile(r"\\([0-9A-Fa-f]{2})")
_CONVERSION = re.compile(r"%([-+ #0]*)(\d*)(?:\.(\d+))?(ll|l|h|hh|z)?([diuxXpfFeEgG%])")


def formats_of(text: str) -> list[list[Any]]:
    """Return [number, format] of each message in the text of a kernel's LLVM IR."""
    made = []
    for number, said in _FORMAT.findall(text):
        raw = _BYTE.sub(lambda found: chr(int(found[1], 16)), said)
        made.append([int(number), raw.encode("latin-1").decode("utf-8", "replace").rstrip("\0")])
    return made


def new_report(words: int = WORDS) -> Any:
    """Make the empty report that the launcher binds, with room for `words` 32-bit words."""
    report = (ctypes.c_uint32 * (_FIRST + words))()
    report[2] = words
    return report


def _one(conversion: re.Match[str], bits: int, is_float: bool) -> str:
    flags, width, precision, length, kind = conversion.groups()
    spec = f"%{flags}{width}" + (f".{precision}" if precision is not None else "")
    if kind in "fFeEgG":
        raw = struct.pack("<Q", bits)
        number: float = struct.unpack("<f", raw[:4])[0] if is_float else struct.unpack("<d", raw)[0]
        return str((spec + kind) % number)
    if kind == "p":
        return f"%{flags}{width}s" % hex(bits)
    size = 64 if length in ("ll", "l", "z") else 32
    bits &= (1 << size) - 1
    if kind in "di" and bits >> (size - 1):
        bits -= 1 << size
    return str((spec + ("d" if kind in "diu" else kind)) % bits)


def formatted(text: str, values: Sequence[tuple[int, bool]]) -> str:
    """Format values like C's printf. Each value is a pair of 64 bits and True if the lower half is a float."""
    rest = iter(values)

    def replace(found: re.Match[str]) -> str:
        if found[5] == "%":
            return "%"
        value = next(rest, None)
        return found[0] if value is None else _one(found, *value)

    return _CONVERSION.sub(replace, text)


def printed(report: Sequence[int], formats: Sequence[Sequence[Any]]) -> Iterator[str]:
    """Iterate over the text of each print of a launch, with a line at the end if some prints did not fit."""
    by_number = {number: text for number, text in formats}
    asked, there = report[1], report[2]
    words = list(report[_FIRST : _FIRST + min(asked, there)])
    at = 0
    # The first that did not fit has a place without a header, and none fits after it.
    while at + 2 <= len(words) and words[at] >> 31:
        number, count, floats = words[at] & 0xFFFF, words[at] >> 16 & 0x3F, words[at + 1]
        pairs = [low | high << 32 for low, high in zip(*[iter(words[at + 2 : at + 2 + 2 * count])] * 2)]
        values = [(pair, bool(floats >> i & 1)) for i, pair in enumerate(pairs)]
        yield formatted(by_number.get(number, f"device_print {number}\n"), values)
        at += 2 + 2 * count
    if asked > there:
        yield "device_print: more was printed than a launch has room for; the rest is lost\n"
