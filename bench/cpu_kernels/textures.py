#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels on textures against OpenCV (Debian's python3-opencv): resize, blur, colours; 1280 x 720; one thread and two. With
`--rival pocl` against the same kernels in OpenCL C on images of PoCL (python3-pyopencl, pocl-opencl-icd).

    textures.py --smelt build/release/bin/smelt [--seconds 1] [--rival pocl] [PART OF A NAME]

A process for each number of threads. The rivals take turns in one process, and the fastest run of each counts: of one thread
it is processor time, of two time by the clock. Results are compared first, at two of 255 levels. Exit code 77: NumPy or the
rival is not there.
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


OPENCL = """
constant sampler_t linear = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;
constant sampler_t texel = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
#define AT (int2)(get_global_id(0), get_global_id(1))

kernel void resize(read_only image2d_t from, write_only image2d_t to) {
  write_imagef(to, AT, read_imagef(from, linear, (convert_float2(AT) + 0.5f) / convert_float2(get_image_dim(to))));
}
kernel void blur(read_only image2d_t from, constant float* weights, int2 along, write_only image2d_t to) {
  float4 sum = 0.0f;
  for (int i = -6; i <= 6; ++i) sum += weights[i + 6] * read_imagef(from, texel, AT + i * along);
  write_imagef(to, AT, sum);
}
kernel void invert(read_only image2d_t from, write_only image2d_t to) {
  write_imagef(to, AT, 1.0f - read_imagef(from, texel, AT));
}
"""


class OpenCl:
    """Launches of the kernels above; images are the arrays' memory."""

    def __init__(self, np: Any) -> None:
        import pyopencl as cl

        self.np, self.cl = np, cl
        device = next(d for p in cl.get_platforms() if "Portable" in p.name for d in p.get_devices())
        self.context = cl.Context([device])
        self.queue = cl.CommandQueue(self.context)
        self.program = cl.Program(self.context, OPENCL).build("-cl-fast-relaxed-math")

    def image(self, array: Any) -> Any:
        cl = self.cl
        kind = cl.channel_type.UNORM_INT8 if array.dtype == self.np.uint8 else cl.channel_type.FLOAT
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.USE_HOST_PTR
        return cl.Image(self.context, flags, cl.ImageFormat(cl.channel_order.RGBA, kind), shape=array.shape[1::-1], hostbuf=array)

    def launch(self, name: str, out: Any, *arguments: Any) -> None:
        kernel = getattr(self.program, name)
        kernel(self.queue, out.shape[1::-1], None, *arguments).wait()

    def picture(self, image: Any, like: Any) -> Any:
        got = self.np.zeros_like(like)
        self.cl.enqueue_copy(self.queue, got, image, origin=(0, 0), region=like.shape[1::-1])
        return got


def opencl_cases(np: Any, pictures: Any, weights: Any) -> dict[str, tuple[Any, Any]]:
    """By name: what runs, and what it made."""
    there, made = OpenCl(np), {}
    cl = there.cl
    flags = cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR
    weight = cl.Buffer(there.context, flags, hostbuf=weights)
    for kind, picture in pictures:
        given = there.image(picture)
        for name, height, width in (("resize to half", HEIGHT // 2, WIDTH // 2), ("resize to 3/2", HEIGHT * 3 // 2, WIDTH * 3 // 2)):
            small = np.zeros((height, width, 4), picture.dtype)
            into = there.image(small)
            made[f"{name} {kind}"] = (lambda s=small, i=into, g=given: there.launch("resize", s, g, i),
                                      lambda s=small, i=into: there.picture(i, s))  # fmt: skip
        half, whole = there.image(np.zeros_like(picture)), there.image(np.zeros_like(picture))

        def blurred(p: Any = picture, g: Any = given, h: Any = half, w: Any = whole) -> None:
            there.launch("blur", p, g, weight, cl.cltypes.make_int2(1, 0), h)
            there.launch("blur", p, h, weight, cl.cltypes.make_int2(0, 1), w)

        made[f"blur of 13 {kind}"] = (blurred, lambda p=picture, w=whole: there.picture(w, p))
        same = there.image(np.zeros_like(picture))
        made[f"invert {kind}"] = (lambda p=picture, g=given, s=same: there.launch("invert", p, g, s),
                                  lambda p=picture, s=same: there.picture(s, p))  # fmt: skip
    return made


def cases(np: Any, cv2: Any, smelt: Any, rival: str) -> list[tuple[str, Any, Any, Any]]:
    """Name, ours, theirs, and what shows what theirs made; ours returns the picture it made."""
    # As `smelt compile --fast-math` makes it ahead of time.
    lib = smelt.compile_shader(SOURCE, fast_math=True, cpu_effort="balanced")
    random = np.random.default_rng(1)
    bytes_ = cv2.GaussianBlur(random.integers(0, 256, (HEIGHT, WIDTH, 4), dtype=np.uint8), (0, 0), 3)
    bytes_ = cv2.normalize(bytes_, None, 0, 255, cv2.NORM_MINMAX)
    weights = cv2.getGaussianKernel(2 * REACH + 1, SIGMA, cv2.CV_32F).ravel()
    made = []
    pictures = (("rgba8", bytes_), ("rgba32f", bytes_.astype(np.float32) / 255))
    for kind, picture in pictures:
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
    if rival == "opencv":
        return [(name, ours, theirs, theirs) for name, ours, theirs in made]
    there = opencl_cases(np, pictures, weights)
    return [(name, ours, *there[name]) for name, ours, _ in made if name in there]


def measure(threads: int, part: str, seconds: float, rival: str) -> None:
    os.environ["POCL_MAX_PTHREAD_COUNT"] = str(threads)
    import cv2
    import numpy as np
    import smelt

    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    cv2.setNumThreads(threads)
    clock = time.process_time_ns if threads == 1 else time.perf_counter_ns
    print(f"\nTextures, {threads} thread(s), fastest, us of {'processor time' if threads == 1 else 'time by the clock'}")
    print(f"{'':24} {'smelt':>10} {'PoCL' if rival == 'pocl' else 'OpenCV':>10} {'ratio':>6}")
    for name, ours, theirs, shown in cases(np, cv2, smelt, rival):
        if part not in name:
            continue
        scale = 1 if "rgba8" in name else 255
        theirs()
        apart = np.abs(ours().astype(np.float64) - shown().astype(np.float64)).max() * scale
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
            record(f"{'textures' if rival == 'opencv' else 'images'}.{name}", "us", least[0], least[1])
        print(f"{name:24} {least[0]:10.1f} {least[1]:10.1f} {least[0] / least[1]:6.2f}", flush=True)


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("part", nargs="?", default="")
    options.add_argument("--smelt", type=pathlib.Path, required=True)
    options.add_argument("--seconds", type=float, default=1)
    options.add_argument("--rival", choices=("opencv", "pocl"), default="opencv")
    options.add_argument("--measure", type=int, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.measure:
        measure(given.measure, given.part, given.seconds, given.rival)
        return 0
    wanted = "import numpy, cv2" + (", pyopencl; pyopencl.get_platforms()" if given.rival == "pocl" else "")
    if subprocess.run([sys.executable, "-c", wanted], capture_output=True).returncode != 0:
        print("\nTextures: not measured without NumPy, OpenCV and the rival (python3-numpy, python3-opencv, python3-pyopencl)")
        return SKIPPED
    python = given.smelt.resolve().parents[1] / "python"
    for threads in (1, 2):
        again = [sys.executable, __file__, given.part, "--smelt", given.smelt, "--seconds", given.seconds, "--rival", given.rival, "--measure", threads]
        subprocess.run([str(word) for word in again], check=True, env={**os.environ, "PYTHONPATH": str(python)})
    return 0


if __name__ == "__main__":
    sys.exit(main())
