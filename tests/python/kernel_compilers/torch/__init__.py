# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stands in for PyTorch where it is not installed: the two places that smelt.compat.torch.patch() fills, and headers for Metal beside them."""

import types

mps = types.SimpleNamespace()
_C = types.SimpleNamespace()
