# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Facts about libraries and functions, which smelt.info and smelt.function_info return."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._on_demand import OnDemand
    from ._package import Package


@dataclass(frozen=True)
class FunctionInfo:
    """Facts about a function. If it cannot run here, ``usable`` is False and ``reason`` says why."""

    name: str
    kind: str
    metal_version: str
    usable: bool
    reason: str


@dataclass(frozen=True)
class LibraryInfo:
    """Facts about a loaded library. ``slices`` is a list with a dict for each slice: target, chosen, code and line. ``file`` is
    the content of the package or Metal library that it was loaded from, as bytes."""

    name: str
    functions: tuple[str, ...]
    target: str
    digest: str
    device: str
    slices: tuple[dict[str, Any], ...]
    slice_report: str
    has_reflection: bool
    file: memoryview = field(repr=False)
    _code: OnDemand | None = field(repr=False, default=None)

    @property
    def package(self) -> Package:
        """The package that the library was loaded from. For a library from compile_shader, or a plain Metal library on the
        CPU, reading this attribute compiles the CPU code of all kernels. For a plain Metal library on another device, it
        raises InvalidLibraryError."""
        from . import _loader
        from ._package import Package

        if self._code is not None:
            return Package(_loader.Package(self._code.package()))
        return Package(_loader.Package(self.file))
