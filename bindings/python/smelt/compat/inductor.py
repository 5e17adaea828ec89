# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs PyTorch's Inductor on smelt: ``torch.compile`` for CPU tensors, through Inductor's code generators for GPUs.

    import smelt.compat.inductor as inductor

    with inductor.use_metal():           # Inductor's Metal code, as on a Mac, compiled by smelt and run on the CPU
        out = torch.compile(model)(x)

    with inductor.use_triton():          # Inductor's Triton code, through smelt's back end for Triton
        out = torch.compile(model)(x)

Both change process-wide settings of Inductor, and restore them at the end of the with block. torch.compile compiles a model at its first call,
so make this call inside the block; compiled models keep running after it. The blocks are not thread-safe, and you cannot nest them. They
change no files of PyTorch. We tested them with PyTorch 2.11, and use_triton with Triton 3.6; docs/reference/inductor.md has the results.

``python -m smelt.compat.inductor check model.py`` runs a model eagerly, through Triton and through Metal, and prints how much the results differ.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["check", "use_metal", "use_store", "use_triton"]


@contextmanager
def _replaced(owner: Any, **values: Any) -> Iterator[None]:
    """Set attributes of `owner` during a with block."""
    missing = object()
    before = {name: getattr(owner, name, missing) for name in values}
    try:
        for name, value in values.items():
            setattr(owner, name, value)
        yield
    finally:
        for name, value in before.items():
            if value is missing:
                delattr(owner, name)
            else:
                setattr(owner, name, value)


@contextmanager
def _registered(backend: str, register: Callable[[Any], None] | None) -> Iterator[None]:
    """Make Inductor use this code generator for the device "cpu" during a with block. Its compiled code is discarded before and after."""
    import torch  # type: ignore[import]

    common = importlib.import_module("torch._inductor.codegen.common")
    config = importlib.import_module("torch._inductor.config")
    common.init_backend_registration()
    before = dict(common.device_codegens)
    torch._dynamo.reset()
    try:
        if register is not None:
            register(common)
        # Part of the key of Inductor's own caches of graphs: what one code generator wrote is not found by another.
        with _replaced(config, cpu_backend=backend):
            yield
    finally:
        common.device_codegens.clear()
        common.device_codegens.update(before)
        torch._dynamo.reset()


class _MetalTypes(dict[Any, str]):
    """Inductor's table of Metal types, with an error that names the missing type instead of a bare KeyError."""

    def __missing__(self, dtype: Any) -> str:
        why = "Metal has no double precision" if str(dtype) == "torch.float64" else "Inductor's generator of Metal has no such type"
        raise TypeError(f"{dtype} is in a kernel, and {why}; use_triton() computes it on the CPU")


@contextmanager
def use_metal() -> Iterator[None]:
    """Use Inductor's Metal code generator for CPU tensors, inside a with block. smelt compiles and runs its kernels, as in smelt.compat.torch."""
    import torch

    from . import torch as compat

    mps = importlib.import_module("torch._inductor.codegen.mps")
    wrapper = importlib.import_module("torch._inductor.codegen.wrapper")
    cpp_wrapper = importlib.import_module("torch._inductor.codegen.cpp_wrapper_cpu")
    ordered_set = importlib.import_module("torch.utils._ordered_set").OrderedSet
    made = mps.MetalKernel.__init__

    def init(self: Any, *args: Any, **options: Any) -> None:
        # The class holds these for all kernels: what one kernel needs would be in all that follow it.
        self.headers = ordered_set(["utils"])
        self.multistage_reduction_entry = []
        made(self, *args, **options)

    def scheduling(scheduler: Any) -> Any:
        if scheduler is not None:
            return mps.MetalScheduling(scheduler)
        # Asked for its features alone, maybe before there is a graph, whose wrapper its constructor writes to.
        made = mps.MetalScheduling.__new__(mps.MetalScheduling)
        made.scheduler = None
        return made

    def register(common: Any) -> None:
        common.register_backend_for_device(
            "cpu", scheduling, wrapper.PythonWrapperCodegen, cpp_wrapper.CppWrapperCpu
        )

    # torch.mps.compile_shader puts <c10/metal/...> into the text, from torch's own include folder, and calls this.
    types = _MetalTypes(mps.DTYPE_TO_METAL)
    with _replaced(torch._C, _mps_compileShader=compat.compile_shader), _replaced(mps.MetalKernel, __init__=init):
        with _replaced(mps, DTYPE_TO_METAL=types), _registered("mps", register):
            yield


@contextmanager
def use_store() -> Iterator[None]:
    """Use smelt's store for torch.compile with MPS tensors and for torch.mps.compile_shader on a Mac, inside a with block.

    smelt compiles Metal source or finds it in its store, and torch loads the library. Metal compiles source that smelt cannot
    compile. Inductor itself is unchanged. On other systems, torch.mps.compile_shader runs on the CPU. This has not run on a Mac.
    """
    import torch

    from . import torch as compat

    name = "_mps_compileShader"
    if hasattr(torch._C, name):
        compat._originals.setdefault(name, getattr(torch._C, name))
    try:
        with _replaced(torch._C, **{name: compat.compile_shader_from_store}):
            yield
    finally:
        compat._originals.pop(name, None)


@contextmanager
def use_triton() -> Iterator[None]:
    """Use Inductor's Triton code generator for CPU tensors, inside a with block.

    Stock Triton compiles the kernels with smelt's back end, which it finds through the entry point ``cpu`` of smelt's
    distribution, in this process and in Inductor's worker processes.
    """
    backends = importlib.import_module("triton.backends").backends
    if "cpu" not in backends or not backends["cpu"].compiler.__module__.startswith("smelt."):
        found = backends["cpu"].compiler.__module__ if "cpu" in backends else "none"
        if found == "smelt_triton":  # it stands in for what could not be imported
            reasons = importlib.import_module("smelt_triton").reasons
            raise RuntimeError(f"use_triton: smelt's back end for Triton is not available: {'; '.join(reasons.values())}")
        raise RuntimeError(
            f"use_triton: Triton's back end 'cpu' is {found}, not smelt's; install smelt so that its entry points are seen "
            "(a folder on PYTHONPATH needs smelt-*.dist-info beside the package)"
        )
    with _registered("triton", None):
        yield


def _distance(got: Any, want: Any) -> tuple[float, float]:
    """Return the largest difference over all elements, in ULP of the expected type and relative. It is infinite if shapes or types differ."""
    import torch

    if got.shape != want.shape or got.dtype != want.dtype:
        return float("inf"), float("inf")
    if not want.dtype.is_floating_point:
        different = float((got != want).sum())
        return different, different
    a, b = got.double(), want.double()
    same = (a == b) | (a.isnan() & b.isnan())
    error = torch.where(same, torch.zeros_like(a), (a - b).abs())
    spacing = torch.finfo(want.dtype).eps * b.abs().clamp_min(torch.finfo(want.dtype).tiny)
    relative = error / b.abs().max().clamp_min(torch.finfo(want.dtype).tiny)
    if error.numel() == 0:
        return 0.0, 0.0
    return float((error / spacing).max()), float(relative.max())


def _tensors(value: Any) -> list[Any]:
    import torch

    flat, _ = torch.utils._pytree.tree_flatten(value)
    return [one.detach().clone() for one in flat if isinstance(one, torch.Tensor)]


def check(model: Callable[..., Any], args: tuple[Any, ...], ways: tuple[str, ...] = ("triton", "metal")) -> list[dict[str, Any]]:
    """Run `model(*args)` eagerly and in each way, and compare the results.

    Args:
        model: the model or function.
        args: its arguments, CPU tensors.
        ways: "triton", "metal" or both.

    Returns:
        A dict for each way: way, ulp and relative (the largest differences over all results, relative to the largest magnitude
        of a result), seconds (compile and first call), error (None, or the exception).
    """
    import time

    import torch

    torch.manual_seed(0)
    wanted = _tensors(model(*args))
    rows = []
    for way in ways:
        row: dict[str, Any] = {"way": way, "ulp": None, "relative": None, "error": None}
        start = time.perf_counter()
        try:
            with use_metal() if way == "metal" else use_triton():
                torch.manual_seed(0)
                got = _tensors(torch.compile(model, fullgraph=False)(*args))
            if len(got) != len(wanted):
                raise ValueError(f"{len(got)} results, eagerly {len(wanted)}")
            distances = [_distance(a, b) for a, b in zip(got, wanted)]
            row["ulp"] = max((one[0] for one in distances), default=0.0)
            row["relative"] = max((one[1] for one in distances), default=0.0)
        except Exception as problem:  # each way is told of, whatever stops it
            row["error"] = f"{type(problem).__name__}: {str(problem).strip().splitlines()[0] if str(problem).strip() else ''}"
        row["seconds"] = time.perf_counter() - start
        rows.append(row)
    return rows


def _main(words: list[str]) -> int:
    import argparse
    import runpy

    parser = argparse.ArgumentParser(
        prog="python -m smelt.compat.inductor",
        description="Runs a model eagerly, through Inductor's Triton code and through its Metal code, and compares the results.",
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    one = verbs.add_parser("check", help="a Python file that defines `model` and `args` (a tuple), or `cases` (name: (model, args))")
    one.add_argument("file")
    one.add_argument("--way", choices=("triton", "metal"), action="append", help="only this way; may be repeated")
    one.add_argument(
        "--tolerance", type=float, default=1e-3,
        help="largest relative difference that counts as right (default 0.001); 1 ULP of the result's type always does",
    )  # fmt: skip
    options = parser.parse_args(words)
    names = runpy.run_path(options.file)
    cases = names.get("cases") or {options.file: (names["model"], names["args"])}
    bad = 0
    print(f"{'case':<28} {'way':<7} {'verdict':<8} {'ULP':>10} {'relative':>10} {'seconds':>8}")
    for name, (model, args) in cases.items():
        for row in check(model, args, tuple(options.way or ("triton", "metal"))):
            # A bfloat that was rounded once more is right, and further off than float's tolerance.
            right = row["error"] is None and (row["relative"] <= options.tolerance or row["ulp"] <= 1)
            bad += not right
            verdict = "right" if right else "refused" if row["error"] else "WRONG"
            numbers = f"{row['ulp']:>10.3g} {row['relative']:>10.3g}" if row["error"] is None else f"{'':>21}"
            print(f"{name:<28} {row['way']:<7} {verdict:<8} {numbers} {row['seconds']:>8.2f}  {(row['error'] or '')[:160]}", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
