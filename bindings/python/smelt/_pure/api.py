# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `import smelt` gives where there are no compiled modules: the same names, meaning the same, as far as there are any here.
docs/reference/python.md#without-compiled-modules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from .._entries import EntryFacts as EntryFacts
from .._entries import Key as Key
from .._entries import Tag as Tag
from .._request import compile as compile
from .device import Device as Device
from .device import device as device
from .device import left
from .entries import Entry as Entry
from .entries import Store as Store
from .files import LOADER, native_library
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


def __getattr__(name: str) -> Any:
    """What stands on ctypes, which only those load who use it."""
    if name not in ("Buffer", "Kernel", "Sampler", "Texture"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if not native_library(LOADER):
        return type(name, (), {"__init__": lambda *_, **__: left(f"smelt.{name}"), "__doc__": "Of kernels on the CPU, which this copy does not run."})
    from . import cpu, memory, textures

    return {"Buffer": memory.Buffer, "Kernel": cpu.Kernel, "Sampler": textures.Sampler, "Texture": textures.Texture}[name]


def pack(packages: Sequence[Package]) -> NoReturn:
    left("pack: writing packages")
