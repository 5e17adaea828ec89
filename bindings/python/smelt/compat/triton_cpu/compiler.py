# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The compiler for GPUTarget("cpu", ...)."""

from __future__ import annotations

import os

from triton.backends.compiler import GPUTarget  # type: ignore[import]

# The module, not its class: Triton looks for exactly one back end among this module's names.
from ..triton_backend import compiler as ours


class CpuBackend(ours.SmeltBackend):
    cpu_only = True  # type: ignore[assignment]

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        return bool(target.backend == "cpu")

    def __init__(self, target: GPUTarget) -> None:
        super().__init__(GPUTarget("cpu", os.environ.get("SMELT_TRITON_ARCH") or "gfx1100", 32))
