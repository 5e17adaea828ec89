#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds and runs one example as a reader would: run.py NAME BUILD. Exit 77: skipped, something it needs is not here.

NAME is c, cpp, cmake or metal, which are built against what is installed, or a Python file of examples/.
"""

from __future__ import annotations

import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
NEEDS = {
    "try_kernel.py": ["numpy"],
    "torch_tensors.py": ["torch.mps"],
    "triton_softmax.py": ["torch.mps", "triton"],
    "tinygrad_metal.py": ["numpy", "tinygrad"],
    "image_filter.py": ["numpy", "PIL"],
}


def is_there(module: str) -> bool:
    """torch.mps came with PyTorch 2; Debian's is older."""
    try:
        return importlib.util.find_spec(module) is not None
    except ImportError:
        return False


def run(*command: object, quiet: bool = False) -> str:
    words = [str(word) for word in command]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode or not quiet:
        print(f"$ {' '.join(words)}\n{done.stdout}", end="", flush=True)
    if done.returncode:
        sys.exit(f"exit {done.returncode}")
    return done.stdout


def built(name: str, build: pathlib.Path, work: pathlib.Path) -> None:
    """Installs the loader into an empty folder, builds examples/NAME against it and runs what comes out."""
    smelt = build / "bin/smelt"
    for component in ("loader", "dev", *(("compiler", "command", "metal", "metal-dev") if name == "metal" else ())):
        run("cmake", "--install", build, "--prefix", work / "prefix", "--component", component, quiet=True)
    options = [f"-DCMAKE_PREFIX_PATH={work / 'prefix'}", f"-DSMELT_COMMAND={smelt}"]
    run("cmake", "-S", EXAMPLES / name, "-B", work / "build", "-DCMAKE_BUILD_TYPE=Release", *options, quiet=True)
    run("cmake", "--build", work / "build", quiet=True)
    if name == "cmake":
        output = run("ctest", "--test-dir", work / "build", "--verbose")
        wanted = "1000 of 1000 results are right"
    elif name == "metal":
        output = run(work / "build/reduce")
        wanted = "sum 17920, as wanted"
    else:
        run(smelt, "compile", EXAMPLES / "saxpy.metal", "-o", work / "kernels.smelt")
        program, wanted = {
            "c": ("saxpy", "1000 of 1000 results are right"),
            "cpp": ("row_sum", "7 of 7 sums are right"),
        }[name]
        output = run(work / "build" / program, work / "kernels.smelt")
    if wanted not in output:
        sys.exit(f"the example did not say '{wanted}'")


def pictures_of_the_guide(work: pathlib.Path) -> None:
    """Those that docs/guide/images.md shows are what the example makes, but for a unit of the last place."""
    import numpy as np
    from PIL import Image

    folder = EXAMPLES.parent / "docs/guide/images"
    run(sys.executable, "-B", EXAMPLES / "image_filter.py", folder / "before.png", work / "after.png")
    made, shown = (np.array(Image.open(path).convert("RGB")).astype(int) for path in (work / "after.png", folder / "after.png"))
    if made.shape != shown.shape or np.abs(made - shown).max() > 1:
        sys.exit("docs/guide/images/after.png is not what the example makes of before.png")


def main() -> None:
    name, build = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    missing = [module for module in NEEDS.get(name, []) if not is_there(module)]
    if missing:
        print(f"SKIPPED: no {' and no '.join(missing)}")
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="smelt-example-") as folder:
        work = pathlib.Path(folder)
        os.environ["SMELT_STORE"] = str(work / "store")
        if name.endswith(".py"):
            os.environ["PYTHONPATH"] = str(build / "python")
            run(sys.executable, "-B", EXAMPLES / name)
            if name == "image_filter.py":
                pictures_of_the_guide(work)
        else:
            built(name, build, work)


if __name__ == "__main__":
    main()
