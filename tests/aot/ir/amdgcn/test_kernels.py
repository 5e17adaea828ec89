#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every kernel of stock Triton 3.6, through the tool: compiled for two targets and this machine, verified, run, compared.

usage: test_kernels.py [PART OF A NAME]. SMELT_FULL=1 runs every kernel in every shape; without it, those whose CPU code
takes long to make are only compiled for the targets, and each of the others runs in one shape (in turn).
"""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

try:
    import numpy as np
except ImportError:
    print("SKIPPED: no NumPy")
    sys.exit(77)

import references

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = pathlib.Path(os.environ.get("SMELT_SOURCE_DIR", HERE.parents[3]))
SMELT = os.environ.get("SMELT", str(SOURCE / "build/dev/bin/smelt"))
SHARED = SOURCE / "tests/data/triton-3.6.0"
FULL = os.environ.get("SMELT_FULL", "") not in ("", "0")
TARGETS = ("macos14", "macos26")
# A lock needs acquire and release: Metal has them from 3.2 on.
NOT_BEFORE = {"spin_count": "macos15"}
# Kernels of much code.
SLOW = {"attention", "sort_row", "transpose", "linear_scan", "matmul_f32", "cumsum_2d", "argmax_row", "histogram_block",
        "functions"}  # fmt: skip


def run(*arguments):
    return subprocess.run([SMELT, *map(str, arguments)], capture_output=True, text=True, timeout=900)


def must(*arguments):
    done = run(*arguments)
    if done.returncode != 0 or done.stderr:
        raise AssertionError(f"smelt {' '.join(map(str, arguments[:3]))}: exit {done.returncode}: {done.stderr[:500]}")
    return done.stdout


def argument(folder, number, value):
    """How `smelt run` takes it, and where it puts the result."""
    if isinstance(value, np.ndarray):
        source, result = folder / f"{number}.npy", folder / f"{number}.out.npy"
        np.save(source, value)
        return f"{source}={result}", result
    return (f"f32:{value!r}" if isinstance(value, float) else f"i32:{value}"), None


def run_case(package, name, warps, case, folder):
    words, results = zip(*(argument(folder, i, value) for i, value in enumerate(case.arguments)))
    grid = case.grid + (1,) * (3 - len(case.grid))
    threads = f"{grid[0] * 32 * warps},{grid[1]},{grid[2]}"
    must("run", package, name, "--device", "cpu", "--threads", threads, "--group", f"{32 * warps},1,1", *words)
    for number, wanted in case.wanted.items():
        wrong = references.judge(np.load(results[number]), wanted, case.tolerance)
        if wrong:
            raise AssertionError(f"argument {number}: {wrong}")


def check(path, order):
    """One kernel; what was done with it."""
    name, metadata = path.stem, path.with_suffix(".json")
    facts = json.loads(metadata.read_text())
    runs = FULL or name not in SLOW
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        package = folder / "kernel.smelt"
        targets = [t for t in TARGETS if name not in NOT_BEFORE or t != "macos14"]
        if len(targets) < len(TARGETS):
            refused = run("compile", path, "--metadata", metadata, "-o", folder / "x.metallib", "--no-store")
            if refused.returncode == 0 or NOT_BEFORE[name] not in refused.stderr:
                raise AssertionError(f"macos14 must be refused, naming {NOT_BEFORE[name]}: {refused.stderr[:300]}")
        wanted = [part for target in targets for part in ("--target", target)]
        start = time.monotonic()
        must("compile", path, "--metadata", metadata, *wanted, *([] if runs else ["--no-cpu"]), "--no-store", "-o", package)
        took = time.monotonic() - start
        must("verify", package)
        report = json.loads(must("inspect", package, "--json"))
        for missing in (m for part in report["slices"] for m in part.get("missing", [])):
            raise AssertionError(f"{missing['name']}: {missing['reason']}")
        if not runs:
            return f"compiled in {took:.1f} s"
        shapes = range(len(references.SHAPES)) if FULL else [order % 2]
        for shape in shapes:
            case = references.cases(100 + shape, references.SHAPES[shape])[name]
            try:
                run_case(package, facts["name"], facts["num_warps"], case, folder)
            except AssertionError as error:
                raise AssertionError(f"shape {shape}: {error}") from None
        return f"compiled in {took:.1f} s, right in {len(shapes)} shape(s)"


def main():
    part = sys.argv[1] if len(sys.argv) > 1 else ""
    folders = [HERE / "hip-gfx1030", HERE / "hip-gfx1100", HERE / "hip-gfx1200", SHARED / "hip-gfx1030", SHARED / "hip-gfx1100"]
    paths = [p for folder in folders if folder.exists() for p in sorted(folder.glob("*.llir"))]
    paths = [p for p in paths if part in f"{p.parent.name}/{p.stem}"]
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        futures = {pool.submit(check, path, i): path for i, path in enumerate(paths)}
        for future in concurrent.futures.as_completed(futures):
            path = futures[future]
            try:
                print(f"ok   {path.parent.name}/{path.stem}: {future.result()}", flush=True)
            except (AssertionError, subprocess.TimeoutExpired) as error:
                bad += 1
                print(f"BAD  {path.parent.name}/{path.stem}: {error}", flush=True)
    print(f"{len(paths) - bad} of {len(paths)} right")
    return 1 if bad or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
