# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a call of a kernel passes, bound one by one: the rules of docs/reference/python.md#call, as bindings/python/src/arguments.cpp has them."""

from __future__ import annotations

import struct
from typing import Any, Optional

from .argument_check import Bound, element_name
from .files import fail
from .memory import Buffer, Tensor, take
from .parameter import Parameter
from .textures import array_of
from .structures import is_structured, pack
from .scalars import CASTS, Casts, cast_bytes, declared_bytes, float_bytes, is_number, number_of_numpy, plain_bytes


class Arguments:
    """Binds the arguments of one call. by_type: numbers in the type that the kernel declares, else as PyTorch passes them."""

    def __init__(self, kernel: str, declared: list[Parameter], by_type: bool) -> None:
        self._kernel = kernel
        self._declared = declared
        self._by_type = by_type
        self.bound: list[Bound] = []
        self._tensors: list[Tensor] = []
        self._first: Optional[Tensor] = None
        self.binding: list[tuple[int, Any, int]] = []  # index, bytes or an address, size

    def release(self) -> None:
        for tensor in self._tensors:
            tensor.release()

    def _position(self, index: int) -> int:
        """Of a buffer in the call."""
        position = self._declared[index].position if index < len(self._declared) else -1
        return index if position < 0 else position

    def _place(self, index: int) -> str:
        name = self._declared[index].name if index < len(self._declared) else ""
        return f"argument {self._position(index)} '{name}'" if name else f"argument {self._position(index)}"

    def bind(self, arguments: tuple[Any, ...], casts: Casts) -> None:
        for index, value in enumerate(arguments):
            want = self._declared[index] if index < len(self._declared) else Parameter()
            if value is _GAP:
                self.bound.append(Bound())
            elif want.is_table:
                self._table(index, value)
            elif value is None:
                if (want.known or want.is_tensor) and not want.is_conditional:
                    fail("argument_type", f"{self._place(index)}: None is for an argument that a function constant takes away, and this one is always there")
                self.bound.append(Bound())
            else:
                self.bound.append(self._bind(index, value, casts.of(self._position(index)), want))

    def _inline(self, index: int, data: bytes) -> None:
        self.binding.append((index, data, len(data)))

    def _table(self, index: int, value: Any) -> None:
        self.bound.append(Bound())
        if value is not None and not isinstance(value, (list, tuple)):
            fail("argument_type", f"{self._place(index)}: a table of visible functions; want a list of their names, with None for an empty entry, or None for the null table; got {type(value).__name__}")
        for one in value or ():
            if one is not None and not isinstance(one, str):
                fail("argument_type", f"{self._place(index)}: want names of visible functions, got {type(one).__name__}")
        self.binding.append((index, None if value is None else [one or "" for one in value], 0))

    def _bind(self, index: int, value: Any, cast: Optional[str], want: Parameter) -> Bound:
        if want.is_tensor:
            return self._shaped(index, value, want)
        if is_number(value):
            return self._scalar(index, value, cast, want)
        if self._by_type and want.members and is_structured(value):
            data = pack(self._place(index), want.type_name, want.size, want.members, value)
            self._inline(index, data)
            return Bound("inlined", "other", want.size, len(data), is_list=True)
        if isinstance(value, (list, tuple)):
            return self._list(index, list(value), cast, want)
        tensor = take(value, self._position(index))
        if tensor is None:
            number = number_of_numpy(value) if self._by_type else None
            if number is not None:
                return self._scalar(index, number, cast, want)
            fail("argument_type", f"{self._place(index)}: want an array (buffer protocol or DLPack), int, float, or a list or tuple of these; got {type(value).__name__}")
        self._tensors.append(tensor)
        if not isinstance(value, Buffer):  # of bytes at an address nobody can count the elements
            self._first = self._first or tensor
        if tensor.rank == 0 and want.known and not want.writes:
            return self._number_in_array(index, tensor, want)
        self.binding.append((index, tensor.address, tensor.bytes))
        return Bound("array", tensor.kind, tensor.item, tensor.bytes, tensor.writable, tensor.contiguous, tensor.overlaps)

    def _shaped(self, index: int, value: Any, want: Parameter) -> Bound:
        """An argument tensor<T, ...>: an array, its shape and its strides."""
        where = f"{self._place(index)} ({want.type_name})"
        tensor = None if is_number(value) else take(value, self._position(index))
        if tensor is None:
            fail("argument_type", f"{where}: want an array (buffer protocol or DLPack), whose last dimension is dimension 0; got {type(value).__name__}")
        assert tensor is not None
        self._tensors.append(tensor)
        if not tensor.writable:
            fail("argument_type", f"{where}: the kernel may write to it, and the array is read-only; pass a copy")
        array = array_of(tensor)
        if array is None:
            fail("invalid_argument", f"{where}: an array of {element_name(tensor.kind, tensor.item)}, which no tensor has")
        self._first = self._first or tensor
        self.binding.append((index, array, tensor.bytes))
        return Bound("array", tensor.kind, tensor.item, tensor.bytes, tensor.writable, tensor.contiguous, tensor.overlaps)

    def _number_in_array(self, index: int, tensor: Tensor, want: Parameter) -> Bound:
        """Its bytes. As PyTorch does, 64-bit floating point becomes 32-bit."""
        data = tensor.as_bytes()
        item = tensor.item
        if tensor.kind in ("floating", "complex") and item == (8 if tensor.kind == "floating" else 16) and not want.takes_double:
            data = b"".join(float_bytes(value, 4) for (value,) in struct.iter_unpack("<d", data))
            item //= 2
        self._inline(index, data)
        return Bound("inlined", tensor.kind, item, len(data))

    def _refuse(self, index: int, value: Any, want: Parameter) -> None:
        fail("argument_type", f"{self._place(index)} wants {want.type_name}, and {value!r} is no such number; arg_casts={{{self._position(index)}: 'int32'}}, for example, converts it")

    def _scalar(self, index: int, value: Any, cast: Optional[str], want: Parameter) -> Bound:
        if want.kind and (cast == "declared" or (self._by_type and cast is None)):
            if want.size != want.component:
                fail("argument_mismatch", f"{self._place(index)} wants {want.type_name}, and the call passes one number; pass a list of {want.numbers}")
            data = declared_bytes(value, want)
            if data is None:
                self._refuse(index, value, want)
            assert data is not None
            self._inline(index, data)
            return Bound("inlined", want.kind, want.component, len(data))
        converted = cast is not None and cast != "declared"
        data = cast_bytes(value, *CASTS[cast], self._position(index)) if converted else plain_bytes(value, self._position(index))  # type: ignore[index]
        kind = CASTS[cast][0] if converted else "floating" if isinstance(value, float) else "integer"  # type: ignore[index]
        self._inline(index, data)
        may_be_meant = not isinstance(value, float) and want.size <= 4  # a whole number of four bytes may be an enumeration
        return Bound("inlined", kind, len(data), len(data), guessed=self._by_type and cast is None and want.is_structure and not may_be_meant)

    def _list(self, index: int, values: list[Any], cast: Optional[str], want: Parameter) -> Bound:
        if not values:
            fail("argument_empty", f"{self._place(index)}: an empty list; want at least one element")
        if self._by_type:
            values = [value if (number := number_of_numpy(value)) is None else number for value in values]
        if not is_number(values[0]):
            return self._addresses(index, values)
        if want.kind and (cast == "declared" or (self._by_type and cast is None)):
            return self._declared_list(index, values, want)
        floats = isinstance(values[0], float)
        parts = []
        for i, value in enumerate(values):
            if not is_number(value) or (isinstance(value, float) and not floats):
                fail("argument_type", f"{self._place(index)}: element {i} of a list that begins with {type(values[0]).__name__} is {type(value).__name__}; lists are of one kind")
            number = float(value) if floats else value
            parts.append(cast_bytes(number, *CASTS[cast], self._position(index)) if cast and cast != "declared" else plain_bytes(number, self._position(index)))
        data = b"".join(parts)
        self._inline(index, data)
        kind = CASTS[cast][0] if cast and cast != "declared" else "floating" if floats else "integer"
        return Bound("inlined", kind, len(parts[0]), len(data), is_list=True, guessed=self._by_type and cast is None and want.is_structure)

    def _declared_list(self, index: int, values: list[Any], want: Parameter) -> Bound:
        if len(values) % want.numbers:
            fail("argument_mismatch", f"{self._place(index)} wants {want.type_name}, which are {want.numbers} numbers; the call passes a list of {len(values)}")
        data = bytearray(len(values) // want.rows * want.pitch)
        for i, value in enumerate(values):
            number = declared_bytes(value, want)
            if number is None:
                self._refuse(index, value, want)
            assert number is not None
            at = i // want.rows * want.pitch + i % want.rows * want.component
            data[at : at + len(number)] = number
        self._inline(index, bytes(data))
        return Bound("inlined", want.kind, want.component, len(data), is_list=True)

    def _addresses(self, index: int, values: list[Any]) -> Bound:
        writable = True
        addresses = []
        for i, value in enumerate(values):
            tensor = None if isinstance(value, (list, tuple)) or is_number(value) else take(value, self._position(index))
            if tensor is None:
                if i == 0:
                    fail("argument_type", f"argument {self._position(index)}: a list of {type(value).__name__}; want arrays, ints or floats")
                fail("argument_type", f"argument {self._position(index)}: element {i} of a list that begins with an array is {type(value).__name__}")
            self._tensors.append(tensor)
            writable = writable and tensor.writable
            addresses.append(tensor.address)
        data = struct.pack(f"<{len(addresses)}Q", *addresses)
        self._inline(index, data)
        return Bound("list", "other", 8, len(data), writable)

    def first_count(self) -> Optional[int]:
        """Elements of the first array: how many threads there are where nobody says."""
        if self._first is None:
            return None
        if self._first.overlaps:
            fail("argument_type", f"threads was not given, and the first array has {self._first.count} elements in {self._first.bytes} bytes (a broadcast view has "
                 "stride 0): a thread for each would read past it. Pass threads=, or a contiguous copy (numpy.ascontiguousarray)")  # fmt: skip
        return self._first.count

class _Gap:
    """An argument that a call by names leaves out."""


_GAP = _Gap()


def is_gap(value: Any) -> bool:
    return value is _GAP


def with_gaps(buffers: dict[int, Any]) -> tuple[Any, ...]:
    return tuple(buffers.get(index, _GAP) for index in range(max(buffers, default=-1) + 1))


def in_positions(kernel: str, names: list[str], arguments: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
    """Arguments by position, with those that were passed by name where they belong."""
    positions = list(arguments)
    known: dict[str, int] = {}
    for i, name in enumerate(names):
        if name:
            known.setdefault(name, i)
    for name, value in named.items():
        if name not in known:
            raise TypeError(f"kernel '{kernel}' has no argument '{name}'; it takes {', '.join(known) or 'its buffers'} by position or name, and threads, threadgroups, "
                            "group_size, arg_casts, error_buf_idx, threadgroup_memory and check by name")  # fmt: skip
        index = known[name]
        if index < len(arguments):
            raise TypeError(f"kernel '{kernel}' got argument {index} '{name}' by position and by name")
        positions += [_GAP] * (index + 1 - len(positions))
        positions[index] = value
    return tuple(positions)


def leaves_out(arguments: tuple[Any, ...]) -> bool:
    return any(value is None or value is _GAP for value in arguments)
