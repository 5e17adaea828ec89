#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the checks of --checked cost: ten kernels of 65,536 threads in groups of 256, from Python on one thread.

    checks.py --smelt build/release/bin/smelt [--seconds 0.3] [--checks races,init] [--oclgrind] [PART OF A NAME]

Processor time of the fastest launch, as a multiple of unchecked code; the last line has the geometric means. With
--json one line of JSON follows. Results are compared with those of unchecked code. --oclgrind: beside them, Oclgrind on
the same kernels in OpenCL C (--data-races --uninitialized, on one thread), once, without what it takes to start; the
machine's LLVM compiles them. It has no SIMD groups, so `simd_total` is not there. Exit code 77: NumPy is not there.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from processes import record  # noqa: E402

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

# What differs in OpenCL C; the rest is the same text.
OPENCL = """
#define kernel __kernel
#define device __global
#define threadgroup __local
#define threadgroup_barrier(what) barrier(CLK_LOCAL_MEM_FENCE)
#define atomic_uint uint
#define atomic_fetch_add_explicit(at, by, order) atomic_add(at, by)
"""
OPENCL_IDS = {"thread_position_in_grid": "global_id", "thread_position_in_threadgroup": "local_id", "threadgroup_position_in_grid": "group_id"}


def in_opencl(kernel: str) -> str:
    """One kernel of SOURCE: numbers of the hardware are no parameters there, but what functions give."""
    at = re.search(r"#define AT (.*\n.*)\n", SOURCE)
    found = re.search(rf"kernel void {kernel}\((.*?)\) {{\n.*?\n}}\n", SOURCE, re.S)
    assert at and found
    text = found.group().replace(", AT)", ", " + at.group(1).replace("\\\n", " ") + ")")
    ids = re.findall(r",\s*(uint2?) (\w+) \[\[(\w+)\]\]", text)
    text = re.sub(r",\s*uint2? \w+ \[\[\w+\]\]", "", text)
    body = ""
    for kind, name, what in ids:
        get = f"get_{OPENCL_IDS[what]}"
        body += f"  const {kind} {name} = {f'(uint2)({get}(0), {get}(1))' if kind == 'uint2' else f'{get}(0)'};\n"
    text = re.sub(r"\bint\(", "(int)(", text)
    return OPENCL + "#define WAIT barrier(CLK_LOCAL_MEM_FENCE)\n" + text.replace(") {\n", ") {\n" + body, 1)


def oclgrind(kernel: str) -> float:
    """Microseconds of processor time of one launch."""
    grid, group = KERNELS[kernel]
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        (folder / "k.cl").write_text(in_opencl(kernel))
        buffers = f"<size={THREADS * 4} fill=1 uint>\n" * (3 if kernel == "matmul" else 2)

        def seconds(grid: tuple[int, ...]) -> float:
            sizes = [" ".join(map(str, (*size, 1, 1)[:3])) for size in (grid, group)]
            (folder / "k.sim").write_text(f"k.cl\n{kernel}\n{sizes[0]}\n{sizes[1]}\n{buffers}")
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            done = subprocess.run(
                ["oclgrind-kernel", "--data-races", "--uninitialized", "--num-threads", "1", "k.sim"],
                cwd=folder, capture_output=True, text=True,
            )  # fmt: skip
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            if done.returncode != 0 or "rror" in done.stderr:
                raise RuntimeError(f"Oclgrind, {kernel}: {done.stderr[:300]}")
            return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

        return (seconds(grid) - seconds(group)) * 1e6


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


def measure(part: str, seconds: float, checks: list[str], as_json: bool, with_oclgrind: bool) -> None:
    import numpy as np
    import smelt

    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
    libraries = {"": smelt.compile_shader(SOURCE, cpu_effort="balanced")}
    for one in checks:
        libraries[one] = smelt.compile_shader(SOURCE, checked=True if one == "all" else one, cpu_effort="balanced")
    print(f"{'kernel':12} {'us':>8} " + " ".join(f"{one:>9}" for one in [*checks, *(["Oclgrind"] if with_oclgrind else [])]))
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
        line = f"{kernel:12} {least['']:8.1f} " + " ".join(f"{all_costs[kernel][one]:9.1f}" for one in checks)
        for one in checks:
            record(f"checks.{one}.{kernel}", "us", least[one], least[""])
        if with_oclgrind and kernel != "simd_total":
            took = oclgrind(kernel)
            record(f"checks.oclgrind.{kernel}", "us", took, least[""])
            line += f" {took / least['']:9.0f}"
        print(line, flush=True)
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
    options.add_argument("--oclgrind", action="store_true")
    options.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.measure:
        measure(given.part, given.seconds, given.checks.split(","), given.json, given.oclgrind)
        return 0
    if subprocess.run([sys.executable, "-c", "import numpy"], capture_output=True).returncode != 0:
        print("not measured without NumPy (python3-numpy)")
        return SKIPPED
    if given.oclgrind and shutil.which("oclgrind-kernel") is None:
        print("Oclgrind is not there (oclgrind)")
        return SKIPPED
    python = given.smelt.resolve().parents[1] / "python"
    with tempfile.TemporaryDirectory() as scratch:
        environment = {**os.environ, "PYTHONPATH": str(python), "SMELT_STORE": scratch}
        return subprocess.run([sys.executable, __file__, *sys.argv[1:], "--measure"], env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
