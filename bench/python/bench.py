# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two questions about the Python package, each with its rival in the same run.

launch   What does a warm launch cost through Python, over the same launch through the C API?
cache    500 kernels of six files: Triton's own file cache manager against smelt's, put and get, warm and in a fresh
         process, both in Python. Triton need not be installed: FileManager below keeps the same files in the same layout by
         the same system calls (docs/design/loader.md 2.3); with Triton installed, its own class is measured instead.

    PYTHONPATH=build/release/python python3 bench/python/bench.py [launch] [cache] [--program build/release/bin/bench_python_launch]
"""

from __future__ import annotations

import argparse
import array
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time
import uuid

HERE = pathlib.Path(__file__).resolve().parent
KERNELS = HERE.parent.parent / "tests" / "python" / "kernels.ll"
COUNT = 500
# Median sizes of 35 kernels that Triton 3.6 compiled for an H200.
FILES = {"k.ttir": 6000, "k.ttgir": 8000, "k.llir": 20000, "k.ptx": 15000, "k.cubin": 12000}


class FileManager:
    """The rival: a folder for each key, a group is a JSON file of absolute paths, each file is written to a folder of
    its own and moved."""

    def __init__(self, key: str) -> None:
        self.folder = os.path.join(os.environ["TRITON_CACHE_DIR"], key)
        os.makedirs(self.folder, exist_ok=True)

    def put(self, data: object, name: str, binary: bool = True) -> str:
        path = os.path.join(self.folder, name)
        aside = os.path.join(self.folder, f"tmp.pid_{os.getpid()}_{uuid.uuid4()}")
        os.makedirs(aside, exist_ok=True)
        temporary = os.path.join(aside, name)
        with open(temporary, "wb" if isinstance(data, bytes) else "w") as file:
            file.write(data if isinstance(data, bytes) else str(data))
        os.replace(temporary, path)
        os.removedirs(aside)
        return path

    def put_group(self, name: str, group: dict[str, str]) -> str:
        return self.put(json.dumps({"child_paths": group}), f"__grp__{name}", binary=False)

    def get_group(self, name: str) -> dict[str, str] | None:
        record = os.path.join(self.folder, f"__grp__{name}")
        if not os.path.exists(record):
            return None
        with open(record) as file:
            paths = json.load(file)["child_paths"]
        return {name: path for name, path in paths.items() if os.path.exists(path)}


def manager(kind: str):
    if kind == "smelt":
        from smelt.compat.triton import CacheManager

        return CacheManager
    try:
        from triton.runtime.cache import FileCacheManager

        return FileCacheManager
    except ImportError:
        return FileManager


def put_all(kind: str) -> list[float]:
    made, times = manager(kind), []
    for i in range(COUNT):
        rng = random.Random(i)
        files = {name: rng.randbytes(size) for name, size in FILES.items()}
        metadata = json.dumps({"name": "k", "num_warps": 4, "shared": i})
        start = time.perf_counter()
        cache = made(f"KEY{i:05}")
        assert cache.get_group("k.json") is None
        group = {name: cache.put(data, name) for name, data in files.items()}
        group["k.json"] = cache.put(metadata, "k.json", binary=False)
        cache.put_group("k.json", group)
        times.append(time.perf_counter() - start)
    return times


def get_all(kind: str) -> list[float]:
    """The groups by name; their files are read by the compiler, the same way from either."""
    made, times = manager(kind), []
    for i in range(COUNT):
        start = time.perf_counter()
        group = made(f"KEY{i:05}").get_group("k.json")
        times.append(time.perf_counter() - start)
        assert group is not None and len(group) == len(FILES) + 1
    return times


def show(what: str, kind: str, times: list[float]) -> None:
    times = sorted(times)
    print(
        f"  {what:20} {kind:16} all {sum(times) * 1e3:8.1f} ms   median {times[len(times) // 2] * 1e6:7.1f} us   "
        f"p99 {times[len(times) * 99 // 100] * 1e6:7.1f} us",
        flush=True,
    )


def bench_cache(folder: str) -> None:
    os.environ["SMELT_STORE"] = os.path.join(folder, "store")
    os.environ["TRITON_CACHE_DIR"] = os.path.join(folder, "triton")
    rival = "Triton's layout" if manager("triton") is FileManager else "Triton"
    print(f"{COUNT} kernels of {len(FILES) + 1} files, {sum(FILES.values())} bytes each, in {folder}")
    names = {"triton": rival, "smelt": "smelt"}
    for kind, name in names.items():
        show("put", name, put_all(kind))
    for kind, name in names.items():
        get_all(kind)
        show("get, warm", name, get_all(kind))
    for kind, name in names.items():
        command = [sys.executable, __file__, "fresh", kind]
        times = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        show("get, fresh process", name, times)
    for kind, name in names.items():
        path = os.environ["SMELT_STORE" if kind == "smelt" else "TRITON_CACHE_DIR"]
        blocks = sum(os.lstat(os.path.join(at, file)).st_blocks for at, _, files in os.walk(path) for file in files)
        print(f"  on disk              {name:16} {blocks * 512 / 1e6:.1f} MB")


def best(call, repeats: int) -> float:
    """Microseconds of one call: the fastest of several rounds."""
    rounds = []
    for _ in range(15):
        start = time.perf_counter()
        for _ in range(repeats):
            call()
        rounds.append((time.perf_counter() - start) / repeats)
    return min(rounds) * 1e6


def bench_launch(folder: str, program: str) -> None:
    os.environ["SMELT_STORE"] = os.path.join(folder, "store")
    import smelt

    path = os.path.join(folder, "k.smelt")
    smelt.compile(KERNELS).save(path)
    kernel = smelt.load_metallib(path).saxpy
    print("warm launch, two arrays and a scalar")
    for count, repeats in ((64, 20000), (100_000, 2000)):
        in_c = float(subprocess.run([program, path, str(count), str(repeats)], check=True, capture_output=True).stdout) * 1e-3
        print(f"  {count} elements: C {in_c:.2f} us")
        kinds = {"array.array": array.array("f", [1]) * count}
        try:
            import numpy

            kinds["NumPy"] = numpy.ones(count, numpy.float32)
        except ImportError:
            pass
        try:
            import torch

            kinds["PyTorch"] = torch.ones(count)
        except ImportError:
            pass
        for name, x in kinds.items():
            plain = best(lambda: kernel(x, x, 0.0), repeats)
            full = best(lambda: kernel(x, x, 0, threads=count, group_size=256, arg_casts="fp32"), repeats)
            print(
                f"    {name:12} {plain:.2f} us, {plain - in_c:+.2f} over C;   with threads, group_size and arg_casts "
                f"{full:.2f} us, {full - in_c:+.2f}"
            )


def main() -> None:
    if sys.argv[1:2] == ["fresh"]:
        print(json.dumps(get_all(sys.argv[2])))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", help="launch, cache; default: both")
    parser.add_argument("--program", default=str(HERE.parent.parent / "build/release/bin/bench_python_launch"))
    parser.add_argument("--folder", default=None, help="where the caches lie (default: a temporary folder)")
    asked = parser.parse_args()
    what = asked.what or ["launch", "cache"]
    for one in what:
        folder = tempfile.mkdtemp(prefix="smelt-bench-", dir=asked.folder)
        try:
            if one == "launch":
                bench_launch(folder, asked.program)
            else:
                bench_cache(folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
