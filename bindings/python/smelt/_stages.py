# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs vertex and fragment functions on arrays (docs/reference/stages.md#run)."""

from __future__ import annotations

import importlib

import smelt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from . import _loader

_DTYPES = {"bool": "?", "char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4",
           "long": "i8", "ulong": "u8", "half": "f2", "float": "f4"}  # fmt: skip
_OPTIONS = ("threads",)


def dtype_of(argument: Mapping[str, Any]) -> tuple[str, int]:
    """Return NumPy's name of the element type, and the number of components of an element."""
    dtype = _DTYPES.get(str(argument["type_name"]).rstrip("0123456789"))
    if dtype is None:
        raise smelt.ArgumentError(f"array '{argument['name']}' is of type {argument['type_name']}, which NumPy does not have")
    return dtype, int(argument["size"]) // max(1, int(dtype[-1]) if dtype != "?" else 1)


def _places(arguments: list[dict[str, Any]]) -> dict[tuple[str, int], int]:
    """Return the position of each argument in a call, by kind and slot: buffers by index, or all in the order of the declaration
    if there are textures or samplers."""
    has_images = any(one["kind"] in ("texture", "sampler") for one in arguments)
    if not has_images:
        return {(one["kind"], one["index"]): one["index"] for one in arguments}
    called = ("texture", "sampler", "buffer", "indirect_buffer", "stage_input", "stage_output")
    places: dict[tuple[str, int], int] = {}
    position = 0
    for one in arguments:
        if one["kind"] in called:
            places[one["kind"], one["index"]] = position
            position += 1 if one["kind"] in ("texture", "sampler") else int(one["array_size"])
    return places


def call(kernel: _loader.Kernel, args: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
    """Run a vertex or fragment function, and return a dict with an array for each result."""
    try:
        np = importlib.import_module("numpy")
    except ImportError:
        raise smelt.ArgumentError(f"{kernel.kind} function '{kernel.name}' gives NumPy's arrays; install numpy") from None
    what = f"{kernel.kind} function '{kernel.name}'"
    arguments = kernel.args
    known = {str(one["name"]): one for one in arguments if one["kind"] != "stage_output"}
    if args:
        raise TypeError(f"{what} takes its arguments by name: {', '.join((*known, *_OPTIONS))}")
    values: dict[str, Any] = {}
    for name, value in named.items():
        if name in known:
            values[name] = value
        elif name not in _OPTIONS:
            raise TypeError(f"{what} has no argument '{name}'; it takes {', '.join((*known, *_OPTIONS))}")

    absent = [name for name, one in known.items() if name not in values and not one["conditional"] and not one["unused"]]
    if absent:
        raise TypeError(f"{what} needs {', '.join(absent)}")

    lengths: dict[str, int] = {}
    for name, value in values.items():
        if known[name]["kind"] != "stage_input":
            continue
        dtype, numbers = dtype_of(known[name])
        array = np.asarray(value)
        # Numbers in Python's own types become the input's.
        if not isinstance(value, np.ndarray) or np.can_cast(array.dtype, dtype, "same_kind"):
            array = array.astype(dtype, copy=False)
        if array.dtype != np.dtype(dtype):
            raise smelt.ArgumentError(f"{what}: input '{name}' is {known[name]['type_name']}, and the call passes {array.dtype}")
        element = () if numbers == 1 else (numbers,)
        if array.shape == element:
            values[name] = array  # the same for all
            continue
        if array.shape[1:] != element:
            want = f"(n, {numbers})" if element else "(n,)"
            raise smelt.ArgumentError(f"{what}: input '{name}' is {known[name]['type_name']}: want shape {want}, got {array.shape}")
        values[name] = np.ascontiguousarray(array)
        lengths[name] = array.shape[0]
    threads = named.get("threads")
    if threads is None:
        if not lengths:
            raise smelt.ArgumentError(f"{what}: no input has a length from which to count; pass threads=")
        threads = next(iter(lengths.values()))
    for name, length in lengths.items():
        if length != threads:
            raise smelt.ArgumentError(f"{what}: input '{name}' has {length} elements, the call has {threads}")
    for name, value in values.items():
        if known[name]["kind"] == "stage_input" and name not in lengths:
            values[name] = np.ascontiguousarray(np.broadcast_to(value, (threads, *value.shape)))

    places = _places(arguments)
    positions: list[Any] = [None] * (1 + max(places.values(), default=-1))
    for name, value in values.items():
        positions[places[known[name]["kind"], known[name]["index"]]] = value
    results: dict[str, Any] = {}
    for one in arguments:
        if one["kind"] == "stage_output":
            dtype, numbers = dtype_of(one)
            result = np.zeros((threads,) if numbers == 1 else (threads, numbers), dtype)
            results[str(one["name"])] = positions[places["stage_output", one["index"]]] = result
    kernel._run(*positions, threads=threads)
    return results
