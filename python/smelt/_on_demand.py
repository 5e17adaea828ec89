# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CPU code of Metal libraries, kernel by kernel when one is first read: out of the store, else compiled fast. For
kernels that run often one thread makes better code in the background. docs/reference/python.md#on-demand."""

from __future__ import annotations

import atexit
import os
import sys
import time
from _thread import allocate_lock, start_new_thread

from . import _session
from .errors import StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from . import _loader

    Bytes = bytes | memoryview


def stored(
    file: Bytes, level: str, checked: bool, efforts: tuple[str, ...], store: _session.StoreLike
) -> tuple[memoryview, str] | None:
    """What the store has for the CPU, found without the compiler: of the first effort that it has."""
    if store is False:
        return None
    from . import _store

    try:
        found = _session.store(store).get_all(_store.cpu_code_key(file, level, checked, effort) for effort in efforts)
    except (StoreError, OSError):
        return None  # the compiler's session says what is wrong with the store, and works without it
    for entry, effort in zip(found, efforts):
        if entry is not None and "library.smelt" in entry:
            return entry.view("library.smelt"), effort
    return None


class OnDemand:
    """What the loader asks for the code of a library's kernels (python/src/code_source.hpp). Any thread."""

    def __init__(
        self,
        level: str,
        checked: bool,
        store: _session.StoreLike,
        effort: str | None,
        package: Callable[[str], memoryview],
        sandbox: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """effort: exactly this, for good; None: fast at first. package(effort): all of the library, compiled now."""
        self._level = level
        self._checked = checked
        self._store = store
        self._effort = effort
        self._package = package
        self._sandbox = sandbox
        self._timeout = timeout

    def code(self, name: str, metallib: memoryview) -> tuple[memoryview, str, bool]:
        efforts = (self._effort,) if self._effort else ("balanced", "fast")
        found = stored(metallib, self._level, self._checked, efforts, self._store)
        if found is not None:
            code, effort = found
        else:
            effort = efforts[-1]
            code = self._compile(name, metallib, effort, False)
        return code, effort, self._effort is None and effort == "fast" and _replaces()

    def better(self, pipeline: _loader.RunningPipeline, name: str, metallib: memoryview) -> None:
        _later(self, pipeline, name, metallib)

    def package(self) -> memoryview:
        return self._package(self._effort or "balanced")

    def improve(self, pipeline: _loader.RunningPipeline, name: str, metallib: memoryview) -> None:
        pipeline.replace(self._compile(name, metallib, "balanced", True), "balanced")

    def _compile(self, name: str, metallib: memoryview, effort: str, background: bool) -> memoryview:
        session = _session.session(self._store)
        return session.cpu_code(
            metallib, name, self._level, self._checked, effort,
            sandbox=self._sandbox, timeout=self._timeout, background=background,
        ).view()  # fmt: skip


def _replaces() -> bool:
    return os.environ.get("SMELT_CPU_REPLACE", "") != "0" and os.environ.get("SMELT_OFFLINE", "") in ("", "0")


# The thread that makes better code. It lives while there is something to do.
_lock = allocate_lock()
_waiting: list[tuple[OnDemand, _loader.RunningPipeline, str, memoryview]] = []
_works = allocate_lock()  # held while the thread lives
_alive = False
_ends = False


def _later(source: OnDemand, pipeline: _loader.RunningPipeline, name: str, metallib: memoryview) -> None:
    global _alive
    with _lock:
        if _ends:
            return
        _waiting.append((source, pipeline, name, metallib))
        if _alive:
            return
        _alive = True
    try:
        start_new_thread(_work, ())
    except RuntimeError:  # no thread to be had: the next kernel that runs often asks again
        with _lock:
            _alive = False


def _work() -> None:
    global _alive
    with _works:
        while True:
            with _lock:
                if _ends or not _waiting:
                    _alive = False
                    return
                source, pipeline, name, metallib = _waiting.pop(0)
            try:
                source.improve(pipeline, name, metallib)
            except BaseException as error:  # noqa: BLE001  nobody waits for this: the kernel keeps its code
                pipeline.stays(str(error))
                if os.environ.get("SMELT_LOG") in ("debug", "info"):
                    print(f"smelt: kernel '{name}' keeps its first code: {error}", file=sys.stderr)
            del source, pipeline, metallib


def _end() -> None:
    """Nothing of the compiler may run when the interpreter goes down."""
    global _ends
    with _lock:
        _ends = True
        _waiting.clear()
        alive = _alive
    if not alive:
        return
    compiler = sys.modules.get("smelt._compiler")
    if compiler is not None:
        compiler.end_background()
    while True:  # until the thread has seen it, which may not have begun
        with _works, _lock:
            if not _alive:
                return
        time.sleep(0.001)


def _after_fork() -> None:
    # The thread is the parent's; so is what it was about to do.
    global _lock, _works, _alive
    _lock = allocate_lock()
    _works = allocate_lock()
    _alive = False
    _left_behind.append(list(_waiting))
    _waiting.clear()


_left_behind: list[object] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
atexit.register(_end)
