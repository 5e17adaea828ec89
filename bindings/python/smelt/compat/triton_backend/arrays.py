# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Wraps NumPy arrays as arguments of Triton kernels, which need an address."""

from __future__ import annotations

from typing import Any


class Array:
    """An array with ``data_ptr()``. Kernels use its memory without a copy; keep it until the launch has returned."""

    def __init__(self, array: Any) -> None:
        if not array.flags.writeable:
            raise ValueError("wrap: the array is read-only; kernels may write to what they are given")
        self.array = array
        self.dtype = array.dtype
        self.shape = array.shape
        self.nbytes: int = array.nbytes

    def data_ptr(self) -> int:
        return int(self.array.ctypes.data)

    def element_size(self) -> int:
        return int(self.array.itemsize)

    def stride(self, dimension: int | None = None) -> Any:
        strides = tuple(s // self.array.itemsize for s in self.array.strides)
        return strides if dimension is None else strides[dimension]

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.array if dtype is None else self.array.astype(dtype)


def wrap(array: Any) -> Array:
    """Return the array as an argument of a Triton kernel, without a copy."""
    return Array(array)
