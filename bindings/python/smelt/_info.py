# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Facts about libraries and functions, as smelt.info and smelt.function_info give them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._on_demand import OnDemand
    from ._package import Package


@dataclass(frozen=True)
class FunctionInfo:
    name: str
    kind: str
    metal_version: str
    usable: bool
    reason: str


@dataclass(frozen=True)
class LibraryInfo:
    """What is known of a loaded library. slices: one dict each, with target, chosen, code and line. file: the bytes that
    it was loaded from, a package or a Metal library."""

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
        """The package that the library was loaded from. Of compile_shader and of a plain Metal library on the CPU: all of
        it with its CPU code, compiled now. Elsewhere InvalidLibraryError when it was a plain Metal library."""
        from . import _loader
        from ._package import Package

        if self._code is not None:
            return Package(_loader.Package(self._code.package()))
        return Package(_loader.Package(self.file))
