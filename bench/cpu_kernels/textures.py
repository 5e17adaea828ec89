#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels on textures against OpenCV (Debian's python3-opencv): resize, blur, colours; 1280 x 720; one thread and two.

    textures.py --smelt build/release/bin/smelt [--seconds 1] [PART OF A NAME]

A process for each number of threads. The rivals take turns in one process, and the fastest run of each counts: of one thread
it is processor time, of two time by the clock. Results are compared first, at two of 255 levels. Exit code 77: NumPy or
OpenCV is not there.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import subprocess
import sys
import time
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from processes import record  # noqa: E402

SKIPPED = 77
WIDTH, HEIGHT = 1280, 720
REACH, SIGMA = 6, 2.0

SOURCE = """
#include <metal_stdlib>
using namespace metal;

kernel void resize(texture2d<float> from, texture2d<float, access::write> to, uint2 at [[thread_position_in_grid]]) {
  constexpr sampler linear(filter::linear, address::clamp_to_edge);
  to.write(from.sample(linear, (float2(at) + 0.5f) / float2(to.get_width(), to.get_height())), at);
}

kernel void blur(texture2d<float, access::read> from, constant float* weights, constant int2& along,
                 texture2d<float, access::write> to, uint2 at [[thread_position_in_grid]]) {
  const int2 last = int2(from.get_width(), from.get_height()) - 1;
  float4 sum = 0.0f;
  for (int i = -6; i <= 6; ++i) sum += weights[i + 6] * from.read(uint2(clamp(int2(at) + i * along, 0, last)));
  to.write(sum, at);
}

kernel void grey(texture2d<float, access::read> from, texture2d<float, access::write> to,
                 uint2 at [[thread_position_in_grid]]) {
  to.write(dot(from.read(at).rgb, float3(0.299f, 0.587f, 0.114f)), at);
}

kernel void invert(texture2d<float, access::read> from, texture2d<float, access::write> to,
                   uint2 at [[thread_position_in_grid]]) {
  to.write(1.0f - from.read(at), at);
}
"""


def cases(np: Any, cv2: Any, smelt: Any) -> list[tuple[str, Any, Any]]:
    """Name, ours, theirs; each returns the picture it made."""
    lib = smelt.compile_shader(SOURCE)
    random = np.random.default_rng(1)
    bytes_ = cv2.GaussianBlur(random.integers(0, 256, (HEIGHT, WIDTH, 4), dtype=np.uint8), (0, 0), 3)
    bytes_ = cv2.normalize(bytes_, None, 0, 255, cv2.NORM_MINMAX)
    weights = cv2.getGaussianKernel(2 * REACH + 1, SIGMA, cv2.CV_32F).ravel()
    made = []
    for kind, picture in (("rgba8", bytes_), ("rgba32f", bytes_.astype(np.float32) / 255)):
        group = (32, 8)
        for name, height, width in (("resize to half", HEIGHT // 2, WIDTH // 2), ("resize to 3/2", HEIGHT * 3 // 2, WIDTH * 3 // 2)):
            small = np.zeros((height, width, 4), picture.dtype)
            made.append((f"{name} {kind}", lambda p=picture, s=small: (lib.resize(p, s, group_size=group), s)[1],
                         lambda p=picture, w=width, h=height: cv2.resize(p, (w, h), interpolation=cv2.INTER_LINEAR)))  # fmt: skip
        half, whole = np.zeros_like(picture), np.zeros_like(picture)

        def blurred(p: Any = picture, h: Any = half, w: Any = whole) -> Any:
            lib.blur(p, weights, np.array([1, 0], np.int32), h, group_size=group)
            lib.blur(h, weights, np.array([0, 1], np.int32), w, group_size=group)
            return w

        made.append((f"blur of 13 {kind}", blurred, lambda p=picture: cv2.GaussianBlur(
            p, (2 * REACH + 1, 2 * REACH + 1), SIGMA, borderType=cv2.BORDER_REPLICATE)))  # fmt: skip
        one = np.zeros((HEIGHT, WIDTH), picture.dtype)
        made.append((f"grey {kind}", lambda p=picture, o=one: (lib.grey(p, o, group_size=group), o)[1],
                     lambda p=picture: cv2.cvtColor(p, cv2.COLOR_RGBA2GRAY)))  # fmt: skip
        same = np.zeros_like(picture)
        most = 255 if kind == "rgba8" else 1.0
        made.append((f"invert {kind}", lambda p=picture, s=same: (lib.invert(p, s, group_size=group), s)[1],
                     lambda p=picture, m=most: cv2.subtract(np.full_like(p, m), p)))  # fmt: skip
    return made


def measure(threads: int, part: str, seconds: float) -> None:
    import cv2
    import numpy as np
    import smelt

    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    cv2.setNumThreads(threads)
    clock = time.process_time_ns if threads == 1 else time.perf_counter_ns
    print(f"\nTextures, {threads} thread(s), fastest, us of {'processor time' if threads == 1 else 'time by the clock'}")
    print(f"{'':24} {'smelt':>10} {'OpenCV':>10} {'ratio':>6}")
    for name, ours, theirs in cases(np, cv2, smelt):
        if part not in name:
            continue
        scale = 1 if "rgba8" in name else 255
        apart = np.abs(ours().astype(np.float64) - theirs().astype(np.float64)).max() * scale
        if apart > 2:
            print(f"{name}: RESULTS DIFFER by {apart:.1f} of 255")
        least = [1e30, 1e30]
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for i, way in enumerate((ours, theirs)):
                began = clock()
                way()
                least[i] = min(least[i], (clock() - began) / 1000)
        if threads == 1:
            record(f"textures.{name}", "us", least[0], least[1])
        print(f"{name:24} {least[0]:10.1f} {least[1]:10.1f} {least[0] / least[1]:6.2f}", flush=True)


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("part", nargs="?", default="")
    options.add_argument("--smelt", type=pathlib.Path, required=True)
    options.add_argument("--seconds", type=float, default=1)
    options.add_argument("--measure", type=int, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.measure:
        measure(given.measure, given.part, given.seconds)
        return 0
    if subprocess.run([sys.executable, "-c", "import numpy, cv2"], capture_output=True).returncode != 0:
        print("\nTextures: not measured without NumPy and OpenCV (python3-numpy, python3-opencv)")
        return SKIPPED
    python = given.smelt.resolve().parents[1] / "python"
    for threads in (1, 2):
        again = [sys.executable, __file__, given.part, "--smelt", given.smelt, "--seconds", given.seconds, "--measure", threads]
        subprocess.run([str(word) for word in again], check=True, env={**os.environ, "PYTHONPATH": str(python)})
    return 0


if __name__ == "__main__":
    sys.exit(main())
