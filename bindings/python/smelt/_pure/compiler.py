# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiling by the C interface, where libsmelt-compiler is beside this package."""

from __future__ import annotations

import ctypes as c
import os
import threading
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Optional

from . import capi
from .files import COMPILER, fail, native_library


class Compiled(NamedTuple):
    package: bytes
    key: str
    hit: bool
    kernels: int
    kernels_kept: int
    seconds: float
    warnings: list[str]


_lock = threading.Lock()
_open: dict[tuple[str, bool, str, str], capi.Handle] = {}


def _warn(_: object, line: bytes) -> None:
    warnings.warn(line.decode(errors="replace"), RuntimeWarning, stacklevel=2)


_WARN = capi.WARN(_warn)


def need() -> None:
    if not native_library(COMPILER):
        from .._installed import how_to_get

        fail("toolchain_missing", f"the compiler of smelt is not here. {how_to_get('compiler')}")


def _compiler(folder: str, use_store: bool) -> tuple[Any, capi.Handle]:
    key = (folder, use_store, os.environ.get("SMELT_OFFLINE", ""), os.environ.get("SMELT_REMOTE", ""))
    with _lock:
        if key not in _open:
            options = capi.CompilerOptions(store=os.fsencode(folder) or None, no_store=not use_store, warn=_WARN)
            calls = capi.compiler()
            _open[key] = capi.Handle(calls, "compiler", lambda out: calls.compiler_open(c.byref(options), out))
        return key, _open[key]


def _run(folder: str, use_store: bool, work: Any) -> Compiled:
    """work(compiler, out) in a thread of its own, so that Ctrl-C ends it."""
    key, handle = _compiler(folder, use_store)
    ended: list[Any] = []

    def run() -> None:
        try:
            ended.append(capi.Handle(capi.compiler(), "compiled", lambda out: work(handle.pointer, out)))
        except BaseException as error:  # for the thread that waits
            ended.append(error)

    thread = threading.Thread(target=run, name="smelt-compile", daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(0.05)
    except BaseException:
        capi.compiler().cancel(handle.pointer)
        with _lock:
            _open.pop(key, None)  # what was cancelled stays so
        raise
    if isinstance(ended[0], BaseException):
        raise ended[0]
    return _read(ended[0])


def _read(compiled: capi.Handle) -> Compiled:
    info = capi.CompiledInfo()
    calls = capi.compiler()
    capi.check(calls.compiled_get_info(compiled.pointer, c.byref(info)))
    said = [capi.text_of(calls.compiled_warning, compiled.pointer, i) for i in range(info.warnings)]
    return Compiled(c.string_at(info.package, info.package_size), bytes(info.key).hex(), bool(info.hit), info.kernels, info.kernels_kept,
                    info.microseconds / 1e6, said)  # fmt: skip


def compile(
    sources: Sequence[tuple[str, bytes]], folder: str, use_store: bool, *, progress: Any = None, language: Optional[tuple[int, int]] = None,
    fast_math: bool = False, checked: int = 0, cpu: bool = True, flags: Mapping[str, bool] = {}, metadata: Optional[str] = None, name: str = "", version: str = "",
    timeout: Optional[float] = None, max_memory: Optional[int] = None, cpu_effort: Optional[str] = None, threadgroup_memory: Optional[int] = None,
    threads_per_threadgroup: Optional[int] = None, sandbox: Optional[str] = None, **lists: Sequence[str],
) -> Compiled:  # fmt: skip
    """flags: of options.def, by their names. lists: target, cpu_level, include_folder, definition, kernel, function."""
    need()
    if timeout is not None and not 0 < timeout <= 4e6:
        fail("invalid_argument", f"timeout: {timeout}; want seconds, more than 0, 4000000 at most")
    thrown: list[BaseException] = []

    def report(_: object, stage: bytes, done: int, total: int) -> int:
        try:
            return 0 if progress(stage.decode(), done, total) is False else 1
        except BaseException as error:  # thrown on where somebody sees it
            thrown.append(error)
            return 0

    members: dict[str, Any] = {}
    for what, values in lists.items():
        members[what + "s"], members[what + "_count"] = capi.texts(values)
    options, _kept = capi.compile_options(
        flags, metadata=(metadata or "").encode() or None, name=name.encode() or None, version=version.encode() or None, language=(c.c_uint16 * 2)(*(language or (0, 0))),
        fast_math=fast_math, checked=checked, no_cpu=not cpu, timeout=timeout or 0.0, memory_bytes=max_memory or 0,
        progress=capi.COMPILE_PROGRESS(report) if progress is not None else capi.NO_PROGRESS, cpu_effort=(cpu_effort or "").encode() or None,
        has_threadgroup_memory=threadgroup_memory is not None, threadgroup_memory=threadgroup_memory or 0,
        threads_per_threadgroup=threads_per_threadgroup or 0, sandbox=(sandbox or "").encode() or None, **members,
    )  # fmt: skip
    table = (capi.Source * len(sources))(*(capi.Source(os.fsencode(one), data, len(data)) for one, data in sources))
    try:
        return _run(folder, use_store, lambda at, out: capi.compiler().compile(at, table, len(sources), options, out))
    finally:
        if thrown:
            raise thrown[0]


def cpu_code(data: bytes, name: str, level: str, checked: int, folder: str, use_store: bool) -> Compiled:
    """A Metal library, or a package whose own CPU code is not to run, with CPU code made from its AIR."""
    need()
    source = capi.Source(os.fsencode(name), data, len(data))
    return _run(folder, use_store, lambda at, out: capi.compiler().compile_cpu_code(at, c.byref(source), level.encode(), checked, out))
