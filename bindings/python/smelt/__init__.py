# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""smelt fires kernels ahead of time: LLVM IR or MSL in, Metal libraries and CPU code out, kept in a content-addressed
store, handed back as callable kernels by name. On a Mac they run on Metal, everywhere else on the CPU.

    lib = smelt.load_metallib("kernels.metallib")
    lib.saxpy(x, y, 2.0, threads=n)

Reference: docs/reference/python.md and docs/reference/errors.md. The store and the compiler are loaded at first use: packages are
loaded and called with neither SQLite nor LLVM in the process.
"""

import os

is_pure: bool = os.environ.get("SMELT_PURE", "0") not in ("", "0")
"""Whether there are no compiled modules for this Python, or SMELT_PURE=1: packages are read in Python, and kernels run by libsmelt where
a wheel has brought it, else on a Mac alone (docs/guide/mac.md)."""

if not is_pure:
    try:
        from . import _loader
    except ImportError as _missing:
        from ._installed import built_for, has_library, why_not_here

        if built_for() and not has_library():  # for another Python: what is there is not what was meant
            raise ImportError(why_not_here(_missing)) from None
        is_pure = True

# What type checkers take for true, without an import of typing. Types that only they know stand in quotes in the modules of
# a first load, since `from __future__ import annotations` is an import too.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import errors
    from ._load import compile_shader, function_info, info, load_metallib, prepare, specialize
    from ._loader import Buffer, Device, Kernel, Library, Sampler, Texture
    from ._package import Package, open, pack
    from ._request import compile
    from .errors import (
        ArgumentError,
        ArgumentWarning,
        BoundsError,
        CacheMissError,
        CancelledError,
        CheckError,
        CompileError,
        ConstantError,
        DeviceError,
        DivergenceError,
        Error,
        FunctionKindError,
        FunctionNotFoundError,
        GroupSizeError,
        GroupZeroError,
        IntegrityError,
        InvalidLibraryError,
        KernelReportedError,
        LibraryIOError,
        LibraryNotFoundError,
        OutOfMemoryError,
        PipelineError,
        RaceError,
        ResourceError,
        ShaderSyntaxError,
        SourceTypeError,
        StoreError,
        ToolchainError,
        TrustError,
        UnsupportedError,
        UnsupportedTargetError,
        UnwrittenError,
    )
    from .store import Entry, Key, Store

    Artifact = Package

__version__: str
if is_pure:
    from ._pure.keys import version as __version__
else:
    __version__ = _loader.version

_LATER = {
    "load_metallib": "_load",
    "compile_shader": "_load",
    "info": "_load",
    "function_info": "_load",
    "specialize": "_load",
    "prepare": "_load",
    "Package": "_package",
    "Artifact": "_package",
    "compile": "_request",
    "open": "_package",
    "pack": "_package",
    "Buffer": "_loader",
    "Device": "_loader",
    "Kernel": "_loader",
    "Library": "_loader",
    "Sampler": "_loader",
    "Texture": "_loader",
    "Entry": "store",
    "Key": "store",
    "Store": "store",
}


if is_pure:
    _LATER = dict.fromkeys(_LATER, "_pure.api")


def __getattr__(name: str) -> object:
    module = _LATER.get(name)
    if is_pure and name in ("_loader", "_store", "_remote", "_compiler"):
        raise ImportError(f"smelt.{name} is a compiled module, and this copy of smelt is Python alone (docs/guide/mac.md)")
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
    "function_info",
    "info",
    "is_pure",
    "load_metallib",
    "open",
    "prepare",
    "specialize",
]

# Thirty classes take a fifth of what importing smelt takes, and most programs see none.
_LATER |= dict.fromkeys((name for name in __all__ if name.endswith(("Error", "Warning"))), "errors")
