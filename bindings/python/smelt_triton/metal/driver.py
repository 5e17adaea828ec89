# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One class, which Triton looks for by its base."""

from __future__ import annotations

import smelt_triton

Driver = smelt_triton.load(
    "smelt.compat.triton_backend.driver", "SmeltDriver", "triton.backends.driver", "DriverBase", "is_active"
)
