#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of stock Triton 3.6 as CPU code against NumPy over its BLAS, and PyTorch where it is installed, on 1 and 2 threads.

    triton.py --smelt build/release/bin/smelt [--seconds 1] [PART OF A NAME]

A process for each number of threads. The rivals take turns, each run by itself, and the fastest counts: of one thread it is
processor time, of two time by the clock. Results are compared first. Products of 16-bit floats are compared with NumPy's of
32-bit ones, as it has no fast ones of 16; what converts them is not counted.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from processes import record  # noqa: E402

SOURCE = pathlib.Path(__file__).resolve().parents[2]
FILES = SOURCE / "tests/data/triton-3.6.0/hip-gfx1100"
TILES = SOURCE / "tests/aot/ir/amdgcn/hip-gfx1100"  # products as Triton's launcher specialises them
SKIPPED = 77


@dataclass
class Case:
    kernel: str
    shape: str
    arguments: list[Any]
    output: int
    grid: tuple[int, ...]
    tolerance: float
    numpy: Callable[[], Any]
    torch: Callable[[Any, list[Any]], Any]  # of the module and the arguments as tensors of floats


def products(np: Any, random: Any) -> list[Case]:
    size, made = 512, []
    for kernel, kind, tolerance in (("matmul_f32", np.float32, 1e-4), ("matmul_f16", np.float16, 2e-3)):
        a, b = (random.standard_normal((size, size), dtype=np.float32).astype(kind) for _ in range(2))
        wide_a, wide_b = a.astype(np.float32), b.astype(np.float32)
        strides = [size, 1, size, 1, size, 1]
        made.append(
            Case(kernel, f"{size} x {size} x {size}", [a, b, np.zeros((size, size), kind), size, size, size, *strides], 2,
                 (size // 32, size // 32), tolerance, lambda x=wide_a, y=wide_b: x @ y,
                 lambda torch, t: torch.matmul(t[0], t[1]))
        )  # fmt: skip
        made.append(replace(made[-1], kernel=kernel + "_tiles", arguments=made[-1].arguments[:6], grid=(size // 64, size // 64)))
    return made


def file_of(kernel: str) -> pathlib.Path:
    return (TILES if kernel.endswith("_tiles") else FILES) / f"{kernel}.llir"


def cases(np: Any) -> list[Case]:
    random = np.random.default_rng(1)
    made = products(np, random)

    def softmax(x: Any) -> Any:
        e = np.exp(x - x.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    rows, width = 512, 1024
    x = random.standard_normal((rows, width), dtype=np.float32)
    made.append(
        Case("softmax_row", f"{rows} rows of {width}", [x, np.zeros_like(x), width, width], 1, (rows,), 1e-5,
             lambda: softmax(x), lambda torch, t: torch.softmax(t[0], -1))
    )  # fmt: skip
    width = 4096
    y = random.standard_normal((rows, width), dtype=np.float32)
    w, b = (random.standard_normal(width, dtype=np.float32) for _ in range(2))

    def layer_norm() -> Any:
        mean = y.mean(-1, keepdims=True)
        centred = y - mean
        return centred / np.sqrt((centred * centred).mean(-1, keepdims=True) + np.float32(1e-5)) * w + b

    made.append(
        Case("layer_norm", f"{rows} rows of {width}", [y, w, b, np.zeros_like(y), width, width, 1e-5], 3, (rows,), 1e-4,
             layer_norm, lambda torch, t: torch.nn.functional.layer_norm(t[0], (width,), t[1], t[2], 1e-5))
    )  # fmt: skip
    heads, length, depth = 8, 512, 64
    q, k, v = (random.standard_normal((heads, length, depth), dtype=np.float32).astype(np.float16) for _ in range(3))
    wide = [t.astype(np.float32) for t in (q, k, v)]
    scale = 0.125

    def attention() -> Any:
        return softmax(wide[0] @ wide[1].transpose(0, 2, 1) * np.float32(scale)) @ wide[2]

    made.append(
        Case("attention", f"{heads} heads of {depth}, {length} queries and keys", [q, k, v, np.zeros_like(q), length, scale], 3,
             (length // 32, heads), 4e-3, attention,
             lambda torch, t: torch.softmax(t[0] @ t[1].transpose(1, 2) * scale, -1) @ t[2])
    )  # fmt: skip
    return made


def fastest(ways: list[Callable[[], Any]], clock: Callable[[], int], seconds: float) -> list[float]:
    """Microseconds."""
    least = [float("inf")] * len(ways)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for i, way in enumerate(ways):
            way()
            start = clock()
            way()
            least[i] = min(least[i], (clock() - start) / 1e3)
    return least


def row(smelt: Any, np: Any, torch: Any, case: Case, package: pathlib.Path, threads: int, seconds: float) -> None:
    facts = json.loads(file_of(case.kernel).with_suffix(".json").read_text())
    kernel = getattr(smelt.load_metallib(package, device=smelt.Device("cpu", threads=threads)), facts["name"])
    group = 32 * facts["num_warps"]
    grid = (case.grid[0] * group, *case.grid[1:])

    def ours() -> None:
        kernel(*case.arguments, threads=grid, group_size=(group, 1, 1)[: len(grid)])

    ways = [ours, case.numpy]
    if torch is not None:
        tensors = [torch.from_numpy(a.astype(np.float32)) for a in case.arguments if isinstance(a, np.ndarray)]
        ways.append(lambda: case.torch(torch, tensors))
    ours()
    apart = np.abs(case.arguments[case.output].astype(np.float64) - case.numpy()).max()
    largest = np.abs(case.arguments[case.output]).max()
    if not apart <= case.tolerance * largest:
        print(f"{case.kernel}: RESULTS DIFFER by {apart} of {largest}")
    least = fastest(ways, time.process_time_ns if threads == 1 else time.perf_counter_ns, seconds)
    rivals = "".join(f" {them:10.1f} {least[0] / them:6.2f}" for them in least[1:])
    if threads == 1:
        record(f"triton.{case.kernel}", "us", least[0], least[1])
    print(f"{case.kernel:16} {case.shape:36} {least[0]:10.1f}{rivals}", flush=True)


def measure(threads: int, folder: pathlib.Path, part: str, seconds: float) -> None:
    import numpy as np
    import smelt

    try:
        import torch

        torch.set_num_threads(threads)
    except ImportError:
        torch = None
    clock = "processor time" if threads == 1 else "time by the clock"
    print(f"\nTriton's kernels, {threads} thread(s), fastest, us of {clock}")
    more = f" {'PyTorch':>10} {'ratio':>6}" if torch is not None else ""
    print(f"{'':53} {'smelt':>10} {'NumPy':>10} {'ratio':>6}{more}")
    for case in cases(np):
        if part in case.kernel:
            row(smelt, np, torch, case, folder / f"{case.kernel}.smelt", threads, seconds)


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("part", nargs="?", default="")
    options.add_argument("--smelt", type=pathlib.Path, required=True)
    options.add_argument("--seconds", type=float, default=1)
    options.add_argument("--measure", type=int, help=argparse.SUPPRESS)
    options.add_argument("--folder", type=pathlib.Path, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.measure:
        measure(given.measure, given.folder, given.part, given.seconds)
        return 0
    python = given.smelt.resolve().parents[1] / "python"
    lacks = [str(path) for path in (FILES, python / "smelt") if not path.exists()]
    if subprocess.run([sys.executable, "-c", "import numpy"], capture_output=True).returncode != 0:
        lacks.append("NumPy")
    if lacks:
        print(f"\nTriton's kernels: not measured without {' and '.join(lacks)}")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        for kernel in ("matmul_f32", "matmul_f32_tiles", "matmul_f16", "matmul_f16_tiles", "softmax_row", "layer_norm", "attention"):
            if given.part in kernel:
                file = file_of(kernel)
                subprocess.run([given.smelt, "compile", file, "--metadata", file.with_suffix(".json"), "--no-store", "-o",
                                f"{folder}/{kernel}.smelt"], check=True)  # fmt: skip
        for threads in (1, 2):
            limits = {name: str(threads) for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")}
            again = [sys.executable, __file__, given.part, "--smelt", given.smelt, "--seconds", str(given.seconds),
                     "--measure", str(threads), "--folder", folder]  # fmt: skip
            subprocess.run([str(word) for word in again], check=True, env={**os.environ, **limits, "PYTHONPATH": str(python)})
    return 0


if __name__ == "__main__":
    sys.exit(main())
