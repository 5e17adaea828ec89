# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The edition "reader", which needs only the standard library of Python 3.9 or newer. It reads smelt's file formats (docs/formats), finds
results that were compiled elsewhere, and passes Metal libraries to PyTorch or PyObjC on a Mac. It compiles nothing and runs no CPU code.
docs/guide/mac.md."""
