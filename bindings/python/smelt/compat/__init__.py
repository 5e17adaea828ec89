# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Drop-ins for programs written against PyTorch's loader and Triton's cache. Importable without torch or triton."""
