#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs PyTorch's own tests of Inductor, `CommonTemplate` of test/inductor/test_torchinductor.py, on CPU tensors: through
Inductor's C++ code, and through smelt by `use_metal()` and `use_triton()`.

    inductor_common.py TEST_FILE OUT.tsv [--ways cpp,metal,triton] [--jobs N] [--limit 90] [--seconds 540] [--only TEXT] [--every N]

The file comes with PyTorch's source, for example Debian's source package `pytorch`. What a newer PyTorch moved away is
replaced by a decorator that does nothing. PyTorch needs the package expecttest for its tests. Each test has a process,
forked once PyTorch is imported, and `--limit` seconds. A row of OUT.tsv: test, way, seconds, outcome (ok, skip, fail or
crash), message. Prints the sums. After `--seconds`, no test is begun."""

from __future__ import annotations

import argparse
import ast
import collections
import contextlib
import importlib
import importlib.util
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import time
import types
import unittest
from typing import Any


def stand_in(module: str, names: list[str]) -> None:
    """Give a module of PyTorch the names that the test file imports from it, where this version lacks them."""
    try:
        target = importlib.import_module(module)
    except ImportError as why:
        print(f"no module {module}: {why}")
        target = sys.modules[module] = types.ModuleType(module)
    for name in names:
        if name == "*" or hasattr(target, name):
            continue
        try:
            importlib.import_module(f"{module}.{name}")
        except ImportError:
            print(f"{module} has no {name}")
            setattr(target, name, lambda *_, **__: lambda test: test)


def load(path: pathlib.Path) -> types.ModuleType:
    import torch

    torch.set_num_threads(1)
    torch.cuda.is_available = lambda: False  # the tests are for CPU tensors
    torch.cuda.device_count = lambda: 0
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("torch"):
            stand_in(node.module, [alias.name for alias in node.names])
    spec = importlib.util.spec_from_file_location("test_torchinductor", path)
    assert spec and spec.loader
    module = sys.modules["test_torchinductor"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def through(way: str) -> Any:
    import smelt.compat.inductor as inductor

    return {"cpp": contextlib.nullcontext, "metal": inductor.use_metal, "triton": inductor.use_triton}[way]()


def outcome_of(test: unittest.TestCase, way: str) -> str:
    result = unittest.TestResult()
    with through(way):
        unittest.TestSuite([test]).run(result)
    for _, why in result.errors + result.failures:
        return "fail\t" + " | ".join(line for line in why.splitlines() if line.strip())[-1500:].replace("\t", " ")
    for _, why in result.skipped:
        return "skip\t" + why.replace("\n", " ")
    return "ok\t"


def child(test: unittest.TestCase, way: str, to: int) -> None:
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.environ["TRITON_CACHE_DIR"] = folder
        try:
            said = outcome_of(test, way)
        except BaseException as error:  # the test runner itself; the parent counts it
            said = f"fail\t{error!r}".replace("\n", " ")
    os.write(to, said.encode()[:32768])


class Runs:
    def __init__(self, options: argparse.Namespace, module: Any) -> None:
        tests = module.CpuTests
        names = sorted(n for n in dir(tests) if n.startswith("test_") and hasattr(module.CommonTemplate, n.removesuffix("_cpu")))
        names = [name for name in names if options.only in name][:: options.every]
        self.waiting = [(tests, name, way) for name in names for way in options.ways.split(",")]
        self.running: dict[int, tuple[int, str, str, float]] = {}
        self.sums: collections.Counter[tuple[str, str]] = collections.Counter()
        self.options, self.began = options, time.monotonic()

    def start(self) -> None:
        tests, name, way = self.waiting.pop(0)
        reads, writes = os.pipe()
        pid = os.fork()
        if pid == 0:
            child(tests(name), way, writes)
            os._exit(0)
        os.close(writes)
        self.running[pid] = (reads, name, way, time.monotonic())

    def finish(self, pid: int, status: int, out: Any) -> None:
        reads, name, way, began = self.running.pop(pid)
        with os.fdopen(reads, "rb") as pipe:
            said = pipe.read().decode(errors="replace") or f"crash\tstatus {status}"
        out.write(f"{name}\t{way}\t{time.monotonic() - began:.1f}\t{said}\n")
        self.sums[way, said.split("\t")[0]] += 1

    def run(self, out: Any) -> None:
        while self.waiting or self.running:
            if self.waiting and time.monotonic() - self.began > self.options.seconds:
                print(f"{len(self.waiting)} were not run")
                self.waiting.clear()
            while self.waiting and len(self.running) < self.options.jobs:
                self.start()
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid in self.running:
                self.finish(pid, status, out)
                continue
            time.sleep(0.05)
            for late, (_, _, _, began) in self.running.items():
                if time.monotonic() - began > self.options.limit:
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(late, signal.SIGKILL)


def main() -> None:
    parser = argparse.ArgumentParser(description="PyTorch's own tests of Inductor, through smelt")
    parser.add_argument("test_file", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--ways", default="cpp,metal,triton")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--limit", type=float, default=90)
    parser.add_argument("--seconds", type=float, default=540)
    parser.add_argument("--only", default="")
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    if "cpp" in options.ways and not shutil.which("g++"):
        sys.exit("inductor_common: Inductor's C++ code needs g++")
    os.environ |= {"OMP_NUM_THREADS": "1", "TORCHINDUCTOR_COMPILE_THREADS": "1"}
    sys.argv = [str(options.test_file)]  # the file reads it
    runs = Runs(options, load(options.test_file))
    with options.out.open("w") as out:
        runs.run(out)
    for (way, outcome), count in sorted(runs.sums.items()):
        print(f"{way:<8} {outcome:<6} {count}")


if __name__ == "__main__":
    main()
