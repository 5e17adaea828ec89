# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ten kernels as Triton's Apple back end writes them, from text to numbers, in whole processes: xcrun metal, xcrun metallib, load and launch of
each, with an empty store and again. Beside them a process in which NumPy computes the same. Processor time, with all children.

    python3 bench/python/apple_backend.py build/release [rounds]
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench"))
from processes import environment_of, python_of, record, run  # noqa: E402

KERNELS = ROOT / "tests" / "python" / "triton_apple"
NUMPY = f"""
import sys
sys.path.insert(0, {str(KERNELS)!r})
import cases
import numpy
for case in cases.CASES:
    case.make(numpy.random.default_rng(7))
"""


def main() -> None:
    build = pathlib.Path(sys.argv[1]).resolve()
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    python = python_of(build)
    ours = [python, str(KERNELS / "run.py")]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([build / "bin" / "smelt", "toolchain", folder / "tools"], check=True)
        first, second, numpy = [], [], []
        for round in range(rounds):
            environment = environment_of(build, folder / f"store{round}")
            environment["PATH"] = f"{folder / 'tools'}:{os.environ['PATH']}"
            first.append(run(ours, environment)[1] * 1e3)
            second.append(run(ours, environment)[1] * 1e3)
            numpy.append(run([python, "-c", NUMPY], environment)[1] * 1e3)
    for row, what, times in (("apple.first", "first run", first), ("apple.second", "second run", second)):
        print(f"{what:<12} {min(times):8.1f} ms   NumPy {min(numpy):8.1f} ms")
        record(row, "ms", min(times), min(numpy))


if __name__ == "__main__":
    main()
