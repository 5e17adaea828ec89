# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Triton's back end for the device that Inductor calls cpu."""
