# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What benches of whole processes share: running one and timing it, and what it finds in the page cache."""

from __future__ import annotations

import json
import os
import pathlib
import resource
import subprocess
import sys
import time


def run(command: list[str], environment: dict[str, str]) -> tuple[float, float, str]:
    """Seconds by the clock and of the processor, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    elapsed = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return elapsed, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def least(command: list[str], environment: dict[str, str], rounds: int) -> tuple[float, float]:
    runs = [run(command, environment) for _ in range(rounds)]
    return min(r[0] for r in runs) * 1e3, min(r[1] for r in runs) * 1e3


def record(row: str, unit: str, ours: float, rival: float) -> None:
    """A line of the table that scripts/bench makes (rows.py knows its title and its aim). Less is better."""
    if name := os.environ.get("SMELT_BENCH_ROWS"):
        with open(name, "a") as file:
            file.write(json.dumps({"row": row, "unit": unit, "ours": ours, "rival": rival}) + "\n")


def forget(path: pathlib.Path) -> None:
    """A file, or all below a folder, out of the page cache, as far as the system does that for a user: what a process has
    mapped stays, and what is not yet on the disk would, so that is written first."""
    for one in [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file()):
        with one.open("rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def environment_of(build: pathlib.Path, store: pathlib.Path) -> dict[str, str]:
    """In which a build's Python package is found, and the store is this one."""
    return {**os.environ, "PYTHONPATH": str(build / "python"), "SMELT_STORE": str(store)}


def python_of(build: pathlib.Path) -> str:
    """The interpreter that the build's package is for, with the package's modules compiled, as installers do."""
    cache = (build / "CMakeCache.txt").read_text().splitlines()
    python = next((line.split("=", 1)[1] for line in cache if line.startswith("Python_EXECUTABLE")), sys.executable)
    subprocess.run([python, "-m", "compileall", "-q", build / "python" / "smelt"], check=True)
    return python
