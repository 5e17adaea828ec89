# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packs dicts and tuples into the bytes of a kernel's structures, by the members that the package lists. bindings/python/src/arguments.cpp calls it."""

from __future__ import annotations

import re
import struct
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn, Optional

_STEP = re.compile(r"([^.\[\]]+)|\[(\d+)\]")
_SCALARS = {"float": ("floating", 4), "half": ("floating", 2), "double": ("floating", 8), "bfloat": ("bfloat", 2), "int": ("integer", 4),
            "short": ("integer", 2), "long": ("integer", 8), "uint": ("unsigned_integer", 4), "ushort": ("unsigned_integer", 2),
            "ulong": ("unsigned_integer", 8), "uchar": ("unsigned_integer", 1), "bool": ("boolean", 1)}  # fmt: skip
_FLOATS = {2: "<e", 4: "<f", 8: "<d"}


def _fail(code: str, message: str) -> NoReturn:
    from .errors import from_code

    raise from_code(code, message)


class Member(NamedTuple):
    """A value in a structure. ``name`` is its path, such as "lights[1].colour"; ``elements`` is the length of an array, or 0."""

    name: str
    type_name: str
    offset: int
    size: int
    elements: int


class _Layout(NamedTuple):
    """The layout of a number, vector or matrix."""

    kind: str
    component: int  # bytes
    rows: int = 1
    columns: int = 1
    pitch: int = 0


def _layout_of(type_name: str, size: int) -> Optional[_Layout]:
    """Return the layout of a type such as "packed_float3", "half2x4" (columns, then rows) or "atomic_uint"; None for other types."""
    name = type_name
    packed = name.startswith("packed_")
    name = name[7:] if packed else name
    name = name[7:] if name.startswith("atomic_") else name
    rows = columns = 1
    if name[-1:] in ("2", "3", "4"):
        rows, name = int(name[-1]), name[:-1]
        if name.endswith("x"):
            if name[-2:-1] not in ("2", "3", "4"):
                return None
            columns, name = int(name[-2]), name[:-2]
    if name not in _SCALARS:
        return None
    kind, component = _SCALARS[name]
    pitch = component * (4 if rows == 3 and not packed else rows)
    if pitch * columns != size:  # a type of somebody else's by that name
        return None
    return _Layout(kind, component, rows, columns, pitch)


def _numpy_generic() -> Any:
    numpy = sys.modules.get("numpy")
    return numpy.generic if numpy is not None else ()


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float))


def _number_of_numpy(value: Any) -> Any:
    """Return a NumPy scalar as a Python number; None for any other value."""
    if _is_number(value) or not isinstance(value, _numpy_generic()):
        return None
    number = value.item()
    if not _is_number(number) and not isinstance(number, complex) and isinstance(number, _numpy_generic()):
        number = float(number)
    return number if _is_number(number) else None


def _bfloat(value: float) -> bytes:
    """Return the bytes of a bfloat, rounded to nearest, ties to even."""
    if value != value:
        return b"\xc0\x7f"
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    return struct.pack("<H", ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16) & 0xFFFF)


def _number_bytes(value: Any, want: _Layout) -> Optional[bytes]:
    """Return the bytes of a number in the type that the kernel declares; None if the type cannot hold the number."""
    if not _is_number(value):
        return None
    if want.kind == "boolean":
        return b"\1" if value else b"\0"
    if want.kind in ("floating", "bfloat"):
        try:
            number = float(value)
            if want.kind == "bfloat":
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


def is_structured(value: object) -> bool:
    """Return True for a dict or tuple (one structure) and for a list of these (an array). A list of numbers is one structure."""
    if isinstance(value, list):
        return bool(value) and (isinstance(value[0], (Mapping, tuple)) or _is_number(value[0]) or _number_of_numpy(value[0]) is not None)
    return isinstance(value, (Mapping, tuple))


Address = Callable[[str, str, Any], int]


def pack(place: str, type_name: str, size: int, members: Sequence[Any], value: Any, address: Address | None = None) -> bytes:
    """Return the bytes of a structure, or of an array of structures. Bytes between members are zero.

    Args:
        place: the argument's name in messages, such as "argument 2 'p'".
        type_name: the name of the structure.
        size: the size of one structure, in bytes.
        members: (name, type, offset, size, elements) of each member, in order.
        value: a dict, a tuple, or a list of these.
        address: called as address(place, type, value); returns the address that stands for a texture, a sampler or memory.
    """
    tree = _tree([Member(*member) for member in members])
    several = isinstance(value, list) and isinstance(value[0], (Mapping, tuple))
    data = bytearray()
    for i, one in enumerate(value if several else [value]):
        record = bytearray(size)
        _put(record, f"{place}, element {i}" if several else place, type_name, tree, one, address)
        data += record
    return bytes(data)


def _tree(members: Sequence[Member]) -> dict[str, Any]:
    """Return the members as a tree: a dict from names to members or to such dicts. An array of structures has keys "0", "1", ..."""
    tree: dict[str, Any] = {}
    for member in members:
        steps = [name or index for name, index in _STEP.findall(member.name)]
        node = tree
        for step in steps[:-1]:
            node = node.setdefault(step, {})
        node[steps[-1]] = member
    return tree


def _put(record: bytearray, place: str, what: str, tree: Any, value: Any, address: Address | None) -> None:
    if isinstance(tree, Member):
        _put_member(record, place, tree, value, address)
        return
    names = list(tree)
    if not isinstance(value, Mapping):
        values = _items(value)
        if values is None:
            _fail("argument_type", f"{place}: want {what} as a dict or tuple of {_listed(names)}; got {type(value).__name__}")
        if len(values) != len(names):
            _fail("argument_mismatch", f"{place}: {what} has {len(names)} members, the call passes {len(values)}; want {_listed(names)}")
        value = dict(zip(names, values))
    unknown = [name for name in value if name not in tree]
    missing = [name for name in names if name not in value]
    if unknown:
        from difflib import get_close_matches

        near = get_close_matches(str(unknown[0]), names, 1)
        _fail("argument_mismatch", f"{place}: {what} has no member {unknown[0]!r}" + (f"; did you mean '{near[0]}'?" if near else f"; it has {_listed(names)}"))
    if missing:
        _fail("argument_mismatch", f"{place}: {what} has {_listed(names)}, and the call leaves out {_listed(missing)}")
    for name, one in tree.items():
        _put(record, f"{place}, member '{name}'" if not name.isdigit() else f"{place}[{name}]", f"'{name}'", one, value[name], address)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def _items(value: Any) -> list[Any] | None:
    """Return a list, tuple or array as a list; None for any other value."""
    if isinstance(value, (list, tuple)):
        return list(value)
    if hasattr(value, "tolist") and getattr(value, "ndim", 1) != 0:
        return list(value.tolist())
    return None


def _put_member(record: bytearray, place: str, member: Member, value: Any, address: Address | None) -> None:
    elements = [value]
    if member.elements:
        listed = _items(value)
        if listed is None or len(listed) != member.elements:
            _fail("argument_mismatch", f"{place}: want {member.elements} values of {member.type_name}; got {type(value).__name__}" + ("" if listed is None else f" of {len(listed)}"))
        elements = listed
    for i, one in enumerate(elements):
        data = _element(f"{place}[{i}]" if member.elements else place, member, one, address)
        at = member.offset + i * member.size
        record[at : at + len(data)] = data


_HANDLE = re.compile(r"(?:array<)?((?:texture|depth)\w+(?:<[^<>]*>)?|sampler|.*\*)(?:, \d+>)?\Z")


def _element(place: str, member: Member, value: Any, address: Address | None) -> bytes:
    handle = _HANDLE.match(member.type_name)
    if handle and member.size == 8 and not isinstance(value, (bytes, bytearray)):
        if address is None:
            _fail("argument_type", f"{place}: {handle[1]}; want its 8 bytes, got {type(value).__name__}")
        return address(place, handle[1], value).to_bytes(8, "little")
    want = _layout_of(member.type_name, member.size)
    if member.type_name == "char" and member.size == 1:
        want = _Layout("integer", 1)
    if want is None and _is_number(value) and member.size in (1, 2, 4, 8):  # an enumeration
        want = _Layout("integer", member.size)
    if want is None:
        if isinstance(value, (bytes, bytearray, memoryview)) and len(value) == member.size:
            return bytes(value)
        _fail("argument_type", f"{place}: {member.type_name} of {member.size} bytes; want bytes, got {type(value).__name__}")
    count = want.rows * want.columns
    numbers = [value] if count == 1 else _flat(value)
    if numbers is None or len(numbers) != count:
        _fail("argument_mismatch", f"{place}: want {member.type_name}, which is {count} numbers; got {value!r}")
    data = bytearray(member.size)
    for i, number in enumerate(numbers):
        plain = _number_of_numpy(number)
        bits = _number_bytes(number if plain is None else plain, want)
        if bits is None:
            _fail("argument_type", f"{place}: {number!r} is not of type {member.type_name[:-1] if count > 1 and want.columns == 1 else member.type_name}")
        at = i // want.rows * want.pitch + i % want.rows * want.component
        data[at : at + want.component] = bits
    return bytes(data)


def _flat(value: Any) -> list[Any] | None:
    """Return the numbers of a vector, or of a matrix column by column, as a flat list; None for any other value."""
    items = _items(value)
    if items is None:
        return None
    flat: list[Any] = []
    for one in items:
        inner = _items(one)
        flat += [one] if inner is None else inner
    return flat
