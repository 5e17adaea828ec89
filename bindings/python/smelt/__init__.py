# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""smelt compiles kernels ahead of time, from LLVM IR or Metal source to Metal libraries and CPU code. It keeps the results in
a content-addressed store and loads them as kernels that you call by name. On a Mac they run on Metal, elsewhere on the CPU.

    lib = smelt.load_metallib("kernels.metallib")
    lib.saxpy(x, y, 2.0, threads=n)

Reference: docs/reference/python.md and docs/reference/errors.md. The store and the compiler are loaded at first use, so a
process that only loads packages and calls kernels has neither SQLite nor LLVM in it.
"""

import os

edition: str = "reader" if os.environ.get("SMELT_PURE", "0") not in ("", "0") else "native"
"""The edition of smelt that this process uses. "native" has compiled modules, which compile and run kernels. "reader" is pure Python; it reads packages
and stores, and passes Metal libraries to PyTorch on a Mac (docs/guide/mac.md). SMELT_PURE=1 selects it."""

if edition == "native":
    try:
        from . import _loader
    except ImportError as _missing:
        from ._installed import built_for, why_not_here

        if built_for():  # it has modules, and none that this Python loads
            raise ImportError(why_not_here(_missing)) from None
        edition = "reader"

# What type checkers take for true, without an import of typing. Types that only they know stand in quotes in the modules of
# a first load, since `from __future__ import annotations` is an import too.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import errors
    from ._load import compile_shader, function_info, info, load_metallib, prepare, specialize
    from ._loader import Buffer, Device, Kernel, Library, Sampler, Texture
    from ._package import Package, open, pack
    from ._padded import padded
    from ._request import compile
    from .errors import *
    from .store import Entry, Key, Store

    Artifact = Package

__version__: str
if edition == "reader":
    from ._pure.keys import version as __version__
else:
    __version__ = _loader.version

_OF_MODULES = {
    "_load": "load_metallib compile_shader info function_info specialize prepare",
    "_package": "Package Artifact open pack",
    "_request": "compile",
    "_padded": "padded",
    "_loader": "Buffer Device Kernel Library Sampler Texture",
    "store": "Entry Key Store",
}
_LATER = {name: "_pure.api" if edition == "reader" else module for module, names in _OF_MODULES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    module = _LATER.get(name)
    if edition == "reader" and name in ("_loader", "_store", "_remote", "_compiler"):
        from ._installed import why_reader

        raise ImportError(f"smelt.{name} is a compiled module. {why_reader()}")
    if name == "errors":
        return __import__("errors", globals(), None, ("Error",), 1)  # which makes it an attribute
    if module is None:
        raise AttributeError(f"module 'smelt' has no attribute {name!r}")
    value: object = getattr(
        __import__(module, globals(), None, (name,), 1), "Package" if name == "Artifact" else name
    )
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})


__all__ = [
    "Artifact",
    "ArgumentError",
    "ArgumentWarning",
    "BoundsError",
    "Buffer",
    "CacheMissError",
    "CancelledError",
    "CheckError",
    "CompileError",
    "CompileWarning",
    "ConstantError",
    "Device",
    "DeviceError",
    "DivergenceError",
    "Entry",
    "Error",
    "FunctionKindError",
    "FunctionNotFoundError",
    "GroupSizeError",
    "GroupZeroError",
    "IntegrityError",
    "InvalidLibraryError",
    "Kernel",
    "KernelReportedError",
    "Key",
    "Library",
    "LibraryIOError",
    "LibraryNotFoundError",
    "OutOfMemoryError",
    "Package",
    "PipelineError",
    "RaceError",
    "ResourceError",
    "Sampler",
    "ShaderSyntaxError",
    "SourceTypeError",
    "Store",
    "StoreError",
    "Texture",
    "ToolchainError",
    "TrustError",
    "UnsupportedError",
    "UnsupportedTargetError",
    "UnwrittenError",
    "compile",
    "compile_shader",
    "edition",
    "function_info",
    "info",
    "load_metallib",
    "open",
    "pack",
    "padded",
    "prepare",
    "specialize",
]

# Thirty classes take a fifth of what importing smelt takes, and most programs see none.
_LATER |= dict.fromkeys((name for name in __all__ if name.endswith(("Error", "Warning"))), "errors")
