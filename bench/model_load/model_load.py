#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How long a process that uses a model waits for its kernels: from its start to the end of the first dispatch, with every
pipeline in use built, out of a package, out of the store, and compiled anew.

    python3 bench/model_load/model_load.py build/release [rounds]

Three sets of kernels:
  Llama    the 60 pipelines of ggml that a Llama-class model in 4 bits uses, out of the library that Apple's compiler
           made (scripts/fetch-corpus); "from source" is from that library
  Triton   500 kernels: ten that Triton 3.6 wrote (tests/aot/ir/amdgcn), each with 50 distances between programs
  axpy     500 kernels of Metal source, and of OpenCL C for PoCL, which has a cache of its own. PoCL makes objects for all
           and loads the code of the one that runs; smelt builds all

"Cold" means that the package, the store, the programs and libraries of the build and its Python package were taken out
of the page cache before each process. The system's libraries (C, C++, LLVM, PoCL) and Python itself stay in it. Triton's
own cache needs Triton, which Debian does not have, so it is not here. Fresh processes that take turns: the least and the
median by the clock until the dispatch has ended, the least of the whole process's time on the processor, which a busy
machine changes less, and how many times the package's both are. What begins with an empty store or cache runs once. Needs
the build's smelt, smelt_python, bench_start and, if there is OpenCL, bench_msl_pocl."""

from __future__ import annotations

import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench"))
from processes import environment_of, forget, python_of, run  # noqa: E402

GGML = pathlib.Path(os.environ.get("SMELT_CORPUS", ROOT / "build/corpus")) / "llama.rn/cpp/ggml-metal/ggml-llama.metallib"
LLAMA = """
get_rows_f32 get_rows_q4_K get_rows_q6_K rms_norm_f32_4 rms_norm_mul_f32_4 rms_norm_mul_add_f32_4
mul_mv_q4_K_f32 mul_mv_q6_K_f32 mul_mv_f16_f32 mul_mv_f16_f32_4 mul_mv_f32_f32 mul_mv_f32_f32_4
mul_mv_ext_q4_K_f32_r1_2 mul_mv_ext_q4_K_f32_r1_3 mul_mv_ext_q4_K_f32_r1_4 mul_mv_ext_q4_K_f32_r1_5
mul_mv_ext_q6_K_f32_r1_2 mul_mv_ext_q6_K_f32_r1_3 mul_mv_ext_q6_K_f32_r1_4 mul_mv_ext_q6_K_f32_r1_5
mul_mv_ext_f16_f32_r1_2 mul_mv_ext_f16_f32_r1_3 mul_mv_ext_f16_f32_r1_4 mul_mv_ext_f16_f32_r1_5
mul_mm_q4_K_f32 mul_mm_q6_K_f32 mul_mm_f16_f32 mul_mm_f32_f32 rope_norm_f32 rope_neox_f32
set_rows_f32_i64 set_rows_f16_i64 set_rows_q8_0_i64 cpy_f32_f16 cpy_f32_f32 cpy_f16_f16 cpy_f16_f32
soft_max_f32 soft_max_f32_4 soft_max_f16_4 flash_attn_ext_pad flash_attn_ext_blk
flash_attn_ext_f16_dk128_dv128 flash_attn_ext_q8_0_dk128_dv128 flash_attn_ext_vec_f16_dk128_dv128
flash_attn_ext_vec_q8_0_dk128_dv128 flash_attn_ext_vec_reduce add_fuse_1 add_fuse_2 add_fuse_3
add_row_c4_fuse_1 mul_fuse_1 mul_row_c4_fuse_1 swiglu_f32 silu_f32 silu_f32_4 scale_f32 scale_f32_4 repeat_f32 argmax_f32
""".split()
TRITON = ("adamw add_bf16 gather_rows histogram_block integers permute_3d quantise_fp8 random_integers scatter_atomic "
          "sum_atomic").split()  # fmt: skip


@dataclass
class Build:
    path: pathlib.Path
    python: str
    folder: pathlib.Path  # of this run

    def bin(self, name: str) -> str:
        return str(self.path / "bin" / name)

    def own_files(self) -> list[pathlib.Path]:
        libraries = [p.resolve() for p in self.path.glob("lib/libsmelt*.so*")]
        return [*libraries, *(self.path / "bin" / n for n in ("smelt", "bench_start")), self.path / "python"]


@dataclass
class Kernels:
    name: str
    first: str  # the kernel that is called
    options: dict[str, object]  # as smelt.compile takes them
    sources: list[pathlib.Path]
    pipelines: list[str]  # "KERNEL [INDEX=VALUE]..."

    def words(self) -> list[str]:
        """The options as `smelt compile` takes them."""
        words = []
        for name, value in self.options.items():
            for one in value if isinstance(value, list) else [value]:
                words += ["--" + name.removesuffix("s").replace("_", "-") if isinstance(value, list)
                          else "--" + name.replace("_", "-"), str(one)]  # fmt: skip
        return words


def llama(build: Build) -> Kernels:
    names = ["kernel_" + name for name in LLAMA]
    shown = subprocess.run([build.bin("smelt"), "inspect", GGML, "--json"], check=True, capture_output=True).stdout
    constants = {f["name"]: f["constants"] for f in json.loads(shown)["functions"]}
    pipelines = [" ".join([name, *(f"{c['index']}={0 if c['type_name'] == 'bool' else 4}" for c in constants[name])])
                 for name in names]  # fmt: skip
    return Kernels("Llama", "kernel_silu_f32", {"functions": names}, [GGML], pipelines)


def triton(build: Build) -> Kernels:
    sources = []
    for name in TRITON:
        text = (ROOT / f"tests/aot/ir/amdgcn/hip-gfx1100/{name}.llir").read_text()
        program = re.search(r"(%\d+) = (?:tail )?call i32 @llvm.amdgcn.workgroup.id.x\(\)", text)[1]
        for i in range(50):
            # A multiple of what it was, so that the bits that the IR says are zero stay zero.
            made, found = re.subn(rf"= shl (?:\w+ )*i32 {program}, (\d+)",
                                  lambda m: f"= mul i32 {program}, {(i + 1) << int(m[1])}", text)  # fmt: skip
            assert found, name
            sources.append(build.folder / f"{name}_{i}.llir")
            sources[-1].write_text(re.sub(rf"@{name}\b", f"@{name}_{i}", made))
    options: dict[str, object] = {"threads_per_threadgroup": 128, "threadgroup_memory": 512}
    return Kernels("Triton", "add_bf16_0", options, sources, [source.stem for source in sources])


def axpy(build: Build) -> Kernels:
    source = build.folder / "axpy.metal"
    source.write_bytes(subprocess.run([build.bin("bench_msl_pocl"), "metal", "500"], check=True, capture_output=True).stdout)
    return Kernels("axpy", "axpy_0", {}, [source], [f"axpy_{i}" for i in range(500)])


@dataclass
class Way:
    name: str
    command: list[str]
    rounds: int
    base: str  # the row that this one is compared with
    cold: list[pathlib.Path] = field(default_factory=list)
    store: pathlib.Path | None = None
    before: Callable[[], None] = lambda: None


def measure(way: Way, environment: dict[str, str]) -> tuple[float, float]:
    """Milliseconds from starting the process to the clock that it printed last, and on the processor to its end."""
    way.before()
    for path in way.cold:
        forget(path)
    start = time.monotonic_ns()
    _, processor, printed = run(way.command, {**environment, "SMELT_STORE": str(way.store)})
    return (int(printed.split()[-1]) - start) * 1e-6, processor * 1e3


def table(ways: list[Way], environment: dict[str, str]) -> None:
    times: dict[str, list[tuple[float, float]]] = {way.name: [] for way in ways}
    for turn in range(max(way.rounds for way in ways)):
        for way in ways:
            if turn < way.rounds:
                times[way.name].append(measure(way, environment))
    least = {name: [min(column) for column in zip(*rows)] for name, rows in times.items()}
    print(f"  {'':<40} {'least':>10} {'median':>10} {'processor':>10}    {'by clock':>11} {'processor':>11}")
    for way in ways:
        clock, processor = least[way.name]
        median = statistics.median(row[0] for row in times[way.name])
        times_clock, times_processor = clock / least[way.base][0], processor / least[way.base][1]
        print(f"  {way.name:<40} {clock:10.1f} {median:10.1f} {processor:10.1f} ms {times_clock:9.1f} x {times_processor:9.1f} x",
              flush=True)  # fmt: skip


def ways_of(kernels: Kernels, build: Build, rounds: int) -> list[Way]:
    package, pipelines = build.folder / f"{kernels.name}.smelt", build.folder / f"{kernels.name}.txt"
    pipelines.write_text("".join(line + "\n" for line in kernels.pipelines))
    sources = [str(source) for source in kernels.sources]
    load = [build.bin("bench_start"), str(package), kernels.first, str(pipelines)]
    make = [build.bin("smelt"), "compile", *sources, *kernels.words(), "-o", str(package)]
    # Two processes: the command makes the package, then the program loads it.
    made = ["/bin/bash", "-c", '"${@:2:$1}" && exec "${@:2+$1}"', "bash", str(len(make)), *make, *load]
    child = [build.python, str(ROOT / "bench/model_load/child.py"), str(pipelines), kernels.first]
    python, python_made = [*child, "package", str(package)], [*child, "source", json.dumps(kernels.options), *sources]
    own = build.own_files()
    cold_package = [package, pipelines, *own]
    c, c_store, py, py_store = "C, package", build.folder / "c", "Python, package", build.folder / "python"
    cold_c, cold_py = [c_store, *kernels.sources, pipelines, *own], [py_store, *kernels.sources, pipelines, *own]
    return [
        Way("C, smelt compile, store empty", made, 1, c, store=c_store, before=empty(c_store)),
        Way("C, smelt compile, from the store", made, rounds, c, store=c_store),
        Way("C, smelt compile, from the store, cold", made, rounds, c, cold_c, c_store),
        Way(c, load, rounds, c),
        Way("C, package, cold", load, rounds, c, cold_package),
        Way("Python, source, store empty", python_made, 1, py, store=py_store, before=empty(py_store)),
        Way("Python, source, from the store", python_made, rounds, py, store=py_store),
        Way("Python, source, from the store, cold", python_made, rounds, py, cold_py, py_store),
        Way(py, python, rounds, py),
        Way("Python, package, cold", python, rounds, py, cold_package),
    ]


def empty(folder: pathlib.Path) -> Callable[[], None]:
    def work() -> None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()

    return work


def pocl_ways(build: Build, environment: dict[str, str], rounds: int) -> list[Way]:
    cache = build.folder / "pocl"
    environment["POCL_CACHE_DIR"] = str(cache)
    start = [build.bin("bench_msl_pocl"), "start", "500"]
    c = "C, package"
    return [
        Way("C++, PoCL, its cache empty", start, 1, c, before=empty(cache)),
        Way("C++, PoCL, from its cache", start, rounds, c),
        Way("C++, PoCL, from its cache, cold", start, rounds, c, [cache, build.path / "bin/bench_msl_pocl"]),
    ]


def main() -> None:
    path = pathlib.Path(sys.argv[1]).resolve()
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    with tempfile.TemporaryDirectory(dir=path) as folder:  # beside the build: /tmp may be memory, which is never cold
        build = Build(path, python_of(path), pathlib.Path(folder))
        environment = environment_of(path, build.folder / "store")
        sets = [triton]
        if GGML.exists():
            sets.insert(0, llama)
        else:
            print(f"Llama: {GGML} is not there; scripts/fetch-corpus brings it")
        if pathlib.Path(build.bin("bench_msl_pocl")).exists():
            sets.append(axpy)
        else:
            print("axpy: no OpenCL to compare with (pocl-opencl-icd, ocl-icd-opencl-dev)")
        for make in sets:
            kernels = make(build)
            print(f"{kernels.name}: {len(kernels.pipelines)} pipelines")
            ways = ways_of(kernels, build, rounds)
            table(ways + (pocl_ways(build, environment, rounds) if make is axpy else []), environment)


if __name__ == "__main__":
    main()
