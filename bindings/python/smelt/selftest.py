# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that kernels compiled by smelt on Linux run correctly on this Mac, and measures how much time that saves.

``python -m smelt.selftest`` loads the built-in package on the GPU through PyTorch or PyObjC, and compares each kernel's result with the expected
one. It times the library, the pipeline and the first dispatch, cold and warm, also with torch.mps.compile_shader on the same source, and writes
a JSON file that you can paste into an issue. docs/guide/mac.md."""

from __future__ import annotations

import argparse
import json
import platform
import struct
import sys
import time
from typing import Any, Callable

from . import _selftest
from ._pure import api, choice, gpu, keys
from ._selftest import GROUP, THREADS, Case
from .errors import Error

_TORCH_TYPES = {"f": "float32", "I": "int32", "e": "float16"}  # PyTorch's GPU has no unsigned numbers of 32 bits: the same bits


def _signed(letter: str, values: list[Any]) -> list[Any]:
    return [v - (1 << 32) if v >> 31 else v for v in values] if letter == "I" else values


class ByTorch:
    """Calls a kernel of a torch library with tensors on the GPU."""

    name = "torch"

    def __init__(self, torch: Any) -> None:
        self.torch = torch

    def buffers(self, case: Case) -> list[Any]:
        return [self.torch.tensor(_signed(letter, values), dtype=getattr(self.torch, _TORCH_TYPES[letter]), device="mps")
                for letter, values in case.buffers]  # fmt: skip

    def call(self, kernel: Any, buffers: list[Any]) -> None:
        kernel(*buffers, threads=THREADS, group_size=GROUP)
        self.torch.mps.synchronize()

    def result(self, case: Case, buffers: list[Any]) -> list[Any]:
        found: list[Any] = buffers[case.output].cpu().tolist()
        return [v & 0xFFFFFFFF for v in found] if case.buffers[case.output][0] == "I" else found


class ByObjc:
    """Calls a kernel of gpu.ObjcLibrary with bytes."""

    name = "PyObjC"

    def buffers(self, case: Case) -> list[Any]:
        return [bytearray(struct.pack(f"<{len(values)}{letter}", *values)) for letter, values in case.buffers]

    def call(self, kernel: Any, buffers: list[Any]) -> None:
        kernel(*buffers, threads=THREADS, group_size=GROUP)

    def result(self, case: Case, buffers: list[Any]) -> list[Any]:
        letter, values = case.buffers[case.output]
        return list(struct.unpack(f"<{len(values)}{letter}", buffers[case.output]))


def _milliseconds(do: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    found = do()
    return round((time.perf_counter() - start) * 1e3, 3), found


def _times(load: Callable[[], Any], by: Any, case: Case) -> dict[str, float]:
    """Return the times in milliseconds to load the library, build a kernel's pipeline, and run its first and its next dispatch."""
    library_ms, library = _milliseconds(load)
    pipeline_ms, kernel = _milliseconds(lambda: getattr(library, case.kernel))
    buffers = by.buffers(case)
    first_ms, _ = _milliseconds(lambda: by.call(kernel, buffers))
    next_ms, _ = _milliseconds(lambda: by.call(kernel, buffers))
    return {"library_ms": library_ms, "pipeline_ms": pipeline_ms, "first_dispatch_ms": first_ms, "next_dispatch_ms": next_ms}


def _check(library: Any, by: Any, case: Case) -> dict[str, Any]:
    row: dict[str, Any] = {"kernel": case.kernel, "right": False}
    try:
        buffers = by.buffers(case)
        by.call(getattr(library, case.kernel), buffers)
        found = by.result(case, buffers)
    except Exception as error:  # each is told of, whatever stops it
        row["error"] = f"{type(error).__name__}: {error}"[:500]
        return row
    wrong = [i for i, (a, b) in enumerate(zip(found, case.want)) if a != b]
    row["right"] = not wrong and len(found) == len(case.want)
    if wrong:
        row["error"] = f"{len(wrong)} of {len(found)} differ; the first at {wrong[0]}: {found[wrong[0]]}, want {case.want[wrong[0]]}"
    return row


def run() -> dict[str, Any]:
    """Run the package's kernels, and return the results.

    Raises:
        DeviceError: this machine cannot load a Metal library.
    """
    here = choice.this_machine()
    report: dict[str, Any] = {
        "smelt selftest": 1, "compiler": keys.facts().compiler, "system": platform.platform(), "macos": platform.mac_ver()[0],
        "processor": choice._processor(), "python": platform.python_version(), "machine": platform.machine(),
    }  # fmt: skip
    cases = _selftest.cases()
    package = api.open(_selftest.package())
    library = package.load()
    report["slices"] = list(api.info(library).slices)
    target = api.info(library).target
    metallib = package.metallib(target)
    report["target"], report["bytes"] = target, len(metallib)

    def load() -> Any:
        return gpu.load(metallib, here or choice.OFFLINE)

    torch_loader = gpu.torch_loader()
    by: Any = ByObjc()
    if torch_loader is not None:
        import torch

        by = ByTorch(torch)
        report["torch"] = str(torch.__version__)
    report["loader"] = by.name
    report["cold"] = _times(load, by, cases[0])  # before all else: once a process
    loaded = load()
    report["cases"] = [_check(loaded, by, case) for case in cases]
    report["warm"] = _times(load, by, cases[0])
    if torch_loader is not None and hasattr(torch.mps, "compile_shader"):
        source = _selftest.source()
        # A comment that no cache of the system has seen; then the same text again.
        fresh = f"{source}// {time.time_ns()}\n"
        report["compile_shader_cold"] = _times(lambda: torch.mps.compile_shader(fresh), by, cases[0])
        report["compile_shader_warm"] = _times(lambda: torch.mps.compile_shader(fresh), by, cases[0])
    report["right"] = all(row["right"] for row in report["cases"])
    return report


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m smelt.selftest", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("-o", "--output", default="smelt-selftest.json", help="file to write (default: smelt-selftest.json)")
    options = parser.parse_args(words)
    try:
        report = run()
    except Error as error:
        print(f"smelt.selftest: {error} ({error.code})", file=sys.stderr)
        return 2
    with open(options.output, "w", encoding="utf-8") as file:
        json.dump(report, file, indent=1)
        file.write("\n")
    for row in report["cases"]:
        print(f"{row['kernel']:<10} {'right' if row['right'] else 'WRONG'}  {row.get('error', '')}".rstrip())
    for name in ("cold", "warm", "compile_shader_cold", "compile_shader_warm"):
        if name in report:
            print(f"{name:<20} " + ", ".join(f"{what[:-3].replace('_', ' ')} {ms:.2f} ms" for what, ms in report[name].items()))
    print(f"{'All right' if report['right'] else 'NOT RIGHT'}, by {report['loader']}. Please paste {options.output} into an issue.")
    return 0 if report["right"] else 1


if __name__ == "__main__":
    sys.exit(main())
