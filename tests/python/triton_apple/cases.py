# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ten kernels as Triton's Apple back end writes them, what they are called with, and what NumPy computes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np


def bits_of_bfloat(values: Any) -> Any:
    """The upper halves of floats, rounded to the nearest even."""
    bits = np.asarray(values, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def floats_of_bfloat(bits: Any) -> Any:
    return (bits.astype(np.uint32) << 16).view(np.float32)


@dataclasses.dataclass(frozen=True)
class Case:
    """`make(random)`: the arguments in the kernel's order (None where the result goes), the result's empty array, and what it is to hold."""

    name: str
    signature: tuple[str, ...]  # Triton's types, of the arguments in Python's order
    warps: int
    grid: tuple[int, int, int]
    make: Callable[[Any], tuple[list[Any], Any, Any]]
    shared: int = 0
    tolerance: float = 1e-5


def _add_scaled(random: Any) -> tuple[list[Any], Any, Any]:
    n = 700
    x, y = random.standard_normal(n).astype(np.float32), random.standard_normal(n).astype(np.float16)
    want = -(np.float32(1.5) * x + y.astype(np.float32)) * np.float32(0.75) + np.float32(0.5) + 7
    return [None, x, y, n, 1.5, True, 0.5, 0.75, 7], np.zeros(n, np.float32), want


def _softmax_rows(random: Any) -> tuple[list[Any], Any, Any]:
    x = random.standard_normal((9, 200)).astype(np.float32)
    e = np.exp(x - x.max(1, keepdims=True))
    return [None, x, 200], np.zeros_like(x), e / e.sum(1, keepdims=True)


def _matmul_relu(random: Any) -> tuple[list[Any], Any, Any]:
    a, b = random.standard_normal((48, 64)).astype(np.float16), random.standard_normal((64, 32)).astype(np.float16)
    bias = random.standard_normal(32).astype(np.float32)
    want = np.maximum(a.astype(np.float32) @ b.astype(np.float32) + bias, 0)
    return [None, a, b, bias, 32, 64], np.zeros((48, 32), np.float16), want


def _layer_norm(random: Any) -> tuple[list[Any], Any, Any]:
    x = bits_of_bfloat(random.standard_normal((5, 256)) * 3 + 1)
    weight = random.standard_normal(256).astype(np.float32)
    v = floats_of_bfloat(x)
    d = v - v.mean(1, keepdims=True)
    want = d / np.sqrt((d * d).mean(1, keepdims=True) + np.float32(1e-5)) * weight
    return [None, x, weight, 256, 1e-5], np.zeros_like(x), want


def _histogram(random: Any) -> tuple[list[Any], Any, Any]:
    x = random.integers(-5, 70, 1900).astype(np.int32)
    return [None, x, 1900], np.zeros(64, np.int32), np.bincount(x[(x >= 0) & (x < 64)], minlength=64)


def _scan_rows(random: Any) -> tuple[list[Any], Any, Any]:
    x = random.integers(-1000, 1000, (6, 128)).astype(np.int32)
    return [None, x], np.zeros((6, 128), np.int64), x.cumsum(1)


def _transpose(random: Any) -> tuple[list[Any], Any, Any]:
    x = random.integers(0, 2**32, (64, 96), np.uint32)
    return [None, x, 64, 96], np.zeros((96, 64), np.uint32), x.T


def _gather_table(random: Any) -> tuple[list[Any], Any, Any]:
    # The driver makes a table of addresses of a list of arrays.
    experts = [random.standard_normal(100).astype(np.float32) for _ in range(4)]
    which = np.int32([2, 0, 3, 3, 1])
    return [None, experts, which, 100, 2.0], np.zeros((5, 100), np.float32), np.stack([experts[i] for i in which]) * 2


def _print_values(random: Any) -> tuple[list[Any], Any, Any]:
    x = np.arange(64, dtype=np.float32)
    return [None, x, 0.5], np.zeros(64, np.float32), x / 2


def _checked_gather(random: Any) -> tuple[list[Any], Any, Any]:
    x, index = random.standard_normal(50).astype(np.float32), random.integers(0, 50, 128)
    return [None, x, index, 50], np.zeros(128, np.float32), x[index]


CASES = (
    Case("add_scaled", ("*fp32", "*fp32", "*fp16", "i32", "fp32", "i1", "fp16", "bf16", "i64"), 4, (3, 1, 1), _add_scaled),
    Case("softmax_rows", ("*fp32", "*fp32", "i32"), 2, (9, 1, 1), _softmax_rows),
    Case("matmul_relu", ("*fp16", "*fp16", "*fp16", "*fp32", "i32", "i32"), 2, (2, 3, 1), _matmul_relu, tolerance=4e-3),
    Case("layer_norm", ("*bf16", "*bf16", "*fp32", "i32", "fp32"), 4, (5, 1, 1), _layer_norm, tolerance=1e-2),
    Case("histogram", ("*i32", "*i32", "i32"), 4, (4, 1, 1), _histogram),
    Case("scan_rows", ("*i64", "*i32"), 4, (6, 1, 1), _scan_rows),
    Case("transpose", ("*u32", "*u32", "i32", "i32"), 4, (3, 2, 1), _transpose, shared=32 * 33 * 4),
    Case("gather_table", ("*fp32", "*i64", "*i32", "i32", "fp32"), 4, (5, 1, 1), _gather_table),
    Case("print_values", ("*fp32", "*fp32", "fp32"), 1, (2, 1, 1), _print_values),
    Case("checked_gather", ("*fp32", "*fp32", "*i64", "i32"), 2, (2, 1, 1), _checked_gather),
)  # fmt: skip
