#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tl.device_print on the CPU device: kernels of stock Triton 3.6 that print, run by the tool with memory to print to, and
the lines that the plug-in makes of it. Needs NumPy and the smelt package, no Triton."""

import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("SKIPPED: no NumPy")
    sys.exit(77)

from smelt.compat.triton_backend.prints import formats_of, new_report, printed

HERE = pathlib.Path(__file__).resolve().parent
SMELT = os.environ.get("SMELT", str(HERE.parents[3] / "build/dev/bin/smelt"))


def must(*arguments):
    done = subprocess.run([SMELT, *map(str, arguments)], capture_output=True, text=True, timeout=600)
    if done.returncode != 0 or done.stderr:
        sys.exit(f"smelt {' '.join(map(str, arguments[:3]))}: exit {done.returncode}: {done.stderr[:500]}")


def launch(name, programs, arguments, words=1 << 16):
    """The lines that a kernel of one warp prints."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        text, package = HERE / f"prints/{name}.llir", folder / "kernel.smelt"
        must("compile", text, "--metadata", text.with_suffix(".json"), "--target", "macos14", "--target", "macos26", "--no-store", "-o", package)
        must("verify", package)
        report = np.frombuffer(new_report(words), np.uint32)
        bound = []
        for number, value in enumerate([*arguments, report]):
            if isinstance(value, np.ndarray):
                np.save(folder / f"{number}.npy", value)
                value = f"{folder}/{number}.npy={folder}/{number}.out.npy"
            bound.append(value)
        must("run", package, name, "--device", "cpu", "--threads", f"{32 * programs},1,1", "--group", "32,1,1", *bound)
        left = np.load(folder / f"{len(arguments)}.out.npy")
        return list(printed([int(word) for word in left], formats_of(text.read_text())))


def main():
    rng = np.random.default_rng(1)
    x, y = rng.integers(-100, 100, 64, dtype=np.int32), rng.standard_normal(64, dtype=np.float32)
    n = 50
    v, w = np.where(np.arange(64) < n, x, 0), np.where(np.arange(64) < n, y, 0)
    pid = "pid (0, 0, 0) "
    wanted = [f"{pid}idx () n: {n}\n"] * 32 + [f"{pid}only words\n"] * 32
    for i in range(64):
        wanted.append(f"{pid}idx ({i:2}) v and w: (operand 0) {v[i]}\n")
        wanted.append(f"{pid}idx ({i:2}) v and w: (operand 1) {w[i]:f}\n")
        wanted.append(f"{pid}idx ({i:2}) hex: 0x{int(v[i]) & 0xFFFFFFFF:08x}\n")
    got = launch("prints", 1, [x, y, f"i32:{n}"])
    assert sorted(got) == sorted(wanted), (len(got), len(wanted), sorted(set(got) ^ set(wanted))[:4])

    # Two programs in five ask for nothing; the third prints numbers of every width.
    x, h = np.array([1, -7, 300, 4, 5], np.int32), np.array([0.5, 1.5, -2.25, 3, 4], np.float16)
    got = launch("prints_types", 5, [x, h, "i32:2", "f32:0.1"])
    pid, f = "pid (2, 0, 0) idx () ", np.float32(0.1)
    bfloat = (np.array([f * np.float32(3)]).view(np.uint32) + 0x7FFF + 1 >> 16 << 16).view(np.float32)[0]
    wanted = [
        f"{pid}long: {300 * 1000000007}\n", f"{pid}half: -2.250000\n", f"{pid}three: (operand 0) {f:f}\n",
        f"{pid}three: (operand 1) {f * 2:f}\n", f"{pid}three: (operand 2) 1\n", f"{pid}small: (operand 0) {300 % 256}\n",
        f"{pid}small: (operand 1) {bfloat:f}\n",
    ]  # fmt: skip
    assert set(got) == set(wanted), sorted(set(got) ^ set(wanted))
    assert len(got) == 32 * len(wanted), len(got)

    # More than there is room for: as many whole lines as fit, and a word about the rest.
    got = launch("prints", 1, [np.zeros(64, np.int32), np.zeros(64, np.float32), f"i32:{n}"], words=100)
    assert "lost" in got[-1] and all(line.startswith("pid (0, 0, 0) ") for line in got[:-1]) and 8 <= len(got) <= 13, got
    print("prints: right")
    return 0


if __name__ == "__main__":
    sys.exit(main())
