# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `import smelt` gives where there are no compiled modules: the same names, meaning the same, as far as there are any here.
docs/reference/python.md#without-compiled-modules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn

from .._entries import EntryFacts as EntryFacts
from .._entries import Key as Key
from .._entries import Tag as Tag
from .device import Device as Device
from .device import device as device
from .device import left
from .entries import Entry as Entry
from .entries import Store as Store
from .library import Library as Library
from .library import function_info as function_info
from .library import info as info
from .load import Package as Package
from .load import load_any as _load  # noqa: F401  as smelt._load has it, for smelt.compat.torch
from .load import load_metallib as load_metallib
from .load import open as open
from .request import compile as compile
from .request import compile_shader as compile_shader
from .store import compare_versions as compare_versions


def specialize(library: Library, name: str, constants: Mapping[Any, Any]) -> NoReturn:
    left("specialize: a value for a function constant, which torch's loader does not take,")


def prepare(library: Library, names: Iterable[str] | None = None, progress: Any = None) -> NoReturn:
    left("prepare: building pipelines before they are used, which torch's loader does not do,")


class Buffer:
    """Memory by its address, which torch's loader does not take."""

    def __init__(self, *_: Any, **__: Any) -> None:
        left("smelt.Buffer")


class Kernel:
    """Kernels are those of PyTorch or PyObjC here."""

    def __init__(self, *_: Any, **__: Any) -> None:
        left("smelt.Kernel")


def pack(packages: Sequence[Package]) -> NoReturn:
    left("pack: writing packages")
