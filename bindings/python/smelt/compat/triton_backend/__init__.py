# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A plug-in back end for stock Triton. Triton compiles to LLVM IR, smelt makes the Metal library, and ``kernel[grid](...)``
runs it on the CPU, or through Metal on a Mac. Triton finds the back end through the entry point ``triton.backends``.

    ttir, ttgir, llir   Triton's own passes, for the AMD target with waves of 32 lanes (docs/formats/triton-amdgcn.md)
    smelt               smelt.compile: a package with the Metal library and CPU code for this machine

If Triton finds no GPU, it uses this back end by default. Otherwise, choose it for the process:

    import smelt.compat.triton_backend as backend
    backend.activate()

Arguments are PyTorch CPU tensors, or objects with ``data_ptr()``, ``dtype`` and ``nbytes``; ``backend.wrap(array)`` makes
such an object from a NumPy array. A launch returns when the kernel has run.

Environment variables:

    SMELT_TARGET             target of the Metal library; default macos14, with SMELT_TRITON_CPU_ONLY macos15
    SMELT_TRITON_ARCH        AMD target for which Triton compiles: gfx1100 (default), gfx1030, gfx1151, gfx1200 or gfx1201
    SMELT_TRITON_CPU_ONLY=1  kernels may use double precision and all 64-bit atomics, which no Apple GPU has; kernels that
                             do run only on the CPU
    SMELT_TRITON=0           Triton does not choose this back end by itself
"""

from __future__ import annotations

from typing import Any

from ... import _loader as _loader  # without compiled modules there is no back end, neither compiler nor driver
from .arrays import Array, wrap


def activate() -> None:
    """Make smelt's driver Triton's active driver in this process."""
    import triton  # type: ignore[import]

    from .driver import SmeltDriver

    triton.runtime.driver.set_active(SmeltDriver())


def __getattr__(name: str) -> Any:
    if name in ("compiler", "driver"):
        from importlib import import_module

        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["Array", "activate", "wrap"]
