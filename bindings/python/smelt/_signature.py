# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Signature and documentation of a kernel, for editors, help() and inspect.signature."""

from __future__ import annotations

import inspect
import keyword

from ._entries import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from . import _loader

_OPTIONS = ("threads", "threadgroups", "group_size", "arg_casts", "error_buf_idx", "threadgroup_memory", "check")


def is_tensor(argument: dict[str, Any]) -> bool:
    """Return True for an argument tensor<...>, which is bound like a buffer."""
    return argument["kind"] == "other" and str(argument["type_name"]).startswith("tensor<")


def is_table(argument: dict[str, Any]) -> bool:
    """Return True for an argument visible_function_table<S>, which has a buffer index."""
    return bool(argument["kind"] == "function_table")


def _type(argument: dict[str, Any]) -> str:
    """Return the type of an argument. For "constant float&" this is "constant float*", because the metadata has no references."""
    if is_tensor(argument) or is_table(argument):
        return str(argument["type_name"])
    if argument["kind"] in ("texture", "sampler"):
        count = int(argument["array_size"])
        return f"array<{argument['type_name']}, {count}>" if count > 1 else str(argument["type_name"])
    space = "constant" if argument["address_space"] == 2 else "device" if argument["writes"] else "device const"
    return f"{space} {argument['type_name'] or 'void'}*"


def _arguments(kernel: _loader.Kernel) -> list[dict[str, Any]]:
    """Return the arguments in the order of a call: buffers by index, or all in the order of the kernel's declaration if it has
    textures or samplers."""
    called = [argument for argument in kernel.args if argument["kind"] in ("buffer", "indirect_buffer", "texture", "sampler") or is_tensor(argument) or is_table(argument)]
    has_images = any(argument["kind"] in ("texture", "sampler") for argument in called)
    return called if has_images else sorted(called, key=lambda argument: int(argument["index"]))


def _stage_signature(kernel: _loader.Kernel) -> inspect.Signature:
    """Return the signature of a vertex or fragment function, which accepts only keyword arguments."""
    parameters = [
        inspect.Parameter(str(one["name"]), inspect.Parameter.KEYWORD_ONLY, annotation=str(one["type_name"]))
        for one in kernel.args
        if one["kind"] != "stage_output" and str(one["name"]).isidentifier() and not keyword.iskeyword(str(one["name"]))
    ]
    parameters.append(inspect.Parameter("threads", inspect.Parameter.KEYWORD_ONLY, default=None))
    return inspect.Signature(parameters, return_annotation="dict")


def _stage_documentation(kernel: _loader.Kernel) -> str:
    lines = [f"{kernel.kind} {kernel.name}, of a Metal library, on arrays with one element for each {kernel.kind}.", ""]
    for one in kernel.args:
        if one["kind"] == "stage_output":
            lines.append(f"  -> {one['name']}: {one['type_name']}")
        else:
            lines.append(f"  {one['name']}: {one['type_name']}{' (may be left out)' if one['conditional'] else ''}")
    return "\n".join(map(shown, lines))


def signature(kernel: _loader.Kernel) -> inspect.Signature:
    if kernel.kind != "kernel":
        return _stage_signature(kernel)
    parameters: list[inspect.Parameter] = []
    seen = set(_OPTIONS)
    for argument in _arguments(kernel):
        name = str(argument["name"])
        kind: Any = inspect.Parameter.POSITIONAL_OR_KEYWORD
        if not name.isidentifier() or keyword.iskeyword(name) or name in seen:
            name = f"{argument['kind']}_{argument['index']}".replace("indirect_", "")  # by position alone
            kind = inspect.Parameter.POSITIONAL_ONLY
            parameters = [one.replace(kind=kind) for one in parameters]
        seen.add(name)
        parameters.append(inspect.Parameter(name, kind, annotation=_type(argument)))
    options = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in _OPTIONS]
    return inspect.Signature([*parameters, *options], return_annotation=None)


def documentation(kernel: _loader.Kernel) -> str:
    if kernel.kind != "kernel":
        return _stage_documentation(kernel)
    arguments = _arguments(kernel)
    has_images = any(argument["kind"] in ("texture", "sampler") for argument in arguments)
    lines = [f"kernel void {kernel.name}, of a Metal library. Its {'arguments' if has_images else 'buffers'}, by position or name:", ""]
    for position, argument in enumerate(arguments):
        unused = ", not used" if argument["unused"] else ""
        if argument["kind"] in ("texture", "sampler"):
            lines.append(f"  {position}  {argument['name']}: {_type(argument)}{unused}")
            continue
        number = position if has_images else argument["index"]
        if is_tensor(argument):
            lines.append(f"  {number}  {argument['name']}: {_type(argument)}{unused}")
            continue
        lines.append(f"  {number}  {argument['name']}: {_type(argument)} ({argument['size']} bytes each{unused})")
    for argument in kernel.args:
        if argument["kind"] == "threadgroup":
            lines.append(f"  threadgroup_memory[{argument['index']}]  {argument['name']}: {argument['type_name']}")
    lines += ["", f"Options: {', '.join(_OPTIONS)} (docs/reference/python.md#call)."]
    return "\n".join(map(shown, lines))
