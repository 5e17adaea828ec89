# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The driver of the Triton back end, for the device "cpu"."""

from __future__ import annotations

from ..triton_backend import driver as ours


class CpuDriver(ours.SmeltDriver):
    @staticmethod
    def is_active() -> bool:
        return False
