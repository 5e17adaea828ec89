# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds results that were compiled elsewhere, by their keys, or records a miss."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, Union

from . import keys, misses
from .. import _logging, _torch_headers
from .._checks import bits as checks_of
from ..errors import Error
from .device import Device, left
from .device import device as device_of
from .entries import store_of
from .files import check_kinds, fail
from .load import Made, Package, load_any
from .metallib import read_metallib
from .package import PackageFile

if TYPE_CHECKING:
    from .device import DeviceLike
    from .entries import StoreLike
    from .library import Library

_PART = "library.smelt"


def _held_to(data: bytes, options: keys.Options) -> str:
    """Return why a package is not the requested one, or an empty string if it is. The rules are those of service/src/asked.hpp."""
    try:
        file = PackageFile(data)
        if len(file.libraries) != 1:
            return "another number of libraries"
        rows = file.libraries[0]
        targets = {one.target for one in rows.slices if not one.is_cpu}
        names = [one.name for one in rows.functions]
        if rows.compiler != keys.facts().compiler:
            return "another compiler"
        if options.name and rows.name != options.name:
            return "another library"
        if rows.version != options.version:
            return "another version"
        if (targets != set(options.targets)) if options.targets else not targets:
            return "Metal libraries for other targets"
        if not names and options.functions:
            return "no functions"
        if options.functions and not set(names) <= set(options.functions):
            return "other functions"
        if any(one.is_cpu for one in rows.slices):
            return "CPU code that nobody asked for"
        file.check_all_parts()
        for one in rows.slices:
            inside = sorted(function.name for function in read_metallib(one.part.bytes, "full").functions)
            if inside != sorted(name for name, note in zip(names, one.functions) if not note.missing):
                return "Metal libraries of other functions"
    except Error as error:
        return f"damage: {error}"
    return ""


def _look(sources: list[tuple[str, bytes]], options: keys.Options, store: StoreLike) -> Package | None:
    """Find a package by either of its keys, in the store or on the remotes."""
    start = time.perf_counter()
    if store is False:
        return None
    on = store_of(store)
    raw = keys.raw_key(sources, options)
    for key in filter(None, dict.fromkeys((raw, keys.normalised_key(sources, options)))):
        found = on._find(key)
        if found is None or _PART not in found.parts:
            continue
        wrong = _held_to(found.parts[_PART], options)
        if wrong:
            on._refuse(key, f"it is not what was asked for: the package has {wrong}")
            continue
        return Package(found.parts[_PART], Made(raw, int((time.perf_counter() - start) * 1e6)))
    return None


def _miss(what: str, sources: list[tuple[str, bytes]], options: keys.Options, store: StoreLike) -> NoReturn:
    if store is False:
        fail("not_cached", f"{what}: this copy of smelt has no compiler, and store=False asks for no store")
    on = store_of(store)
    key = keys.raw_key(sources, options)
    noted = misses.note(on.path, key, sources, options)
    where = f"store {on.path}" + (f" or {' '.join(remote.address.shown for remote in on._remotes)}" if on._remotes else " (SMELT_REMOTE names no other)")
    how = ("It is noted: python -m smelt misses -o misses.json, and on a build machine of the same smelt "
           f"({keys.facts().compiler.split(') ')[0]})): smelt compile --from misses.json") if noted else "It could not be noted"  # fmt: skip
    fail("not_cached", f"{what}: {sources[0][0]} for {', '.join(options.targets) or 'the default target'} is not in {where}, and this copy of smelt "
         f"has no compiler. {how}", key)  # fmt: skip


def own_target(on: Device) -> str:
    asked = os.environ.get("SMELT_TARGET", "")
    if asked:
        return keys.target(asked)["name"]  # type: ignore[no-any-return]
    known = [row for row in keys.facts().targets if row["name"].startswith("macos") and tuple(row["os"]) <= on._target.os]
    if not known:
        fail("unsupported_os", f"Metal libraries are made for {keys.facts().targets[0]['name']} and later; this is {on.target}")
    return max(known, key=lambda row: tuple(row["os"]))["name"]  # type: ignore[no-any-return]


def compile_shader(
    source: str, *, device: DeviceLike = None, fast_math: bool = False, checked: bool | str = False, store: StoreLike = None,
    timeout: float | None = None, filename: str = "source.metal", cpu_effort: str | None = None, logging: bool = False,
    target: str | None = None, include_folders: Iterable[str | os.PathLike[str]] = (), _as_upstream: bool = False,
) -> Library:  # fmt: skip
    """Return a library of Metal source that was compiled elsewhere, from the store or a remote.

    Raises:
        CacheMissError: neither has it; the message says how to compile it.
    """
    if not isinstance(source, str):
        fail("source_type", f"compile_shader: want Metal Shading Language text, got {type(source).__name__}")
    on = device_of(device)
    checks = checks_of(checked)
    text = [(filename, source.encode())]
    if keys.kind_of(text[0][1], text[0][0]) != "msl":
        fail("source_type", f"compile_shader: {filename} is not Metal Shading Language text")
    if checks:
        left("code that bounds every access")
    # For this system alone: of another's, __METAL_VERSION__ has another value.
    of = keys.target(target)["name"] if target else own_target(on)
    folders = tuple(_torch_headers.folders_of(text[0][1], include_folders))
    definitions = (_logging.MACRO,) if logging else ()
    options = keys.Options(targets=(of,), fast_math=fast_math, definitions=definitions, include_folders=folders)
    found = _look(text, options, store)
    if found is None:
        _miss("compile_shader", text, options, store)
    return load_any(found, on, _as_upstream, store, "compile_shader", allow_empty=True)


def make(
    sources: Sequence[tuple[str, Union[bytes, memoryview]]], options: Mapping[str, Any], required: bool, store: StoreLike, progress: Any,
) -> Package:  # fmt: skip
    """Return a package that was compiled elsewhere for the same request to smelt.compile (_request.py), without CPU code.

    Raises:
        CacheMissError: neither the store nor a remote has it; the message says how to compile it.
    """
    check_kinds("a str", name=options["name"], version=options["version"], sandbox=options["sandbox"], cpu_effort=options["effort"])
    check_kinds("a number", timeout=options["timeout"])
    check_kinds("a whole number", **{one: options[one] for one in ("threadgroup_memory", "threads_per_threadgroup", "max_memory")})
    texts = [(name, bytes(data)) for name, data in sources]
    flags = {name: bool(options[name]) for name, _ in keys.facts().flags}
    if options["cpu"] or options["checked"]:
        left("compile: CPU code (cpu=False asks for Metal libraries alone)")
    lists = {one: tuple(options[one]) for one in ("targets", "kernels", "functions", "include_folders", "definitions")}
    plain = {one: options[one] for one in ("threadgroup_memory", "threads_per_threadgroup", "fast_math", "language", "name", "version")}
    members: dict[str, Any] = {"metadata": options["metadata"] or "", "flags": frozenset(name for name, is_set in flags.items() if is_set), **lists, **plain}
    wanted = keys.Options(**members)
    found = _look(texts, wanted, store)
    if found is None:
        _miss("compile", texts, wanted, store)
    return found
