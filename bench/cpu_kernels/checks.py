#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the checks of --checked cost: ten kernels of 65,536 threads in groups of 256, from Python on one thread.

    checks.py --smelt build/release/bin/smelt [--seconds 0.3] [--checks races,init] [PART OF A NAME]

Processor time of the fastest launch, as a multiple of unchecked code; the last line has the geometric means. With
--json one line of JSON follows. Results are compared with those of unchecked code. Exit code 77: NumPy is not there.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from typing import Any

SKIPPED = 77
THREADS, GROUP = 65536, 256

SOURCE = """
#include <metal_stdlib>
using namespace metal;
#define AT uint i [[thread_position_in_grid]], uint t [[thread_position_in_threadgroup]], \\
           uint g [[threadgroup_position_in_grid]]
#define WAIT threadgroup_barrier(mem_flags::mem_threadgroup)

kernel void saxpy(device const float* x, device float* y, uint i [[thread_position_in_grid]]) {
  y[i] = 2.0f * x[i] + y[i];
}

kernel void polynomial(device const float* x, device float* y, uint i [[thread_position_in_grid]]) {
  float sum = 0.0f;
  for (int k = 0; k < 32; ++k) sum = sum * x[i] + 0.5f;
  y[i] = sum;
}

kernel void group_sum(device const float* x, device float* y, AT) {
  threadgroup float part[256];
  part[t] = x[i];
  WAIT;
  for (uint s = 128; s > 0; s /= 2) {
    if (t < s) part[t] += part[t + s];
    WAIT;
  }
  if (t == 0) y[g] = part[0];
}

kernel void simd_total(device const float* x, device float* y, uint i [[thread_position_in_grid]],
                       uint lane [[thread_index_in_simdgroup]]) {
  const float sum = simd_sum(x[i]);
  if (lane == 0) y[i / 32] = sum;
}

kernel void softmax(device const float* x, device float* y, AT) {
  threadgroup float part[256];
  const float own = x[i];
  part[t] = own;
  WAIT;
  for (uint s = 128; s > 0; s /= 2) {
    if (t < s) part[t] = max(part[t], part[t + s]);
    WAIT;
  }
  const float most = part[0];
  WAIT;
  const float power = exp(own - most);
  part[t] = power;
  WAIT;
  for (uint s = 128; s > 0; s /= 2) {
    if (t < s) part[t] += part[t + s];
    WAIT;
  }
  y[i] = power / part[0];
}

kernel void matmul(device const float* a, device const float* b, device float* c,
                   uint2 i [[thread_position_in_grid]], uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float left[16][16], right[16][16];
  float sum = 0.0f;
  for (uint k = 0; k < 256; k += 16) {
    left[t.y][t.x] = a[i.y * 256 + k + t.x];
    right[t.y][t.x] = b[(k + t.y) * 256 + i.x];
    WAIT;
    for (uint j = 0; j < 16; ++j) sum += left[t.y][j] * right[j][t.x];
    WAIT;
  }
  c[i.y * 256 + i.x] = sum;
}

kernel void histogram(device const uint* x, device atomic_uint* y, uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(&y[x[i] & 255], 1u, memory_order_relaxed);
}

kernel void transpose(device const float* x, device float* y, uint2 i [[thread_position_in_grid]],
                      uint2 t [[thread_position_in_threadgroup]], uint2 g [[threadgroup_position_in_grid]]) {
  threadgroup float tile[16][17];
  tile[t.y][t.x] = x[i.y * 256 + i.x];
  WAIT;
  y[(g.x * 16 + t.y) * 256 + g.y * 16 + t.x] = tile[t.x][t.y];
}

kernel void stencil(device const float* x, device float* y, uint2 i [[thread_position_in_grid]]) {
  float sum = 0.0f;
  for (int v = -1; v <= 1; ++v)
    for (int u = -1; u <= 1; ++u)
      sum += x[clamp(int(i.y) + v, 0, 255) * 256 + clamp(int(i.x) + u, 0, 255)];
  y[i.y * 256 + i.x] = sum / 9.0f;
}

kernel void scan(device const float* x, device float* y, AT) {
  threadgroup float part[256];
  part[t] = x[i];
  WAIT;
  for (uint s = 1; s < 256; s *= 2) {
    const float before = t >= s ? part[t - s] : 0.0f;
    WAIT;
    part[t] += before;
    WAIT;
  }
  y[i] = part[t];
}
"""

LINE = (THREADS,), (GROUP,)
PLANE = (256, 256), (16, 16)
KERNELS = {
    "saxpy": LINE, "polynomial": LINE, "group_sum": LINE, "simd_total": LINE, "softmax": LINE, "matmul": PLANE,
    "histogram": LINE, "transpose": PLANE, "stencil": PLANE, "scan": LINE,
}  # fmt: skip


def arrays(np: Any, kernel: str) -> list[Any]:
    random = np.random.default_rng(1)
    if kernel == "histogram":
        return [random.integers(0, 1 << 20, THREADS, dtype=np.uint32), np.zeros(256, np.uint32)]
    made = [random.random(THREADS, dtype=np.float32) for _ in range(2 if kernel == "matmul" else 1)]
    return [*made, np.zeros(THREADS, np.float32)]


def fastest(run: Any, seconds: float) -> float:
    """Microseconds of processor time. Its clock may be coarse: launches are timed by the batch."""
    count, least, end = 1, 1e30, time.monotonic() + seconds
    while True:
        began = time.process_time_ns()
        for _ in range(count):
            run()
        took = time.process_time_ns() - began
        if took < 2e7:
            count *= 2
            continue
        least = min(least, took / 1000 / count)
        if time.monotonic() > end:
            return least


def measure(part: str, seconds: float, checks: list[str], as_json: bool) -> None:
    import numpy as np
    import smelt

    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
    libraries = {"": smelt.compile_shader(SOURCE, cpu_effort="balanced")}
    for one in checks:
        libraries[one] = smelt.compile_shader(SOURCE, checked=True if one == "all" else one, cpu_effort="balanced")
    print(f"{'kernel':12} {'us':>8} " + " ".join(f"{one:>9}" for one in checks))
    all_costs: dict[str, dict[str, float]] = {}
    for kernel, (grid, group) in KERNELS.items():
        if part not in kernel:
            continue
        least, wanted = {}, None
        for one, library in libraries.items():
            given = arrays(np, kernel)
            launch = getattr(library, kernel)

            def run(launch: Any = launch, given: Any = given, grid: Any = grid, group: Any = group) -> None:
                launch(*given, threads=grid, group_size=group)

            run()
            if wanted is None:
                wanted = given[-1].copy()
            elif not np.allclose(wanted, given[-1], rtol=1e-5):
                print(f"{kernel}, {one}: RESULTS DIFFER")
            least[one] = fastest(run, seconds)
        all_costs[kernel] = {one: least[one] / least[""] for one in checks}
        print(f"{kernel:12} {least['']:8.1f} " + " ".join(f"{all_costs[kernel][one]:9.1f}" for one in checks), flush=True)
    means = {one: math.exp(sum(math.log(costs[one]) for costs in all_costs.values()) / len(all_costs)) for one in checks}
    print(f"{'mean':12} {'':8} " + " ".join(f"{means[one]:9.1f}" for one in checks))
    if as_json:
        print(json.dumps({"kernels": all_costs, "means": means}))


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("part", nargs="?", default="")
    options.add_argument("--smelt", type=pathlib.Path, required=True)
    options.add_argument("--seconds", type=float, default=0.3)
    options.add_argument("--checks", default="memory,races,init,sync,all")
    options.add_argument("--json", action="store_true")
    options.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.measure:
        measure(given.part, given.seconds, given.checks.split(","), given.json)
        return 0
    if subprocess.run([sys.executable, "-c", "import numpy"], capture_output=True).returncode != 0:
        print("not measured without NumPy (python3-numpy)")
        return SKIPPED
    python = given.smelt.resolve().parents[1] / "python"
    with tempfile.TemporaryDirectory() as scratch:
        environment = {**os.environ, "PYTHONPATH": str(python), "SMELT_STORE": scratch}
        return subprocess.run([sys.executable, __file__, *sys.argv[1:], "--measure"], env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
