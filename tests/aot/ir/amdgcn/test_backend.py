#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The plug-in back end with stock Triton: @triton.jit kernels on the CPU, from Python to the numbers.

usage: test_backend.py [NAME...]. Needs triton, torch (CPU) and the smelt package; skipped where one is missing. Runs the
kernels of kernels.py, and those of tests/data/triton-3.6.0 (SMELT_TRITON_KERNELS: another kernels.py of theirs).
One process a kernel, as many at once as there are cores. SMELT_TRITON_ARCH chooses Triton's target.
"""

import concurrent.futures
import importlib.util
import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
THEIRS = pathlib.Path(
    os.environ.get("SMELT_TRITON_KERNELS", HERE.parents[2] / "data/triton-3.6.0/kernels.py")
)
MATRICES = dict(BM=32, BN=32, BK=32)
# name: (function of the shared kernels, compile-time values)
SHARED = {
    "vector_add": ("vector_add", dict(BLOCK=1024)),
    "vector_add_f16": ("vector_add", dict(BLOCK=1024)),
    "silu_f16": ("silu", dict(BLOCK=512)),
    "gelu_f32": ("gelu_tanh", dict(BLOCK=512)),
    "softmax_row": ("softmax_row", dict(BLOCK=1024)),
    "layer_norm": ("layer_norm", dict(BLOCK=1024)),
    "matmul_f32": ("matmul", MATRICES),
    "matmul_f16": ("matmul", MATRICES),
    "histogram_atomic": ("histogram_atomic", dict(BLOCK=1024)),
    "dropout": ("dropout", dict(BLOCK=1024)),
    "cumsum_row": ("cumsum_row", dict(BLOCK=1024)),
    "transpose": ("transpose", dict(BM=32, BN=32)),
    "attention": ("attention", dict(BM=32, BN=32, D=64)),
}


def tensor(value, kind):
    """The same memory, for Triton: torch has no bits of bfloat."""
    import numpy
    import torch

    if not isinstance(value, numpy.ndarray):
        return value
    made = torch.from_numpy(value)
    if kind == "*i8" and value.dtype == numpy.uint8:
        import triton

        return triton.reinterpret(made, triton.language.int8)  # the same bytes under another type, which is no tensor
    return made.view(torch.bfloat16) if kind == "*bf16" else made


# A lock needs an order that Metal has from 3.2 on.
TARGETS = {"spin_count": "macos15"}


def run_one(name):
    os.environ.setdefault("SMELT_TARGET", TARGETS.get(name, "macos14"))
    import references
    import triton

    if name in SHARED:
        spec = importlib.util.spec_from_file_location("shared_kernels", THEIRS)
        module = importlib.util.module_from_spec(spec)
        sys.modules["shared_kernels"] = module
        spec.loader.exec_module(module)
        function, constants = SHARED[name]
        function, kinds, warps = getattr(module, function), {}, 4
    else:
        import kernels

        function, kinds, constants, warps = kernels.VARIANTS[name]
    report = []
    for number, shape in enumerate(references.SHAPES):
        case = references.cases(200 + number, shape)[name]
        runtime = [p for p in function.arg_names if p not in constants]
        arguments = {p: tensor(v, kinds.get(p)) for p, v in zip(runtime, case.arguments)}
        start = time.perf_counter()
        compiled = function[case.grid](**arguments, **constants, num_warps=warps)
        took = (time.perf_counter() - start) * 1e3
        assert bytes(smelt.open(compiled.asm["smelt"]).metallib(os.environ.get("SMELT_TARGET") or "macos14"))[:4] == b"MTLB"
        for index, wanted in case.wanted.items():
            wrong = references.judge(case.arguments[index], wanted, case.tolerance)
            if wrong:
                print(f"BAD  {name}, shape {number}, argument {index}: {wrong}", flush=True)
                return 1
        report.append(f"{took:.0f}")
    target = triton.runtime.driver.active.get_current_target()
    print(f"ok   {target.arch} {name}: right in {len(report)} shapes; ms with compiling: {', '.join(report)}", flush=True)
    return 0


def main():
    for module in ("numpy", "triton", "torch", "smelt"):
        if importlib.util.find_spec(module) is None:
            print(f"SKIPPED: no {module}")
            return 77
    if len(sys.argv) == 3 and sys.argv[1] == "--one":
        return run_one(sys.argv[2])
    import kernels

    names = sys.argv[1:] or [*(SHARED if THEIRS.exists() else {}), *kernels.VARIANTS]
    environment = dict(os.environ, CUDA_VISIBLE_DEVICES="", HIP_VISIBLE_DEVICES="")  # no GPU: ours is the active driver
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        command = [sys.executable, "-B", __file__, "--one"]
        futures = [
            pool.submit(subprocess.run, [*command, name], capture_output=True, text=True, env=environment, timeout=900)
            for name in names
        ]
        for name, future in zip(names, futures):
            done = future.result()
            bad += done.returncode != 0
            print(done.stdout.strip() or f"BAD  {name}: {done.stderr[-1500:]}", flush=True)
    print(f"{len(names) - bad} of {len(names)} right")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
