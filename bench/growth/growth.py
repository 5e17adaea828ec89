#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How the time of a compile grows with a kernel, one dimension at a time: statements, loops, calls, arrays and so on.

    python3 bench/growth/growth.py BUILD [--only loops,calls] [--steps 4] [--rounds 1] [--csv FILE] [--keep FOLDER]

For each dimension Metal source is made in sizes n, 2n, 4n and 8n (kernels.py). Each size is compiled to AIR, and its AIR to
CPU code at the efforts fast and balanced. The rival is `clang -O2 -c` for the same processor on the same AIR; a library's
kernels are one module for it. Operations of Metal are calls that it cannot see into.

Times are processor seconds of whole processes, the least of the rounds. At the end of a line stands how many times the time
of half that size it is: 2 is linear.
"""

from __future__ import annotations

import argparse
import csv
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from kernels import DIMENSIONS, Dimension  # noqa: E402
from processes import run  # noqa: E402

LEVEL = "x86-64-v3"
CLANG = ("clang-19", "--target=x86_64-unknown-linux-gnu", f"-march={LEVEL}", "-O2", "-w", "-fPIC", "-c")
WAYS = ("AIR", "fast", "balanced", "clang")


class Bench:
    def __init__(self, build: pathlib.Path, folder: pathlib.Path, rounds: int, limit: float) -> None:
        self.smelt = str(build / "bin/smelt")
        self.folder, self.rounds, self.limit = folder, rounds, limit
        self.environment = {**os.environ, "SMELT_STORE": "off"}

    def seconds(self, command: list[str]) -> float:
        """NaN where it takes longer than the limit."""
        try:
            return min(run(["timeout", str(self.limit), *command], self.environment)[1] for _ in range(self.rounds))
        except subprocess.CalledProcessError as error:
            if error.returncode == 124:
                return math.nan
            sys.exit(f"{' '.join(command)}: {error.stderr}")

    def smelt_seconds(self, *words: str) -> float:
        return self.seconds([self.smelt, "compile", "--no-store", "--sandbox", "never", "-j", "1", *words])

    def measure(self, dimension: Dimension, size: int) -> dict[str, float]:
        stem = str(self.folder / f"{dimension.name}-{size}".replace(" ", "-"))
        source, library, package, ir = stem + ".metal", stem + ".metallib", stem + ".smelt", stem + ".ll"
        pathlib.Path(source).write_text(dimension.source(size))
        times = {"AIR": self.smelt_seconds(source, "-o", library)}
        if math.isnan(times["AIR"]):
            return times
        for effort in ("fast", "balanced"):
            times[effort] = self.smelt_seconds(library, "--cpu", LEVEL, "--cpu-effort", effort, "--require-cpu", "-o", package)
        self.write_ir(dimension, size, library, ir)
        times["clang"] = self.seconds([*CLANG, ir, "-o", stem + ".o"])
        return times

    def write_ir(self, dimension: Dimension, size: int, library: str, ir: str) -> None:
        """The library's AIR as one module that Clang takes."""
        names = dimension.names(size)
        parts = [ir] if len(names) == 1 else [f"{ir}.{name}.ll" for name in names]
        for name, part in zip(names, parts):
            self.smelt_seconds(library, "--function", name, "--emit", "ll", "-o", part)
        if len(parts) > 1:
            subprocess.run(["llvm-link-19", "-S", *parts, "-o", ir], check=True, stderr=subprocess.DEVNULL)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("build", type=pathlib.Path)
    options.add_argument("--only", default="")
    options.add_argument("--steps", type=int, default=4)
    options.add_argument("--rounds", type=int, default=1)
    options.add_argument("--limit", type=float, default=120, help="seconds of the clock that one compile may take")
    options.add_argument("--csv", type=pathlib.Path)
    options.add_argument("--keep", type=pathlib.Path, help="where sources, AIR and packages stay")
    given = options.parse_args()
    for program in (CLANG[0], "llvm-link-19"):
        if not shutil.which(program):
            sys.exit(f"growth.py: no {program}")
    wanted = given.only.split(",") if given.only else [dimension.name for dimension in DIMENSIONS]
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        bench = Bench(given.build.resolve(), folder, given.rounds, given.limit)
        print(f"{'processor seconds':<20} {'n':>6} " + " ".join(f"{way:>9}" for way in WAYS) + "   fast/clang balanced/clang")
        for dimension in (one for one in DIMENSIONS if one.name in wanted):
            before: dict[str, float] = {}
            for step in range(given.steps):
                size = dimension.first << step
                times = bench.measure(dimension, size)
                rows += [(dimension.name, size, way, round(value, 3)) for way, value in times.items() if not math.isnan(value)]
                shown = " ".join(f"{times.get(way, math.nan):9.2f}" for way in WAYS)
                ratios = " ".join(f"{times.get(way, math.nan) / times.get('clang', math.nan):10.2f}" for way in ("fast", "balanced"))
                grown = " ".join(f"{way} x {times[way] / before[way]:.1f}" for way in WAYS if way in before and way in times)
                print(f"{dimension.name:<20} {size:>6} {shown} {ratios}   {grown}", flush=True)
                before = times
    if given.csv is not None:
        with given.csv.open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(("dimension", "size", "way", "seconds"))
            writer.writerows(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
