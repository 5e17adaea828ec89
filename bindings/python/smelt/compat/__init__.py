# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Drop-in replacements for PyTorch's loader and Triton's cache, and back ends for PyTorch and Triton. You can import them without torch or triton."""
