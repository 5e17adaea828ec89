# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds PyTorch's Metal headers, <c10/metal/...>, in the installed torch, without importing torch."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

_MARK = b"c10/metal/"


def include_folders() -> list[str]:
    """Return a list with the folder of the installed torch that contains c10/metal, or an empty list."""
    module = sys.modules.get("torch")
    origin = getattr(module, "__file__", None)
    if not origin:
        import importlib.util

        try:
            found = importlib.util.find_spec("torch")
        except (ImportError, ValueError):  # what stands for torch in sys.modules says nothing of itself
            found = None
        origin = found.origin if found else None
    folder = os.path.join(os.path.dirname(origin), "include") if origin else ""
    return [folder] if os.path.isdir(os.path.join(folder, "c10", "metal")) else []


def wanted_by(sources: Iterable[bytes | memoryview], folders: Iterable[str]) -> list[str]:
    """Return the folders that these sources need in addition to `folders`, or an empty list if no source includes the headers."""
    if not any(b"\0" not in bytes(source[:64]) and _MARK in bytes(source) for source in sources):
        return []
    if any(os.path.isdir(os.path.join(folder, "c10", "metal")) for folder in folders):
        return []
    return include_folders()


def folders_of(source: bytes, folders: Any) -> list[str]:
    """Return the folders that the caller gave, and PyTorch's if the source includes its headers."""
    given = [folders] if isinstance(folders, (str, os.PathLike)) else folders
    if not hasattr(given, "__iter__"):
        from .errors import ArgumentError

        raise ArgumentError(f"include_folders: want paths, got {folders!r}")
    paths = [os.fspath(folder) for folder in given]
    return [*paths, *wanted_by([source], paths)]
