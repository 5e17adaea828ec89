# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Facts about libraries and functions, as smelt.info and smelt.function_info give them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class FunctionInfo:
    name: str
    kind: str
    metal_version: str
    usable: bool
    reason: str


@dataclass(frozen=True)
class LibraryInfo:
    """What is known of a loaded library. slices: one dict each, with target, chosen, code and line."""

    name: str
    functions: tuple[str, ...]
    target: str
    digest: str
    device: str
    slices: tuple[dict[str, Any], ...]
    slice_report: str
    has_reflection: bool
