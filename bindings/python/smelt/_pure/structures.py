# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Structures of kernels as dicts and tuples: their bytes, by the members that the package lists. Compiled modules call this, too."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Sequence

from .files import fail
from .parameter import Member, Parameter, layout_of
from .scalars import declared_bytes, is_number, number_of_numpy

_STEP = re.compile(r"([^.\[\]]+)|\[(\d+)\]")


def is_structured(value: object) -> bool:
    """A dict or a tuple, which is one structure, or a list of these, which is an array; a list of numbers is one structure."""
    if isinstance(value, list):
        return bool(value) and (isinstance(value[0], (Mapping, tuple)) or is_number(value[0]) or number_of_numpy(value[0]) is not None)
    return isinstance(value, (Mapping, tuple))


Address = Callable[[str, str, Any], int]


def pack(place: str, type_name: str, size: int, members: Sequence[Any], value: Any, address: Address | None = None) -> bytes:
    """place: "argument 2 'p'". size: bytes of a structure. members: (name, type, offset, size, elements), in order. What is between members is zero.
    address(place, type, value) is what stands for a texture, a sampler or memory."""
    tree = _tree([Member(*member) for member in members])
    several = isinstance(value, list) and isinstance(value[0], (Mapping, tuple))
    data = bytearray()
    for i, one in enumerate(value if several else [value]):
        record = bytearray(size)
        _put(record, f"{place}, element {i}" if several else place, type_name, tree, one, address)
        data += record
    return bytes(data)


def _tree(members: Sequence[Member]) -> dict[str, Any]:
    """Names to members or to such dicts; elements of arrays of structures by "0", "1", ..."""
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
            fail("argument_type", f"{place}: want {what} as a dict or tuple of {_listed(names)}; got {type(value).__name__}")
        if len(values) != len(names):
            fail("argument_mismatch", f"{place}: {what} has {len(names)} members, the call passes {len(values)}; want {_listed(names)}")
        value = dict(zip(names, values))
    unknown = [name for name in value if name not in tree]
    missing = [name for name in names if name not in value]
    if unknown:
        from difflib import get_close_matches

        near = get_close_matches(str(unknown[0]), names, 1)
        fail("argument_mismatch", f"{place}: {what} has no member {unknown[0]!r}" + (f"; did you mean '{near[0]}'?" if near else f"; it has {_listed(names)}"))
    if missing:
        fail("argument_mismatch", f"{place}: {what} has {_listed(names)}, and the call leaves out {_listed(missing)}")
    for name, one in tree.items():
        _put(record, f"{place}, member '{name}'" if not name.isdigit() else f"{place}[{name}]", f"'{name}'", one, value[name], address)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def _items(value: Any) -> list[Any] | None:
    """A list, tuple or array as a list."""
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
            fail("argument_mismatch", f"{place}: want {member.elements} values of {member.type_name}; got {type(value).__name__}" + ("" if listed is None else f" of {len(listed)}"))
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
            fail("argument_type", f"{place}: {handle[1]}; want its 8 bytes, got {type(value).__name__}")
        return address(place, handle[1], value).to_bytes(8, "little")
    layout = layout_of(member.type_name, member.size)
    if member.type_name == "char" and member.size == 1:
        layout = {"kind": "integer", "component": 1, "rows": 1, "columns": 1, "pitch": 1}
    if not layout and is_number(value) and member.size in (1, 2, 4, 8):  # an enumeration
        layout = {"kind": "integer", "component": member.size, "rows": 1, "columns": 1, "pitch": member.size}
    if not layout:
        if isinstance(value, (bytes, bytearray, memoryview)) and len(value) == member.size:
            return bytes(value)
        fail("argument_type", f"{place}: {member.type_name} of {member.size} bytes; want bytes, got {type(value).__name__}")
    want = Parameter(type_name=member.type_name, size=member.size, known=True, **layout)
    numbers = [value] if want.numbers == 1 else _flat(value)
    if numbers is None or len(numbers) != want.numbers:
        fail("argument_mismatch", f"{place}: want {member.type_name}, which is {want.numbers} numbers; got {value!r}")
    data = bytearray(member.size)
    for i, number in enumerate(numbers):
        plain = number_of_numpy(number)
        bits = declared_bytes(number if plain is None else plain, want)
        if bits is None:
            fail("argument_type", f"{place}: {number!r} is no {member.type_name[:-1] if want.numbers > 1 and want.columns == 1 else member.type_name}")
        at = i // want.rows * want.pitch + i % want.rows * want.component
        data[at : at + want.component] = bits
    return bytes(data)


def _flat(value: Any) -> list[Any] | None:
    """Numbers of a vector, or of a matrix by its columns."""
    items = _items(value)
    if items is None:
        return None
    flat: list[Any] = []
    for one in items:
        inner = _items(one)
        flat += [one] if inner is None else inner
    return flat
