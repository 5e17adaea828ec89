# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A Triton back end as a plug-in: stock Triton compiles, smelt makes the Metal library, and ``kernel[grid](...)`` runs it
on the CPU device here, through Metal on a Mac. No fork: Triton finds it by the entry point ``triton.backends``.

    ttir, ttgir, llir   Triton's own passes, for the AMD target with waves of 32 lanes (docs/formats/triton-amdgcn.md)
    smelt               smelt.compile: a package with the Metal library and CPU code for this machine

If Triton finds no GPU, it uses this back end by itself. Otherwise, choose it for this process:

    import smelt.compat.triton_backend as backend
    backend.activate()

Arguments are PyTorch CPU tensors, or anything with ``data_ptr()``, ``dtype`` and ``nbytes``; ``backend.wrap(array)`` makes
that of a NumPy array. Launches return when the kernel is done.

Environment: SMELT_TARGET (what the Metal library is for; macos14, for the CPU alone macos15), SMELT_TRITON_ARCH (which AMD
target Triton compiles for; gfx1100, gfx1030, gfx1151, gfx1200 or gfx1201), SMELT_TRITON_CPU_ONLY=1 (kernels may compute in
double precision and have all atomics of 64 bits, which no Apple GPU has; those are for the CPU alone), SMELT_TRITON=0 (the
driver never offers itself).
"""

from __future__ import annotations

from typing import Any

from ... import _loader as _loader  # without compiled modules there is no back end, neither compiler nor driver
from .arrays import Array, wrap


def activate() -> None:
    """Triton's active driver in this process is ours from now on."""
    import triton  # type: ignore[import]

    from .driver import SmeltDriver

    triton.runtime.driver.set_active(SmeltDriver())


def __getattr__(name: str) -> Any:
    if name in ("compiler", "driver"):
        from importlib import import_module

        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["Array", "activate", "wrap"]
