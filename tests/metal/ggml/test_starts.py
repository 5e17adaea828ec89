#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""llama.cpp from the start of its process to the first token, by what it finds of compiled kernels.

test_starts.py PROGRAM SMELT STORE [--all TABLE]

Every day: one model with the store given, twice; the second start must compile nothing. With --all: each kind of model
from an empty store, a warm one and a package of the kernels that the first start took, and ggml's CPU back end; their
times go to TABLE. What kernels that run often have made in the background is left out: a token does not wait for it.
"""

from __future__ import annotations

import ctypes
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import time

PROGRAM, SMELT, STORE = (pathlib.Path(word) for word in sys.argv[1:4])
TABLE = pathlib.Path(sys.argv[5]) if sys.argv[4:5] == ["--all"] else None
DAILY = ["llama-q4_0", "experts-q4_K", "bert-q8_0"]
KERNELS = pathlib.Path(os.environ["LM_GGML_METAL_PATH_RESOURCES"])


ctypes.CDLL(None).prctl(36, 1)  # PR_SET_CHILD_SUBREAPER: what a program leaves behind is waited for, and counted, here


def processor_seconds() -> float:
    """Of all children so far, and of theirs."""
    try:
        while True:
            os.wait()
    except ChildProcessError:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime


class Start:
    """One start: `seconds` until the first token was on stdout, `processor` seconds of all it took, `token`, and what
    the trace says."""

    def __init__(self, model: pathlib.Path, device: str, program: pathlib.Path = PROGRAM, **environment: str) -> None:
        with tempfile.TemporaryDirectory(prefix="smelt-start-") as folder:
            trace = pathlib.Path(folder) / "trace.json"
            words = [program.absolute(), "first-token", model.stem, model, device]
            before = processor_seconds()
            began = time.monotonic()
            with subprocess.Popen(words, stdout=subprocess.PIPE, text=True,
                                  env={**os.environ, "SMELT_TRACE": str(trace), "SMELT_CPU_REPLACE": "0",
                                       **environment}) as process:
                self.token = process.stdout.readline().strip()
                self.seconds = time.monotonic() - began
            self.processor = processor_seconds() - before
            if process.returncode != 0 or not self.token:
                sys.exit(f"{model.stem} on {device}: exit {process.returncode}")
            events = json.loads(trace.read_text()) if trace.exists() else []
        self.names = {category: {event["name"] for event in events if event.get("cat") == category}
                      for category in ("compile", "store", "pipeline", "dispatch")}


def check(right: bool, what: str) -> None:
    if not right:
        sys.exit(f"WRONG: {what}")


def second_start(model: pathlib.Path, store: pathlib.Path) -> tuple[Start, Start]:
    """A start with this store, and one after it."""
    first = Start(model, "metal", SMELT_STORE=str(store))
    second = Start(model, "metal", SMELT_STORE=str(store), SMELT_OFFLINE="1")
    check(not second.names["compile"], f"{model.stem}: the second start compiled {sorted(second.names['compile'])}")
    check(first.names["dispatch"] == second.names["dispatch"], f"{model.stem}: the second start ran other kernels")
    check(any(name.startswith("kernel_mul_mm") for name in second.names["dispatch"]),
          f"{model.stem}: no product of matrices ran on the Metal device, but {sorted(second.names['dispatch'])}")
    check(second.token == first.token, f"{model.stem}: {first.token}, then {second.token}")
    return first, second


def packaged_start(model: pathlib.Path, kernels: set[str], folder: pathlib.Path) -> Start:
    """ggml takes default.metallib beside the program, and Metal a package for it."""
    (folder / "program").mkdir()
    program = folder / "program" / PROGRAM.name
    shutil.copy(PROGRAM, program)
    words = [SMELT, "compile", KERNELS / "ggml-metal.metal", "-I", KERNELS.parent, "-I", KERNELS, "--target", "macos15",
             "--fast-math", "-D", "LM_GGML_METAL_HAS_BF16=1", "-o", folder / "kernels.smelt"]
    for kernel in sorted(kernels):
        words += ["--function", kernel]
    compiled = subprocess.run(words, env={**os.environ, "SMELT_STORE": str(folder / "store")}, stderr=subprocess.PIPE,
                              text=True)
    check(compiled.returncode == 0, f"the package could not be compiled: {compiled.stderr}")
    (folder / "kernels.smelt").rename(program.parent / "default.metallib")
    start = Start(model, "metal", program, SMELT_STORE=str(folder / "none"), SMELT_OFFLINE="1")
    check(not start.names["compile"] and not start.names["store"], f"{model.stem}: a start with a package took other code")
    return start


def all_starts(kind: str, folder: pathlib.Path) -> str:
    model = folder / f"{kind}.gguf"
    subprocess.run([PROGRAM, "write", kind, model], check=True)
    empty, warm = second_start(model, folder / "store")
    package = packaged_start(model, warm.names["pipeline"], folder)
    check(package.token == warm.token, f"{kind}: {warm.token} from the store, {package.token} from the package")
    cpu = Start(model, "cpu")
    kernels = len(empty.names["compile"] - {"program_source"})
    seconds = [f"{start.seconds:.2f} ({start.processor:.2f})" for start in (empty, warm, package, cpu)]
    return f"| {kind} | {kernels} | {' | '.join(seconds)} |\n"


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="smelt-starts-") as name:
        folder = pathlib.Path(name)
        if TABLE is None:
            model = folder / f"{DAILY[0]}.gguf"
            subprocess.run([PROGRAM, "write", DAILY[0], model], check=True)
            first, second = second_start(model, STORE)
            cpu = Start(model, "cpu")
            print(f"{DAILY[0]}: {first.seconds:.2f} s, then {second.seconds:.2f} s; ggml's CPU back end {cpu.seconds:.2f} s")
            return
        rows = "| Model | Kernels | Empty store | Warm store | Package | CPU back end |\n|---|---|---|---|---|---|\n"
        for kind in DAILY:
            (folder / kind).mkdir()
            rows += all_starts(kind, folder / kind)
        print(rows)
        TABLE.write_text(rows)


if __name__ == "__main__":
    main()
