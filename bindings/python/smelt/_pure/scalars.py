# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers of Python and NumPy as bytes, as bindings/python/src/scalars.cpp has them."""

from __future__ import annotations

import struct
import sys
from typing import Any, Optional

from .files import fail
from .parameter import WHOLE, Parameter

_FLOATS = {2: "<e", 4: "<f", 8: "<d"}
CASTS = {"fp16": ("floating", 2), "bf16": ("bfloat", 2), "fp32": ("floating", 4), "bool": ("boolean", 1),
          **{f"int{bits}": ("integer", bits // 8) for bits in (8, 16, 32, 64)},
          **{f"uint{bits}": ("unsigned_integer", bits // 8) for bits in (8, 16, 32, 64)}}  # fmt: skip


def numpy_generic() -> Any:
    numpy = sys.modules.get("numpy")
    return numpy.generic if numpy is not None else ()


def is_number(value: object) -> bool:
    return isinstance(value, (int, float))


def number_of_numpy(value: Any) -> Any:
    """A NumPy scalar as Python's number; None for all else."""
    if is_number(value) or not isinstance(value, numpy_generic()):
        return None
    number = value.item()
    if not is_number(number) and not isinstance(number, complex) and isinstance(number, numpy_generic()):
        number = float(number)
    return number if is_number(number) else None


def _bfloat(value: float) -> bytes:
    """Rounded to nearest, ties to even."""
    if value != value:
        return b"\xc0\x7f"
    try:
        bits = struct.unpack("<I", struct.pack("<f", value))[0]
    except OverflowError:
        bits = 0x7F800000 | (0x80000000 if value < 0 else 0)
    return struct.pack("<H", ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16) & 0xFFFF)


def float_bytes(value: float, size: int) -> bytes:
    """As C converts it: what is too large is infinite."""
    try:
        return struct.pack(_FLOATS[size], value)
    except OverflowError:
        return struct.pack(_FLOATS[size], float("inf") if value > 0 else float("-inf"))


def declared_bytes(value: Any, want: Parameter) -> Optional[bytes]:
    """A number in the type that the kernel declares; None for one that it has no value for."""
    if not is_number(value):
        return None
    if want.kind == "boolean":
        return b"\1" if value else b"\0"
    if want.kind not in WHOLE:
        try:
            number = float(value)
            if want.kind == "bfloat":
                struct.pack("<f", number)
                return _bfloat(number)
            return struct.pack(_FLOATS[want.component], number)
        except OverflowError:
            return None
    if isinstance(value, float):
        if not value.is_integer():
            return None
        value = int(value)
    try:
        return int(value).to_bytes(want.component, "little", signed=want.kind == "integer")
    except OverflowError:
        return None


def cast_bytes(value: Any, kind: str, size: int, index: int) -> bytes:
    """As PyTorch's arg_casts convert."""
    if kind == "boolean":
        return b"\1" if value else b"\0"
    if kind == "bfloat":
        return _bfloat(float(value))
    if kind == "floating":
        return float_bytes(float(value), size)
    bits: int
    if isinstance(value, float):
        bits = int(value) if -(2**63) <= value < (2**64 if kind == "unsigned_integer" and size == 8 else 2**63) else -(2**63)
    elif not -(2**63) <= value < (2**64 if kind == "unsigned_integer" and size == 8 else 2**63):
        fits = 0 <= value < 2**64
        fail("argument_type", f"argument {index}: {value} does not fit a signed 64-bit integer{' (the cast ' + repr('uint64') + ' would hold it)' if fits else ''}")
    else:
        bits = int(value)
    return (bits & ((1 << 8 * size) - 1)).to_bytes(size, "little")


def plain_bytes(value: Any, index: int) -> bytes:
    """As PyTorch passes a number: float32 or int64."""
    return cast_bytes(value, "floating", 4, index) if isinstance(value, float) else cast_bytes(value, "integer", 8, index)


class Casts:
    def __init__(self, asked: Any = None) -> None:
        self._all: Optional[str] = None
        self._some: dict[int, str] = {}
        if asked is None:
            return
        if isinstance(asked, str):
            self._all = self._word(asked, "arg_casts")
        elif isinstance(asked, dict):
            for index, word in asked.items():
                if not isinstance(index, int) or index < 0:
                    fail("invalid_argument", f"arg_casts: keys are argument indexes; got {index!r}")
                self._some[index] = self._word(word, f"arg_casts of argument {index}")
        else:
            fail("invalid_argument", f"arg_casts: want None, a word, or a dict of words by argument index; got {type(asked).__name__}")

    @staticmethod
    def _word(word: object, where: str) -> str:
        if not isinstance(word, str):
            fail("invalid_argument", f"{where}: want a word such as 'fp16' or 'int32', got {type(word).__name__}")
        if word not in CASTS and word != "declared":
            fail("cast_unknown", f"{where}: '{word}' is not known; want fp16, bf16, fp32, int8, int16, int32, int64, uint8, uint16, uint32, uint64, bool or declared")
        return word

    def of(self, index: int) -> Optional[str]:
        return self._some.get(index, self._all)
