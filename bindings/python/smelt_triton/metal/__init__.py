# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Triton's back end for smelt's own device."""
