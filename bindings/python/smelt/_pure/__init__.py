# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The edition "reader": the standard library of Python 3.9 and newer alone. It reads what smelt writes (docs/formats), finds what
was compiled elsewhere, and gives Metal libraries to whatever loads them on a Mac. It compiles nothing, and runs no CPU code.
docs/guide/mac.md."""
