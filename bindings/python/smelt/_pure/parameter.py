# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a kernel declares of a buffer, as bindings/python/src/parameter.cpp has it."""

from __future__ import annotations

from typing import Any, NamedTuple

WHOLE = ("integer", "unsigned_integer", "boolean")
_SCALARS = {"float": ("floating", 4), "half": ("floating", 2), "double": ("floating", 8), "bfloat": ("bfloat", 2), "int": ("integer", 4),
            "short": ("integer", 2), "long": ("integer", 8), "uint": ("unsigned_integer", 4), "ushort": ("unsigned_integer", 2),
            "ulong": ("unsigned_integer", 8), "uchar": ("unsigned_integer", 1), "bool": ("boolean", 1)}  # fmt: skip


class Member(NamedTuple):
    """A value in a structure, with all that leads to it in its name: "lights[1].colour". elements: of an array, 0 for none."""

    name: str
    type_name: str
    offset: int
    size: int
    elements: int


class Parameter(NamedTuple):
    """A buffer that a kernel declares. kind is empty where the type is no number, vector or matrix of them."""

    name: str = ""
    type_name: str = ""
    size: int = 0
    known: bool = False
    writes: bool = False
    is_constant: bool = False
    is_conditional: bool = False
    kind: str = ""
    component: int = 0
    rows: int = 1
    columns: int = 1
    pitch: int = 0
    members: tuple[Member, ...] = ()  # of a structure, where the package lists them
    position: int = -1  # in the call, where that is not the index
    is_table: bool = False  # visible_function_table<S>: it takes names; not known as a buffer
    is_tensor: bool = False  # tensor<T, ...>: it takes an array with its shape; not known as a buffer

    @property
    def numbers(self) -> int:
        return self.rows * self.columns

    @property
    def is_structure(self) -> bool:
        """IR without types says "char" of everything, and MSL's char is raw bytes, too."""
        return self.known and not self.kind and self.type_name not in ("", "char")

    @property
    def takes_addresses(self) -> bool:
        return not self.kind or (self.kind in WHOLE and self.component == 8)

    @property
    def takes_double(self) -> bool:
        return not self.known or not self.kind or self.type_name.startswith("double")


def layout_of(type_name: str, size: int) -> dict[str, Any]:
    """ "packed_float3", "half2x4" (columns, then rows), "atomic_uint": what its elements are; empty for what is none of these."""
    name = type_name
    packed = name.startswith("packed_")
    name = name[7:] if packed else name
    name = name[7:] if name.startswith("atomic_") else name
    rows = columns = 1
    if name[-1:] in ("2", "3", "4"):
        rows, name = int(name[-1]), name[:-1]
        if name.endswith("x"):
            if name[-2:-1] not in ("2", "3", "4"):
                return {}
            columns, name = int(name[-2]), name[:-2]
    if name not in _SCALARS:
        return {}
    kind, component = _SCALARS[name]
    pitch = component * (4 if rows == 3 and not packed else rows)
    if pitch * columns != size:  # a type of somebody else's by that name
        return {}
    return {"kind": kind, "component": component, "rows": rows, "columns": columns, "pitch": pitch}
