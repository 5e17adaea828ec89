# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What was compiled elsewhere: looked for by its keys, or noted as a miss."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from . import keys, misses
from .. import _logging
from .._checks import bits as checks_of
from ..errors import Error
from .device import Device, left
from .device import device as device_of
from .entries import folder_of, store_of
from .files import COMPILER, check_kinds, fail, native_library, read_file
from .load import Made, Package, load_any, metal_version
from .metallib import read_metallib
from .package import PackageFile

if TYPE_CHECKING:
    from .device import DeviceLike
    from .entries import StoreLike
    from .library import Library

_PART = "library.smelt"


def _held_to(data: bytes, options: keys.Options) -> str:
    """Why a package is not what was asked for; empty when it is. As service/src/asked.hpp."""
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
    """By either key, in the store and behind it."""
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
        return Package(found.parts[_PART], Made(raw, time.perf_counter() - start))
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
    _as_upstream: bool = False,
) -> Library:  # fmt: skip
    """A library of Metal Shading Language text that was compiled elsewhere: found in the store or a remote, or a CacheMissError that says
    how it gets there."""
    if not isinstance(source, str):
        fail("source_type", f"compile_shader: want Metal Shading Language text, got {type(source).__name__}")
    on = device_of(device)
    checks = checks_of(checked)
    text = [(filename, source.encode())]
    if keys.kind_of(text[0][1]) != "msl":
        fail("source_type", f"compile_shader: {filename} is no Metal Shading Language text")
    if on._cpu is not None:
        return _compile_for_cpu(text, on, fast_math, checks, store, timeout, cpu_effort, logging, _as_upstream)
    if checks:
        left("code that bounds every access")
    # For this system alone: of another's, __METAL_VERSION__ has another value.
    options = keys.Options(targets=(own_target(on),), fast_math=fast_math, definitions=(_logging.MACRO,) if logging else ())
    found = _look(text, options, store)
    if found is None:
        _miss("compile_shader", text, options, store)
    return load_any(found, on, _as_upstream, store, "compile_shader", allow_empty=True)


def _compile_for_cpu(
    text: list[tuple[str, bytes]], on: Device, fast_math: bool, checked: int, store: StoreLike, timeout: float | None, effort: str | None,
    logging: bool, as_upstream: bool,
) -> Library:  # fmt: skip
    from ..errors import CompileError, ShaderSyntaxError
    from . import compiler, cpu

    assert on._cpu is not None
    asked: dict[str, Any] = {"definition": (_logging.MACRO,), "target": (_logging.target(),)} if logging else {}
    try:
        made = compiler.compile(text, *folder_of(store), **asked, fast_math=fast_math, checked=checked, timeout=timeout, cpu_effort=effort, cpu_level=[on._cpu.level])
    except CompileError as error:
        raise ShaderSyntaxError(_logging.advice(error.message, logging), error.code, error.subject) from None
    return cpu.load(on._cpu, made.package, memoryview(made.package), as_upstream=as_upstream, trust="any", checked=checked, allow_empty=True)


def _several(names: Any) -> tuple[str, ...]:
    return (os.fspath(names),) if isinstance(names, (str, os.PathLike)) else tuple(os.fspath(one) for one in names)


def _source(source: Any, index: int) -> tuple[str, bytes]:
    if isinstance(source, (bytes, bytearray, memoryview)):
        return f"source {index}", bytes(source)
    like_path = isinstance(source, str) and len(source) < 4096 and not any(c in source for c in "{};%@=\n")
    if isinstance(source, str) and ("\n" in source or (not os.path.exists(source) and not like_path)):
        return f"source {index}", source.encode()
    if isinstance(source, (str, os.PathLike)):
        return os.fspath(source), read_file(source, "compile")
    fail("source_type", f"compile: want IR or MSL as text or bytes, or a path; got {type(source).__name__}")


def _metadata(metadata: object) -> str:
    if metadata is None:
        return ""
    if isinstance(metadata, Mapping):
        return json.dumps(dict(metadata))
    if isinstance(metadata, bytes):
        return metadata.decode()
    if isinstance(metadata, str) and metadata.lstrip().startswith("{"):
        return metadata
    if isinstance(metadata, (str, os.PathLike)):
        return read_file(metadata, "compile").decode()
    fail("invalid_argument", f"metadata: want a dict, JSON text or a path, got {type(metadata).__name__}")


def compile(
    source: Any, targets: str | Sequence[str] | None = None, cpu: Any = True, metadata: object = None, threadgroup_memory: int | None = None,
    threads_per_threadgroup: int | None = None, fast_math: bool = False, progress: Any = None, *, kernels: Any = (), functions: Any = (),
    include_folders: Any = (), definitions: Any = (), language: Any = None, debug_lines: bool = False, pack_scalars: bool = False,
    no_overlap: bool = False, relaxed_atomics: bool = False, cpu_only: bool = False, checked: bool | str = False, name: str = "", version: str = "",
    store: StoreLike = None, timeout: float | None = None, max_memory: int | None = None, sandbox: str | None = None,
    cpu_effort: str | None = None, filename: str | Sequence[str] | None = None, logging: bool = False,
) -> Package:  # fmt: skip
    """With libsmelt-compiler beside this package as with compiled modules. Else a package that was compiled elsewhere for the same request,
    without CPU code (cpu=False), or a CacheMissError that says how it gets there."""
    check_kinds("a str", name=name, version=version, sandbox=sandbox, cpu_effort=cpu_effort)
    check_kinds("a number", timeout=timeout)
    check_kinds("a whole number", threadgroup_memory=threadgroup_memory, threads_per_threadgroup=threads_per_threadgroup, max_memory=max_memory)
    check_kinds("a sequence of str", targets=targets, kernels=kernels, functions=functions, include_folders=include_folders)
    native = bool(native_library(COMPILER))
    checks = checks_of(checked)
    if not native and (cpu or cpu_only or checks):
        left("compile: CPU code (cpu=False asks for Metal libraries alone)")
    single = isinstance(source, (str, bytes, bytearray, memoryview, os.PathLike))
    sources = [_source(one, index) for index, one in enumerate([source] if single or not isinstance(source, Sequence) else source)]
    if filename is not None:
        names = [filename] if isinstance(filename, str) else list(filename)
        if len(names) != len(sources):
            fail("invalid_argument", f"filename: {len(names)} names for {len(sources)} sources; want one for each")
        sources = [(new, data) for new, (_, data) in zip(names, sources)]
    if targets is None:
        targets = [os.environ["SMELT_TARGET"]] if os.environ.get("SMELT_TARGET") else []
    defined = tuple(f"{n}={v}" for n, v in definitions.items()) if isinstance(definitions, Mapping) else _several(definitions)
    if logging:
        defined += (_logging.MACRO,)
    flags = {"debug_lines": debug_lines, "pack_scalars": pack_scalars, "no_overlap": no_overlap, "relaxed_atomics": relaxed_atomics}
    if native:
        from . import compiler

        levels = [] if isinstance(cpu, bool) or cpu == "required" else list(_several(cpu))
        made = compiler.compile(
            sources, *folder_of(store), progress=progress, target=_several(targets), cpu_level=levels, cpu=bool(cpu), metadata=_metadata(metadata),
            threadgroup_memory=threadgroup_memory, threads_per_threadgroup=threads_per_threadgroup, fast_math=fast_math, kernel=_several(kernels),
            function=_several(functions), include_folder=_several(include_folders),
            definition=defined,
            language=metal_version(language, "language"), flags={**flags, "cpu_only": cpu_only}, checked=checks, name=name, version=version, timeout=timeout, max_memory=max_memory, sandbox=sandbox, cpu_effort=cpu_effort,
        )  # fmt: skip
        package = Package(made.package, Made(made.key, made.seconds, made.hit, (made.kernels_kept, made.kernels), tuple(made.warnings)))
        missing = [f"{function}: {reason}" for one in package.slices if one["target"].startswith("cpu-") for function, reason in one["missing"]]
        if cpu == "required" and missing:
            fail("unsupported", f"compile: cpu=\"required\": {missing[0]}" + (f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""))
        return package
    wanted = keys.Options(
        targets=_several(targets), fast_math=fast_math, metadata=_metadata(metadata), threadgroup_memory=threadgroup_memory,
        threads_per_threadgroup=threads_per_threadgroup, kernels=_several(kernels), functions=_several(functions),
        include_folders=_several(include_folders),
        definitions=defined,
        language=metal_version(language, "language"), **flags, name=name, version=version,
    )  # fmt: skip
    found = _look(sources, wanted, store)
    if found is None:
        _miss("compile", sources, wanted, store)
    return found
