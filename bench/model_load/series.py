#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A model's kernels as a Triton-style compiler sees them: 100, 1,000 and 10,000 kernels, compiled one by one, then loaded by
new processes. Then the hit rates of edits.py.

    python3 bench/model_load/series.py BUILD [--counts 100,1000,10000] [--rounds 7] [--csv FILE]

The kernels are `axpy` with another number each. The ways:

  package        one package with all kernels
  store          an entry a kernel in smelt's store; the program asks with the source
  files          the same packages in folders as Triton's cache has them, read by a loop that does what Triton does
  JIT            every kernel is compiled, without a store
  process each   a process a hit: `smelt compile` of a kernel, and `ccache clang -c` of a C file

Each process builds all pipelines and launches one kernel. Times are medians of the rounds: from the start of the process to
the end of the launch, by the clock. "Cold": the files of this way, of the build and of its Python package were dropped from
the page cache. A hit is one kernel looked up, loaded and built; p50 and p99 are over all kernels of all rounds."""

from __future__ import annotations

import argparse
import csv
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench"))
from edits import HISTORY, hit_rates  # noqa: E402
from processes import environment_of, forget, python_of, run  # noqa: E402

HEAD = "#include <metal_stdlib>\nusing namespace metal;\n"
AXPY = HEAD + (
    "kernel void axpy_{0}(device const float* x [[buffer(0)]], device float* y [[buffer(1)]], constant float& a [[buffer(2)]],\n"
    "                     constant uint& n [[buffer(3)]], uint i [[thread_position_in_grid]]) {{\n"
    "  if (i < n) y[i] = fma(a, x[i], y[i]) + {0}.0f;\n}}\n"
)
MAKE = """import json, pathlib, sys, smelt
sources = json.loads(pathlib.Path(sys.argv[1]).read_text())[int(sys.argv[2]):int(sys.argv[3])]
for source in sources: smelt.compile(source)
"""
CHILD = ROOT / "bench/model_load/series_child.py"


class Bench:
    def __init__(self, build: pathlib.Path, folder: pathlib.Path, rounds: int) -> None:
        self.build, self.folder, self.rounds = build, folder, rounds
        self.python = python_of(build)
        self.store = folder / "store"
        self.environment = environment_of(build, self.store) | {"CCACHE_DIR": str(folder / "ccache"), "CCACHE_NOCOMPRESS": "1"}
        self.without_store = {k: v for k, v in self.environment.items() if k not in ("SMELT_STORE", "XDG_CACHE_HOME", "HOME")}
        libraries = [p.resolve() for p in build.glob("lib/libsmelt*.so*")]
        self.own = [*libraries, build / "bin/smelt", build / "python"]
        self.rows: list[tuple[int, str, str, str, float]] = []

    def row(self, count: int, way: str, what: str, unit: str, value: float) -> None:
        self.rows.append((count, way, what, unit, value))
        print(f"  {count:>6} {way:<22} {what:<34} {value:>12,.1f} {unit}", flush=True)

    # ---- a model's load ---------------------------------------------------------------------------------------------

    def make(self, counts: list[int]) -> None:
        most = max(counts)
        (self.folder / "sources.json").write_text(json.dumps([AXPY.format(i) for i in range(most)]))
        done = 0
        for count in sorted(counts):
            took, _, _ = run([self.python, "-c", MAKE, str(self.folder / "sources.json"), str(done), str(count)], self.environment)
            self.row(count - done, "store empty", "compile all, into the store", "ms", took * 1e3)
            done = count
            text = HEAD + "".join(AXPY.format(i).removeprefix(HEAD) for i in range(count))
            (self.folder / f"{count}.metal").write_text(text)
            took, _, _ = run([str(self.build / "bin/smelt"), "compile", str(self.folder / f"{count}.metal"), "-o",
                                      str(self.folder / f"{count}.smelt")], self.without_store)  # fmt: skip
            self.row(count, "JIT, one source", "compile all, no store", "ms", took * 1e3)
        self.make_files(most)

    def make_files(self, count: int) -> None:
        code = ("import hashlib, json, pathlib, sys, smelt\nfolder = pathlib.Path(sys.argv[1])\n"
                "for source in json.loads((folder / 'sources.json').read_text()):\n"
                "    at = folder / 'files' / hashlib.sha256(source.encode()).hexdigest()\n    at.mkdir(parents=True)\n"
                "    smelt.compile(source).save(at / 'kernel.smelt')\n"
                "    (at / 'kernel.json').write_text(json.dumps({'name': 'axpy', 'num_warps': 4, 'shared': 0}))\n"
                "    paths = {n: str(at / n) for n in ('kernel.json', 'kernel.smelt')}\n"
                "    (at / '__grp__kernel.json').write_text(json.dumps({'child_paths': paths}))\n")  # fmt: skip
        run([self.python, "-c", code, str(self.folder)], self.environment)

    def load(self, way: str, count: int, cold: bool) -> None:
        command = [self.python, str(CHILD), way, str(self.folder), str(count)]
        used = {"package": [self.folder / f"{count}.smelt"], "store": [self.store], "files": [self.folder / "files"]}[way]
        used += [self.folder / "sources.json"]
        clocks, hits = [], []
        for _ in range(max(2, self.rounds // 2) if cold else self.rounds):
            for path in [*used, *self.own] if cold else []:
                forget(path)
            start = time.monotonic_ns()
            _, _, printed = run(command, self.environment)
            result: dict[str, Any] = json.loads(printed)
            clocks.append((result["end"] - start) * 1e-6)
            hits += result["hits"]
        name = f"{way}, cold" if cold else way
        self.row(count, name, "to the end of the first launch", "ms", statistics.median(clocks))
        cuts = statistics.quantiles(hits, n=100)
        self.row(count, name, "hit, p50", "us", cuts[49])
        self.row(count, name, "hit, p99", "us", cuts[98])

    def jit(self, count: int) -> None:
        code = ("import json, pathlib, sys, time, smelt\nkernels = []\n"
                "for i, s in enumerate(json.loads(pathlib.Path(sys.argv[1]).read_text())[:int(sys.argv[2])]):\n"
                "    kernels.append(smelt.compile(s).load()[f'axpy_{i}'])\n"
                "kernels[-1](bytearray(4), bytearray(4), 1.0, 1, threads=1)\nprint(time.monotonic_ns())\n")  # fmt: skip
        start = time.monotonic_ns()
        _, _, printed = run([self.python, "-c", code, str(self.folder / "sources.json"), str(count)], self.without_store)
        self.row(count, "JIT", "to the end of the first launch", "ms", (int(printed) - start) * 1e-6)

    # ---- a process a kernel, beside ccache --------------------------------------------------------------------------

    def processes(self, count: int) -> None:
        folder = self.folder / "each"
        folder.mkdir()
        for i in range(count):
            (folder / f"{i}.metal").write_text(AXPY.format(i))
            (folder / f"{i}.c").write_text(
                f"void axpy_{i}(const float* x, float* y, const float* a, const unsigned* n, unsigned i) {{\n"
                f"  if (i < *n) y[i] = __builtin_fmaf(*a, x[i], y[i]) + {i}.0f;\n}}\n")  # fmt: skip
        commands = {
            "smelt, a process each": [str(self.build / "bin/smelt"), "compile", "{}.metal", "-o", "{}.metallib"],
            "ccache, a process each": ["ccache", "clang-19", "-O2", "-c", "{}.c", "-o", "{}.o"],
        }
        if not shutil.which("ccache"):
            del commands["ccache, a process each"]
        for name, command in commands.items():
            times = []
            for pass_ in range(3):
                for i in range(count):
                    words = [word.format(folder / str(i)) for word in command]
                    start = time.perf_counter_ns()
                    subprocess.run(words, env=self.environment, check=True, capture_output=True)
                    if pass_:
                        times.append((time.perf_counter_ns() - start) / 1e3)
            cuts = statistics.quantiles(times, n=100)
            self.row(count, name, "hit, p50", "us", cuts[49])
            self.row(count, name, "hit, p99", "us", cuts[98])


def main() -> None:
    parser = argparse.ArgumentParser(description="a model's kernels as a Triton-style compiler sees them")
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--counts", default="100,1000,10000")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--csv", type=pathlib.Path)
    options = parser.parse_args()
    build = options.build.resolve()
    counts = sorted(int(count) for count in options.counts.split(","))
    with tempfile.TemporaryDirectory(dir=build) as folder:  # beside the build: /tmp may be memory, which is never cold
        bench = Bench(build, pathlib.Path(folder), options.rounds)
        bench.make(counts)
        bench.jit(counts[0])
        for count in counts:
            for way in ("package", "store", "files"):
                bench.load(way, count, cold=False)
                bench.load(way, count, cold=True)
        bench.processes(counts[0])
        for way, rate in hit_rates(str(build / "bin/smelt"), pathlib.Path(tempfile.mkdtemp(dir=folder)), bench.environment).items():
            bench.row(len(HISTORY), way, "hit rate over the edits", "%", rate)
    if options.csv:
        with options.csv.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([("count", "way", "what", "unit", "value"), *bench.rows])


if __name__ == "__main__":
    main()
