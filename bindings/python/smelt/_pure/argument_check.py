# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether what a call passes is what the kernel wants, as bindings/python/src/argument_check.cpp has it."""

from __future__ import annotations

import warnings
from typing import NamedTuple

from .files import fail
from .parameter import WHOLE, Parameter


def _structures(want: Parameter) -> str:
    """What a caller may pass for a structure."""
    return ("a dict or tuple of its members, " if want.members else "") + "a record array (numpy.array([(...)], dtype)), a ctypes.Structure or bytes"


class Bound(NamedTuple):
    """What was passed for one argument."""

    how: str = "nothing"  # array, inlined, list
    element: str = "other"
    item: int = 0
    bytes: int = 0
    writable: bool = False
    contiguous: bool = True
    overlaps: bool = False
    is_list: bool = False
    guessed: bool = False


class ArgumentCheck:
    def __init__(self, kernel: str, declared: list[Parameter], bound: list[Bound]) -> None:
        self._kernel = kernel
        self._declared = declared
        self._bound = bound

    def _wants(self, i: int) -> str:
        want = self._declared[i]
        name = f" '{want.name}'" if want.name else ""
        return f"kernel '{self._kernel}', argument {want.position if want.position >= 0 else i}{name}: wants {want.type_name} ({want.size} byte{'' if want.size == 1 else 's'})"

    def run(self, how: str) -> None:
        all_fit = len(self._bound) <= len(self._declared)
        for i, (want, given) in enumerate(zip(self._declared, self._bound)):
            if not want.known or given.how == "nothing" or _fits(want, given):
                continue
            all_fit = False
            self._check_memory(i, want, given, how != "off")
        if all_fit or how == "off" or not self._declared:
            return
        text = self._mismatch()
        if not text:
            return
        if how == "error":
            fail("argument_mismatch", text)
        from ..errors import ArgumentWarning

        warnings.warn(text, ArgumentWarning, stacklevel=3)

    def _check_memory(self, i: int, want: Parameter, given: Bound, strictly: bool) -> None:
        if given.how == "array" and not given.writable and want.writes:
            fail("argument_type", f"argument {want.position if want.position >= 0 else i}: kernel '{self._kernel}' may write to it, and the array is read-only; pass a copy")
        if given.how == "array" and (given.element, given.item) in (("floating", 8), ("complex", 16)) and not want.takes_double:
            fail("argument_mismatch", f"argument {want.position if want.position >= 0 else i}: kernel '{self._kernel}' wants {want.type_name}, and the array holds 64-bit floating point, which Metal has not; "
                 "convert it (float32 or complex64)")  # fmt: skip
        if strictly:
            self._check_form(i, want, given)
        if given.bytes < want.size and not (given.bytes == 0 and given.how == "array"):
            fail("argument_mismatch", f"{self._wants(i)}, the call passes {given.bytes} bytes, and the kernel would read past them; {_advice(want)}")

    def _check_form(self, i: int, want: Parameter, given: Bound) -> None:
        if given.how == "inlined" and not want.is_constant and want.writes:
            fail("argument_mismatch", f"{self._wants(i)} in memory that it may write to, the call passes {'a list' if given.is_list else 'a scalar'}, of which the kernel "
                 "has a copy: its result would be lost. Pass an array that keeps it (numpy.array, array.array, a tensor)")  # fmt: skip
        if given.how == "list" and not want.takes_addresses:
            fail("argument_mismatch", f"{self._wants(i)}, the call passes a list of arrays, which stands for their addresses. Pass one array; a kernel that takes several "
                 "by one buffer declares pointers")  # fmt: skip
        if given.how == "array" and not given.contiguous:
            why = f"its elements overlap in {given.bytes} bytes: a broadcast view has stride 0" if given.overlaps else "a slice with a step, a transposed or a cut view"
            back = " and copy the result back" if want.writes else ""
            fail("argument_mismatch", f"{self._wants(i)}, the call passes an array that does not lie in order ({why}), and a kernel sees the memory, not the view. Pass a "
                 f"contiguous copy (numpy.ascontiguousarray, tensor.contiguous()){back}; or check=\"off\" to a kernel that is told the strides")  # fmt: skip
        if given.guessed:
            fail("argument_mismatch", f"{self._wants(i)}, the call passes numbers, and nothing says which members they are. Pass {_structures(want)}")
        if given.how != "list" and given.element == "other" and given.item > 1 and want.size > 1:
            if given.item != want.size if want.is_structure else given.item % want.size:
                fail("argument_mismatch", f"{self._wants(i)}, the call passes structures of {given.item} bytes. Members lie at multiples of their own size, and three "
                     "components take the room of four (numpy.dtype([...], align=True) pads; a float3 member is 16 bytes)")  # fmt: skip

    def want_bytes(self) -> None:
        """Of a launch that runs: a constant that is empty cannot be read."""
        for i, (want, given) in enumerate(zip(self._declared, self._bound)):
            if want.known and want.is_constant and want.size and not given.bytes and given.how != "nothing":
                fail("argument_mismatch", f"{self._wants(i)}, the call passes nothing (0 bytes); {_advice(want)}")

    def _mismatch(self) -> str:
        if len(self._bound) > len(self._declared):
            return f"kernel '{self._kernel}' has {len(self._declared)} buffer arguments, the call passes {len(self._bound)}"
        for i, (want, given) in enumerate(zip(self._declared, self._bound)):
            if not want.kind or given.how in ("list", "nothing"):
                continue
            # One-byte elements are raw bytes to anybody; whole numbers of more bytes than wanted still begin with the value.
            if given.element == "other" or (given.item == 1 and given.element in WHOLE):
                continue
            # NumPy has no bfloat16; its bits stand in arrays of uint16.
            if want.kind == "bfloat" and given.element == "unsigned_integer" and given.item == 2:
                continue
            kinds_agree = given.element in WHOLE if want.kind in WHOLE else want.kind == given.element
            sizes_agree = given.item == want.component or (
                given.how == "inlined" and want.kind in WHOLE and given.item >= want.component and given.bytes == given.item)  # fmt: skip
            if not kinds_agree or not sizes_agree:
                return f"{self._wants(i)}, the call passes {element_name(given.element, given.item)}; {_advice(want)}"
        return ""


def _fits(want: Parameter, given: Bound) -> bool:
    if not want.kind or given.element != want.kind or given.item != want.component or given.bytes < want.size:
        return False
    if given.how == "array":
        return given.contiguous and (given.writable or not want.writes) and given.item <= 4
    return given.how == "inlined" and (want.is_constant or not want.writes)


def element_name(kind: str, size: int) -> str:
    names = {"boolean": "bool", "integer": f"int{size * 8}", "unsigned_integer": f"uint{size * 8}", "floating": f"float{size * 8}", "bfloat": "bfloat16",
             "complex": f"complex{size * 8}"}  # fmt: skip
    return names.get(kind, f"elements of {size} bytes")


def _advice(want: Parameter) -> str:
    if not want.kind:
        return f"pass {_structures(want)} of {want.size} bytes" if want.is_structure else f"pass at least {want.size} bytes"
    if want.numbers == 1:
        return f"pass an array of {element_name(want.kind, want.component)}"
    return f"pass a list of {want.numbers} numbers, or an array of {element_name(want.kind, want.component)} with {want.size // want.component} for each"
