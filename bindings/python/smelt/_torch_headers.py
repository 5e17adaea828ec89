# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds PyTorch's headers for Metal, <c10/metal/...>, in the installed torch, without importing it."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_MARK = b"c10/metal/"


def include_folders() -> list[str]:
    """The folder of the installed torch that holds c10/metal, or none."""
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
    """Return the folders that these sources need besides `folders`: none if no source names the headers."""
    if not any(b"\0" not in bytes(source[:64]) and _MARK in bytes(source) for source in sources):
        return []
    if any(os.path.isdir(os.path.join(folder, "c10", "metal")) for folder in folders):
        return []
    return include_folders()
