#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of mpp::tensor_ops as CPU code against OpenBLAS's sgemm, one thread.

    tensors.py --smelt build/release/bin/smelt [--seconds 2]

A tile of 128 x 64 by four SIMD-groups, of half and of float; the right operand transposed or not; the destination a tensor,
or held by threads over steps of 64. The rivals take turns and the fastest counts, of processor time, so that a busy machine
changes little. Results are compared first. OpenBLAS multiplies floats in every row: it has no halves.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from processes import record  # noqa: E402

SKIPPED = 77
SIZE = 512
SOURCE = """
#include <metal_stdlib>
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;
using namespace mpp::tensor_ops;

template <class T, bool TURNED> void whole(device T* a, device T* b, device float* c, int n, uint2 tile) {
  auto A = tensor(a, dextents<int, 2>(n, n)).slice(0, tile.y * 128);
  auto B = tensor(b, dextents<int, 2>(n, n)).slice(TURNED ? 0 : tile.x * 64, TURNED ? tile.x * 64 : 0);
  auto C = tensor(c, dextents<int, 2>(n, n)).slice(tile.x * 64, tile.y * 128);
  constexpr auto shape = matmul2d_descriptor(128, 64, int(dynamic_extent), false, TURNED);
  matmul2d<shape, execution_simdgroups<4>> op;
  op.run(A, B, C);
}
template <class T, bool TURNED> void stepped(device T* a, device T* b, device float* c, int n, uint2 tile) {
  constexpr auto shape = matmul2d_descriptor(128, 64, 64, false, TURNED, false,
                                             matmul2d_descriptor::mode::multiply_accumulate);
  matmul2d<shape, execution_simdgroups<4>> op;
  auto A = tensor(a, dextents<int, 2>(n, n)); auto B = tensor(b, dextents<int, 2>(n, n));
  auto held = op.template get_destination_cooperative_tensor<decltype(A), decltype(B), float>();
  for (int k = 0; k < n; k += 64) {
    auto l = A.slice(k, tile.y * 128);
    auto r = B.slice(TURNED ? k : tile.x * 64, TURNED ? tile.x * 64 : k);
    op.run(l, r, held);
  }
  held.store(tensor(c, dextents<int, 2>(n, n)).slice(tile.x * 64, tile.y * 128));
}
#define PRODUCT(name, way, T, turned)                                                                              \\
  kernel void name(device T* a, device T* b, device float* c, constant int& n,                                     \\
                   uint2 tile [[threadgroup_position_in_grid]]) { way<T, turned>(a, b, c, n, tile); }
PRODUCT(whole_f16, whole, half, false) PRODUCT(whole_f16_turned, whole, half, true)
PRODUCT(whole_f32, whole, float, false) PRODUCT(whole_f32_turned, whole, float, true)
PRODUCT(stepped_f16, stepped, half, false) PRODUCT(stepped_f16_turned, stepped, half, true)
PRODUCT(stepped_f32, stepped, float, false) PRODUCT(stepped_f32_turned, stepped, float, true)
"""


def open_blas() -> Any:
    import ctypes

    try:
        library = ctypes.CDLL("libopenblas.so.0")
    except OSError:
        return None
    library.openblas_set_num_threads(1)
    return library.cblas_sgemm


def measure(folder: pathlib.Path, seconds: float) -> int:
    import ctypes

    import numpy as np
    import smelt

    sgemm = open_blas()
    if sgemm is None:
        print("libopenblas.so.0 is not there")
        return SKIPPED
    library = smelt.load_metallib(folder / "tensors.smelt", device=smelt.Device("cpu", threads=1))
    random = np.random.default_rng(1)
    wide = [random.standard_normal((SIZE, SIZE), dtype=np.float32).astype(np.float16).astype(np.float32) for _ in range(2)]
    ours, theirs = np.zeros((SIZE, SIZE), np.float32), np.zeros((SIZE, SIZE), np.float32)
    row_major, as_is, turned_over = 101, 111, 112
    one, zero = ctypes.c_float(1), ctypes.c_float(0)
    pointers = [x.ctypes.data_as(ctypes.c_void_p) for x in (*wide, theirs)]
    print(f"products of {SIZE} x {SIZE} x {SIZE}, tiles of 128 x 64, one thread, fastest, us of processor time")
    print(f"{'':20} {'smelt':>10} {'OpenBLAS':>10}  of its speed")
    for way in ("whole", "stepped"):
        for kind, dtype in (("f16", np.float16), ("f32", np.float32)):
            a, b = (x.astype(dtype) for x in wide)
            for turned in ("", "_turned"):
                kernel = getattr(library, f"{way}_{kind}{turned}")
                right = turned_over if turned else as_is
                ways = [
                    lambda k=kernel, a=a, b=b: k(a, b, ours, SIZE, threads=(SIZE // 64 * 128, SIZE // 128), group_size=(128, 1)),
                    lambda right=right: sgemm(row_major, as_is, right, SIZE, SIZE, SIZE, one, pointers[0], SIZE, pointers[1],
                                              SIZE, zero, pointers[2], SIZE),
                ]  # fmt: skip
                for one_way in ways:
                    one_way()
                apart = np.abs(ours - theirs).max() / np.abs(theirs).max()
                if not apart < 1e-5:
                    print(f"{way}_{kind}{turned}: RESULTS DIFFER by {apart:.1e}")
                least = [float("inf")] * 2
                end = time.monotonic() + seconds
                while time.monotonic() < end:
                    for i, one_way in enumerate(ways):
                        start = time.process_time_ns()
                        one_way()
                        least[i] = min(least[i], (time.process_time_ns() - start) / 1e3)
                share = 100 * least[1] / least[0]
                record(f"tensors.{way}_{kind}{turned}", "us", least[0], least[1])
                print(f"{way + '_' + kind + turned:20} {least[0]:10.1f} {least[1]:10.1f}  {share:3.0f} %", flush=True)
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smelt", type=pathlib.Path, required=True)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--measure", type=pathlib.Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        return measure(options.measure, options.seconds)
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        (folder / "tensors.metal").write_text(SOURCE)
        subprocess.run([options.smelt, "compile", folder / "tensors.metal", "--target", "macos26.2", "--no-store", "--require-cpu",
                        "-o", folder / "tensors.smelt"], check=True)  # fmt: skip
        python = options.smelt.resolve().parent.parent / "python"
        environment = {**os.environ, "PYTHONPATH": str(python), "OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, __file__, "--smelt", options.smelt, "--seconds", str(options.seconds), "--measure", folder]
        return subprocess.run(command, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
