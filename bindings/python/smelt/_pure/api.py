# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The public names of smelt in the edition "reader". They mean the same as in the native
edition; names that need CPU code or the compiler raise UnsupportedError.
docs/reference/python.md#editions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from .._entries import EntryFacts as EntryFacts
from .._entries import Key as Key
from .._entries import Tag as Tag
from .._padded import padded as padded
from .._request import compile as compile
from ..store import Entry as Entry
from .device import Device as Device
from .device import device as device
from .device import left
from .entries import Store as Store
from .library import Library as Library
from .library import function_info as function_info
from .library import info as info
from .library import prepare as prepare
from .library import specialize as specialize
from .load import Package as Package
from .load import load_any as _load  # noqa: F401  as smelt._load has it, for smelt.compat.torch
from .load import load_metallib as load_metallib
from .load import open as open
from .request import compile_shader as compile_shader
from .store import compare_versions as compare_versions


class _OfKernels:
    """Kernels on the CPU use this class; this edition does not run kernels on the CPU."""

    def __init__(self, *_: Any, **__: Any) -> None:
        left(f"smelt.{type(self).__name__}")


Buffer, Kernel, Sampler, Texture = (type(name, (_OfKernels,), {"__doc__": _OfKernels.__doc__}) for name in ("Buffer", "Kernel", "Sampler", "Texture"))


def pack(packages: Sequence[Package]) -> NoReturn:
    left("pack: writing packages")
