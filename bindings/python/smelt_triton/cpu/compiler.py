# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One class, which Triton looks for by its base."""

from __future__ import annotations

import smelt_triton

Backend = smelt_triton.load(
    "smelt.compat.triton_cpu.compiler", "CpuBackend", "triton.backends.compiler", "BaseBackend", "supports_target"
)
