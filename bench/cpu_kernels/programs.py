#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Eight programs that GPU samples and benchmark suites have in common, beside PoCL and loops in C; one thread and two.

    programs.py --smelt build/release/bin/smelt [--seconds 1] [PART OF A NAME]

The folder programs has each one in Metal, OpenCL C (python3-pyopencl, pocl-opencl-icd) and C (clang-19 -O3 -march=native).
All but `mandelbrot` are compiled with fast math. Each number of threads has its own process, and so have vectors of 256 and
of 512 bits where the processor has AVX-512; PoCL chooses its vectors itself. The three take turns. A run on one thread is
measured in processor time, on two by the clock, without compiling. The ratio is smelt's time to that of the faster rival.
Results are compared first: integers exactly, floats with the tolerance that the table states. Exit code 1: results differ;
77: NumPy, PoCL or clang-19 is missing. rows.py lists the rows of one thread and 256 bits.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import ctypes
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from typing import Any, Callable

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from processes import record  # noqa: E402

SKIPPED = 77


@dataclass
class Launch:
    kernel: str
    arguments: tuple[Any, ...]  # names of arrays; numbers
    threads: tuple[int, ...]
    group: tuple[int, ...]


@dataclass
class Program:
    name: str
    file: str
    arrays: dict[str, Any]
    launches: list[Launch]
    function: str  # in C
    arguments: tuple[Any, ...]
    result: str
    tolerance: float = 0  # of the largest magnitude in the result
    outliers: float = 0  # share of elements that may differ by more
    fast_math: bool = True
    changed: tuple[str, ...] = ()  # arrays to restore before each run


def programs(np: Any) -> list[Program]:
    random = np.random.default_rng(1)
    u32, f32 = np.uint32, np.float32
    made = []

    # At most 256 iterations.
    width, height = 640, 480
    view = (f32(-2.0), f32(-1.2), f32(0.005), u32(256))
    made.append(Program(
        "mandelbrot", "mandelbrot", {"counts": np.zeros((height, width), u32)},
        [Launch("mandelbrot", ("counts", *view), (width, height), (32, 8))],
        "mandelbrot", ("counts", *view, u32(width), u32(height)), "counts", fast_math=False))  # fmt: skip

    # Improved noise in three dimensions, four octaves.
    width, height = 640, 480
    table = random.permutation(256).astype(np.int32)
    place = (f32(1 / 37), f32(0.3))
    made.append(Program(
        "perlin noise", "perlin", {"table": np.concatenate([table, table, table[:2]]), "out": np.zeros((height, width), f32)},
        [Launch("perlin", ("table", "out", *place), (width, height), (32, 8))],
        "perlin", ("table", "out", *place, u32(width), u32(height)), "out", tolerance=1e-4))  # fmt: skip

    # American puts, 255 steps.
    count, steps, rate = 1024, 255, 0.03
    options = np.zeros(count, [(name, f32) for name in ("price", "strike", "up", "to_up", "to_down")])
    years, volatility = random.uniform(0.25, 2, count), random.uniform(0.1, 0.4, count)
    up = np.exp(volatility * np.sqrt(years / steps))
    rises = (np.exp(rate * years / steps) - 1 / up) / (up - 1 / up)
    options["price"], options["strike"], options["up"] = random.uniform(80, 120, count), 100, up
    options["to_up"], options["to_down"] = (np.exp(-rate * years / steps) * one for one in (rises, 1 - rises))
    made.append(Program(
        "binomial options", "binomial", {"options": options, "values": np.zeros(count, f32)},
        [Launch("binomial", ("options", "values"), (count * 256,), (256,))],
        "binomial", ("options", "values", u32(count)), "values", tolerance=1e-4))  # fmt: skip

    # Steps of heat between two arrays, in turns.
    shapes = (("stencil 2D", "plane", (1024, 1024), (32, 8), 20), ("stencil 3D", "box", (160, 160, 96), (32, 4, 2), 8))
    for name, kernel, sizes, group, steps in shapes:
        first = random.random(sizes[::-1], f32)
        step = [Launch(kernel, (*names, f32(0.1)), sizes, group) for names in (("first", "second"), ("second", "first"))]
        made.append(Program(
            name, "stencil", {"first": first, "second": first.copy()}, step * (steps // 2),
            kernel, ("first", "second", f32(0.1), *map(u32, sizes), u32(steps)), "first", tolerance=1e-5,
            changed=("first",)))  # fmt: skip

    # The first sphere is the ground. Rounding decides which pixels an edge covers.
    width, height, count = 480, 360, 24
    places, looks = np.zeros((count, 4), f32), np.zeros((count, 4), f32)
    places[:, 0], places[:, 1], places[:, 2] = random.uniform(-3, 3, count), random.uniform(-0.7, 1.5, count), random.uniform(3, 9, count)
    places[:, 3] = random.uniform(0.2, 0.7, count)
    looks[:, :3], looks[:, 3] = random.uniform(0.2, 1, (count, 3)), np.where(random.random(count) < 0.5, 0.5, 0)
    places[0], looks[0] = (0, -101, 6, 100), (0.6, 0.6, 0.5, 0.2)
    made.append(Program(
        "ray tracer", "spheres", {"places": places, "looks": looks, "picture": np.zeros((height, width, 4), f32)},
        [Launch("spheres", ("places", "looks", u32(count), "picture"), (width, height), (32, 8))],
        "spheres", ("places", "looks", u32(count), "picture", u32(width), u32(height)), "picture",
        tolerance=1e-2, outliers=1e-3))  # fmt: skip

    count = 1 << 24
    made.append(Program(
        "prefix sum", "scan",
        {"from": random.integers(0, 1 << 32, (count // 4, 4), u32), "to": np.zeros((count // 4, 4), u32), "totals": np.zeros(count // 1024, u32)},
        [Launch("scan_blocks", ("from", "to", "totals"), (count // 4,), (256,)),
         Launch("scan_totals", ("totals", u32(count // 1024)), (256,), (256,)),
         Launch("add_totals", ("to", "totals"), (count // 4,), (256,))],
        "scan", ("from", "to", "totals", u32(count)), "to"))  # fmt: skip

    count, block = 1 << 18, 1024
    launches = [Launch("sort_blocks", ("data",), (count // 2,), (block // 2,))]
    size = 2 * block
    while size <= count:
        apart = size // 2
        while apart >= block:
            launches.append(Launch("merge_step", ("data", u32(size), u32(apart)), (count // 2,), (256,)))
            apart //= 2
        launches.append(Launch("merge_blocks", ("data", u32(size)), (count // 2,), (block // 2,)))
        size *= 2
    made.append(Program(
        "bitonic sort", "bitonic", {"data": random.integers(0, 1 << 32, count, u32)}, launches,
        "bitonic", ("data", u32(count)), "data", changed=("data",)))  # fmt: skip

    # Rows of 8 to 40 elements: seven of eight in a band, the rest anywhere.
    rows = 1 << 18
    lengths = random.integers(8, 41, rows)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(u32)
    row_of = np.repeat(np.arange(rows), lengths)
    columns = (row_of + random.integers(-500, 501, row_of.size)) % rows
    columns = np.where(random.random(row_of.size) < 0.125, random.integers(0, rows, row_of.size), columns)
    columns = columns[np.lexsort((columns, row_of))].astype(u32)
    matrix = {"starts": starts, "columns": columns, "values": random.standard_normal(row_of.size, f32), "x": random.standard_normal(rows, f32)}
    kernels = (("thread a row", "row_of_thread", rows), ("SIMD group a row", "row_of_simdgroup", 32 * rows))
    for name, kernel, threads in kernels:
        given = {**matrix, "y": np.zeros(rows, f32)}
        made.append(Program(
            f"sparse matrix, {name}", "spmv", given, [Launch(kernel, tuple(given), (threads,), (256,))],
            "spmv", (*given, u32(rows)), "y", tolerance=1e-5))  # fmt: skip
    return made


class Way:
    """Only `run` is timed. `shown` returns the result."""

    prepare: Callable[[], None]
    run: Callable[[], None]
    shown: Callable[[], Any]


def restored(program: Program, arrays: dict[str, Any]) -> Callable[[], None]:
    def prepare() -> None:
        for name in program.changed:
            arrays[name][...] = program.arrays[name]

    return prepare


def own_arrays(program: Program) -> dict[str, Any]:
    """Shares the inputs, and copies the arrays that a run writes."""
    written = {program.result, "totals", "second", *program.changed}
    return {name: array.copy() if name in written else array for name, array in program.arrays.items()}


class Smelt(Way):
    def __init__(self, np: Any, program: Program, threads: int, bits: int) -> None:
        import smelt

        device = smelt.Device("cpu", threads=threads, cpu_level="x86-64-v4" if bits == 512 else "x86-64-v3")
        source = (HERE / "programs" / f"{program.file}.metal").read_text()
        library = smelt.compile_shader(source, device=device, fast_math=program.fast_math, cpu_effort="balanced", filename=f"{program.file}.metal")
        arrays = own_arrays(program)
        calls = []
        for launch in program.launches:
            given = [arrays[one] if isinstance(one, str) else one for one in launch.arguments]
            calls.append((library[launch.kernel], given, launch.threads, launch.group))

        def run() -> None:
            for kernel, given, grid, group in calls:
                kernel(*given, threads=grid, group_size=group)

        self.prepare, self.run, self.shown = restored(program, arrays), run, lambda: arrays[program.result]


class OpenCl(Way):
    def __init__(self, np: Any, program: Program, threads: int, bits: int) -> None:
        import pyopencl as cl

        device = next(d for p in cl.get_platforms() if "Portable" in p.name for d in p.get_devices())
        context = cl.Context([device])
        queue = cl.CommandQueue(context)
        source = (HERE / "programs" / f"{program.file}.cl").read_text()
        built = cl.Program(context, source).build(["-cl-std=CL1.2", *(["-cl-fast-relaxed-math"] if program.fast_math else [])])
        arrays = own_arrays(program)
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.USE_HOST_PTR
        buffers = {name: cl.Buffer(context, flags, hostbuf=array) for name, array in arrays.items()}
        calls = []
        for launch in program.launches:
            kernel = cl.Kernel(built, launch.kernel)
            kernel.set_args(*(buffers[one] if isinstance(one, str) else one for one in launch.arguments))
            calls.append((kernel, launch.threads, launch.group))

        def prepare() -> None:
            for name in program.changed:
                cl.enqueue_copy(queue, buffers[name], program.arrays[name])
            queue.finish()

        def run() -> None:
            for kernel, grid, group in calls:
                cl.enqueue_nd_range_kernel(queue, kernel, grid, group)
            queue.finish()

        def shown() -> Any:
            got = np.empty_like(arrays[program.result])
            cl.enqueue_copy(queue, got, buffers[program.result])
            return got

        self.prepare, self.run, self.shown = prepare, run, shown


class Loops(Way):
    def __init__(self, np: Any, program: Program, threads: int, bits: int) -> None:
        library = pathlib.Path(os.environ["SMELT_STORE"]) / f"{program.file}-{bits}.so"
        if not library.exists():
            words = ["clang-19", "-std=gnu11", "-O3", "-march=native", "-shared", "-fPIC", "-fno-math-errno"]
            words += ["-mprefer-vector-width=512"] if bits == 512 else ["-mno-avx512f"]
            words += ["-ffast-math"] if program.fast_math else ["-ffp-contract=off"]
            subprocess.run([*words, str(HERE / "programs" / f"{program.file}.c"), "-o", str(library), "-lm"], check=True)
        function = ctypes.CDLL(str(library))[program.function]
        arrays = own_arrays(program)

        def as_c(one: Any) -> Any:
            if isinstance(one, str):
                return ctypes.c_void_p(arrays[one].ctypes.data)
            return ctypes.c_float(one) if isinstance(one, np.float32) else ctypes.c_uint32(int(one))

        given = [as_c(one) for one in program.arguments]
        others = concurrent.futures.ThreadPoolExecutor(max(threads - 1, 1))

        def run() -> None:
            rest = [others.submit(function, *given, part, threads) for part in range(1, threads)]
            function(*given, 0, threads)
            for one in rest:
                one.result()

        self.prepare, self.run, self.shown = restored(program, arrays), run, lambda: arrays[program.result]


WAYS = {"smelt": Smelt, "PoCL": OpenCl, "C": Loops}


def difference(np: Any, program: Program, got: Any, wanted: Any) -> str:
    """Empty if the results agree."""
    if got.dtype.kind != "f":
        count = np.count_nonzero(got != wanted)
        return f"{count} of {got.size} elements differ" if count else ""
    if not np.isfinite(got).all():
        return "not finite"
    apart = np.abs(got.astype(np.float64) - wanted)
    far = np.count_nonzero(apart > program.tolerance * np.abs(wanted).max())
    return f"{far} of {got.size} elements differ, by {apart.max():.2g} at most" if far > program.outliers * got.size else ""


def measure(threads: int, bits: int, part: str, seconds: float) -> int:
    os.environ["POCL_MAX_PTHREAD_COUNT"] = str(threads)
    import numpy as np

    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    clock = time.process_time_ns if threads == 1 else time.perf_counter_ns
    what = "processor time" if threads == 1 else "time by the clock"
    print(f"\nPrograms, {threads} thread(s), {bits} bits: fastest and median, ms of {what}; ratios to the faster rival")
    print(f"{'':32}" + "".join(f"{name:>18}" for name in WAYS) + f"{'ratio':>8} {'median':>6}")
    failed = False
    for program in programs(np):
        if part not in program.name:
            continue
        ways = [make(np, program, threads, bits) for make in WAYS.values()]
        for way in ways:
            way.prepare()
            way.run()
        wanted = ways[-1].shown().copy()
        if not wanted.any():
            raise RuntimeError(f"{program.name}: C computed zeros only")
        for name, way in zip(WAYS, ways):
            if said := difference(np, program, way.shown(), wanted):
                print(f"{program.name}: RESULTS DIFFER, {name} and C: {said}")
                failed = True
        took: list[list[float]] = [[] for _ in ways]
        end = time.monotonic() + seconds
        while time.monotonic() < end or len(took[0]) < 3:
            for way, times in zip(ways, took):
                way.prepare()
                began = clock()
                way.run()
                times.append((clock() - began) / 1e6)
        least, middle = [min(times) for times in took], [statistics.median(times) for times in took]
        if threads == 1:
            record(f"programs.{program.name}" + (", 512 bits" if bits == 512 else ""), "ms", least[0], min(least[1:]))
        figures = "".join(f"{a:9.2f}{b:9.2f}" for a, b in zip(least, middle))
        print(f"{program.name:32}{figures}{least[0] / min(least[1:]):8.2f} {middle[0] / min(middle[1:]):6.2f}", flush=True)
    return 1 if failed else 0


def has_avx512() -> bool:
    words = pathlib.Path("/proc/cpuinfo").read_text().split("\n\n", 1)[0].split()
    return {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"} <= set(words)


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("part", nargs="?", default="")
    options.add_argument("--smelt", type=pathlib.Path, required=True)
    options.add_argument("--seconds", type=float, default=1)
    options.add_argument("--measure", type=int, nargs=2, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.measure:
        threads, bits = given.measure
        return measure(threads, bits, given.part, given.seconds)
    wanted = "import numpy, pyopencl; assert any('Portable' in p.name for p in pyopencl.get_platforms())"
    if subprocess.run([sys.executable, "-c", wanted], capture_output=True).returncode != 0 or shutil.which("clang-19") is None:
        print("\nPrograms: not measured without NumPy, PoCL and clang-19 (python3-numpy, python3-pyopencl, pocl-opencl-icd, clang-19)")
        return SKIPPED
    python = given.smelt.resolve().parents[1] / "python"
    worst = 0
    with tempfile.TemporaryDirectory() as scratch:
        environment = {**os.environ, "PYTHONPATH": str(python), "SMELT_STORE": scratch}
        for bits in (256, 512) if has_avx512() else (256,):
            for threads in (1, 2):
                again = [sys.executable, __file__, given.part, "--smelt", given.smelt, "--seconds", given.seconds, "--measure", threads, bits]
                worst = max(worst, abs(subprocess.run([str(word) for word in again], env=environment).returncode))
    return worst


if __name__ == "__main__":
    sys.exit(main())
