# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gets the CPU code of a Metal library's kernels, each when it is first read: from the store, else compiled fast. For
kernels that run often, a background thread compiles better code. docs/reference/python.md#on-demand."""

from __future__ import annotations

import atexit
import os
import sys

from . import _loader, _session
from .errors import CancelledError, StoreError, TrustError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Bytes = bytes | memoryview


def stored(
    file: Bytes, level: str, checked: int, efforts: tuple[str, ...], store: _session.StoreLike
) -> tuple[memoryview, str] | None:
    """Find a kernel's CPU code in the store, without the compiler: the first of these efforts that the store has."""
    if store is False or not _session.store_folder(store):
        return None
    from . import _store

    try:
        found = _session.store(store).get_all(_store.cpu_code_key(file, level, checked, effort) for effort in efforts)
    except (StoreError, TrustError, OSError):
        return None  # the compiler's session says what is wrong with the store, and works without it
    for entry, effort in zip(found, efforts):
        if entry is not None and "library.smelt" in entry:
            return entry.view("library.smelt"), effort
    return None


class OnDemand:
    """Provides the loader with code for a library's kernels, on any thread (bindings/python/src/code_source.hpp)."""

    def __init__(
        self,
        level: str,
        checked: int,
        store: _session.StoreLike,
        effort: str | None,
        package: Callable[[str], memoryview],
        sandbox: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Set up for a library. With ``effort``, all code has this effort; None is fast code at first. ``package(effort)``
        compiles the whole library."""
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
        better = self._effort is None and effort == "fast" and _replaces()
        if better:
            _tell_of_first_code(name)
        return code, effort, better

    def package(self) -> memoryview:
        return self._package(self._effort or "balanced")

    def improve(self, pipeline: _loader.RunningPipeline, name: str, metallib: memoryview) -> None:
        """Compile better code for a kernel, on the background thread. Errors are logged, not raised."""
        pipeline.replace(self._compile(name, metallib, "balanced", True), "balanced")

    def _compile(self, name: str, metallib: memoryview, effort: str, background: bool) -> memoryview:
        session = _session.session(self._store)  # which may have to import the compiler
        if background and _ends:
            raise CancelledError("the interpreter ends")
        return session.cpu_code(
            metallib, name, self._level, self._checked, effort,
            # In a child, whoever made the library: that can be ended at once when the program ends.
            sandbox=None if background else self._sandbox, timeout=self._timeout, background=background,
        ).view()  # fmt: skip


def _tell_of_first_code(name: str) -> None:
    """Log once per process that the first calls run fast code, which a benchmark would measure."""
    global _told
    if not _told and os.environ.get("SMELT_LOG") in ("info", "debug"):
        _told = True
        print(
            f"smelt: kernel {name!r} begins with code that was made fast; better code takes its place when it has run "
            'for about as long as that takes to make. cpu_effort="balanced" (SMELT_CPU_EFFORT) makes it first: measure with that',
            file=sys.stderr,
        )


_told = False


def _replaces() -> bool:
    return os.environ.get("SMELT_CPU_REPLACE", "") != "0" and os.environ.get("SMELT_OFFLINE", "") in ("", "0")


_ends = False


def _end() -> None:
    """Stop the background thread, because the compiler must not run while the interpreter shuts down."""
    global _ends
    _ends = True
    compiler = sys.modules.get("smelt._compiler")
    if compiler is not None:
        compiler.end_background()
    _loader.end_improving()


atexit.register(_end)
