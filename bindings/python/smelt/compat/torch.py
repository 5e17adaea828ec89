# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's loader of Metal libraries, under all its names: docs/design/loader.md 1.1.

On a Mac, smelt chooses and checks the slice for this machine, and torch loads it. Elsewhere, kernels run on the CPU and take
CPU tensors or NumPy arrays. The functions behave exactly like PyTorch's, even where smelt.load_metallib accepts more.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .. import edition
from ..errors import ArgumentError, Error, SourceTypeError

if TYPE_CHECKING or edition == "native":
    from .. import _load, _session
    from .._package import Package, open as open_package
    from .._request import compile as compile_package
else:
    from .._pure import api as _load, api as _session
    from .._pure.api import Package, compile as compile_package, open as open_package

__all__ = [
    "_mps_loadMetalLib",
    "_mps_loadMetallib",
    "_mps_loadMetallibFromPath",
    "_mps_loadMetalllib",
    "compile_shader",
    "load_metallib",
    "patch",
]


def load_metallib(source: bytes | bytearray | str | os.PathLike[str]) -> Any:
    """Load a Metal library, like torch.mps.load_metallib.

    Args:
        source: bytes, a bytearray or a path.

    Returns:
        The library, whose attributes are its kernels.

    Raises:
        TypeError: the source has another type.
    """
    if isinstance(source, (bytes, bytearray)):
        return _from_bytes(bytes(source))
    if isinstance(source, (str, os.PathLike)):
        return _from_path(os.fspath(source))
    raise SourceTypeError(f"load_metallib: want bytes, bytearray, str or os.PathLike, got {type(source).__name__}")


def _mps_loadMetalllib(data: bytes) -> Any:
    """Load a Metal library from bytes, like torch._C._mps_loadMetalllib, which PyTorch spells with three l's."""
    if not isinstance(data, bytes):
        raise SourceTypeError(f"_mps_loadMetalllib: want bytes, got {type(data).__name__}")
    return _from_bytes(data)


_mps_loadMetallib = _mps_loadMetalllib
_mps_loadMetalLib = _mps_loadMetalllib


def _mps_loadMetallibFromPath(path: str) -> Any:
    if not isinstance(path, str):
        raise SourceTypeError(f"_mps_loadMetallibFromPath: want str, got {type(path).__name__}")
    return _from_path(path)


# The first system with each version of the language that PyTorch's variable may name; 4.0 with MetalPerformancePrimitives.
_TARGETS = {"3.0": "macos13", "3.1": "macos14", "3.2": "macos15", "4.0": "macos26.2", "4.1": "macos27"}


def _target() -> str | None:
    """Return the target for PYTORCH_MPS_METAL_VERSION, the Metal version of source that torch.mps compiles; None if SMELT_TARGET is set."""
    version = os.environ.get("PYTORCH_MPS_METAL_VERSION")
    if not version or os.environ.get("SMELT_TARGET"):
        return None
    if version not in _TARGETS:
        raise ArgumentError(f"PYTORCH_MPS_METAL_VERSION: want one of {', '.join(_TARGETS)}, got {version!r}")
    return _TARGETS[version]


def compile_shader(source: str) -> Any:
    """Compile Metal source, and return its kernels by name, like torch.mps.compile_shader."""
    torch = _torch_with_mps()
    if torch is not None:
        return _upstream(torch, "compile_shader")(source)
    return _load.compile_shader(source, target=_target(), _as_upstream=True)


def compile_shader_from_store(source: str) -> Any:
    """Compile Metal source like torch._C._mps_compileShader, but let torch load a Metal library that smelt compiled or found in
    its store.

    torch's own compiler handles source that smelt cannot compile, and reports its errors; before PyTorch 2.12, which cannot
    load a library, it compiles all source. On other systems than macOS, this is compile_shader.
    """
    torch = _torch_with_mps()
    if torch is None:
        return _load.compile_shader(source, target=_target(), _as_upstream=True)
    if hasattr(torch._C, "_mps_loadMetalllib"):
        try:
            package = compile_package(source, targets=_target() or _session.device().target, cpu=False)
            return _upstream(torch, "_mps_loadMetalllib")(package.metallib())
        except (Error, RuntimeError):
            pass  # the text, the target, a library that this system does not take: torch's own compiler knows better
    return _upstream(torch, "_mps_compileShader")(source)


def _from_bytes(data: bytes) -> Any:
    torch = _torch_with_mps()
    if torch is None:
        return _load._load(data, None, True, None, "load_metallib")
    if data[:4] != b"MTLB":
        data = _metallib_for_this_mac(open_package(data))
    _load._load(data, None, True, None, "load_metallib")  # our errors before the system's
    return _upstream(torch, "_mps_loadMetalllib")(data)


def _from_path(path: str) -> Any:
    if _torch_with_mps() is None:
        return _load._load(path, None, True, None, "load_metallib")
    with open(path, "rb") as file:
        return _from_bytes(file.read())


def _metallib_for_this_mac(package: Package) -> bytes:
    chosen = _load.info(package.load()).target
    return package.metallib(chosen)


def _torch_with_mps() -> Any:
    """Return torch if this is a Mac and torch has MPS, else None. On other systems, torch is not imported."""
    if sys.platform != "darwin":
        return None
    try:
        import torch
    except ImportError:
        return None
    return torch if torch.backends.mps.is_available() else None


_originals: dict[str, Any] = {}


def _upstream(torch: Any, name: str) -> Any:
    """Return torch's own function, even while patch() has replaced it."""
    if name in _originals:
        return _originals[name]
    return getattr(torch.mps if name == "compile_shader" else torch._C, name)


@contextmanager
def patch() -> Iterator[None]:
    """Replace torch.mps.load_metallib, torch.mps.compile_shader and the functions of torch._C by smelt's, inside a with block."""
    import torch

    places = [(torch.mps, "load_metallib"), (torch.mps, "compile_shader")]
    places += [(torch._C, name) for name in __all__ if name.startswith("_mps_")]
    missing = object()
    before = [(where, name, getattr(where, name, missing)) for where, name in places]
    _originals.update({name: value for _, name, value in before if value is not missing})
    for where, name in places:
        setattr(where, name, globals()[name])
    try:
        yield
    finally:
        for where, name, value in before:
            if value is missing:
                delattr(where, name)
            else:
                setattr(where, name, value)
        _originals.clear()
