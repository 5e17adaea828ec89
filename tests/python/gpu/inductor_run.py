# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Many small programs through torch.compile on smelt, each in a process of its own with a time limit, against eager PyTorch:

    python3 inductor_run.py OUT [--set models] [--set ops] [--set gradients] [--way triton] [--way metal] [--jobs N]
                            [--only REGEX] [--limit SECONDS] [--total SECONDS] [--dtypes float32,int64] [--samples N] [--seed N]

models: the cases of inductor_models.py. ops: every operator of PyTorch's own op_db on its own sample inputs. gradients: those that can be
differentiated, with the gradients of their inputs. OUT gets results.json (one row a case and way: right, WRONG, refused, timeout, crashed; with
what was raised and how many kernels Inductor generated), and failed/ with the log and the sources of each case that is not right.
Prints the counts. The way cpp is Inductor's own C++ for the CPU, without smelt: what fails there too is not smelt's. Wants PyTorch 2.11, for Triton 3.6, and the package on PYTHONPATH with its dist-info beside it."""

import argparse
import collections
import contextlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import sys
import time
import traceback

os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")  # the processes are what runs at once

import torch  # noqa: E402
import torch._inductor.compile_fx  # noqa: E402, F401  (once, before the forks)

TOLERANCE = {torch.float64: 1e-7, torch.float32: 2e-4, torch.float16: 1e-2, torch.bfloat16: 5e-2}
DTYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16, "int32": torch.int32, "int64": torch.int64,
          "bool": torch.bool, "float64": torch.float64}  # fmt: skip


def tensors(value):
    flat, _ = torch.utils._pytree.tree_flatten(value)
    return [one for one in flat if isinstance(one, torch.Tensor)]


def difference(got, want):
    """What is different, in words; None when nothing is."""
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{tuple(got.shape)} {got.dtype}, eagerly {tuple(want.shape)} {want.dtype}"
    if not (want.dtype.is_floating_point or want.dtype.is_complex):
        wrong = int((got != want).sum())
        return f"{wrong} of {want.numel()} differ" if wrong else None
    tolerance = TOLERANCE.get(want.dtype, 2e-4)
    a, b = (got, want) if want.dtype.is_complex else (got.double(), want.double())
    if torch.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True):
        return None
    bad = ~torch.isclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True)
    where = bad.nonzero()[0].tolist()
    return f"{int(bad.sum())} of {want.numel()} differ, first at {where}: {a[tuple(where)].item()}, eagerly {b[tuple(where)].item()}"


def compare(way, program, args, row):
    """Fills the row for one program."""
    import smelt.compat.inductor as inductor
    from torch._inductor import metrics

    torch.manual_seed(0)
    want = [one.detach().clone() for one in tensors(program(*clones(args)))]
    torch.manual_seed(1)
    again = [one.detach() for one in tensors(program(*clones(args)))]
    if any(difference(a, b) for a, b in zip(again, want)):
        row["verdict"] = "random"
        return
    metrics.reset()
    try:
        with {"metal": inductor.use_metal, "triton": inductor.use_triton, "cpp": contextlib.nullcontext}[way]():
            got = [one.detach() for one in tensors(torch.compile(program, dynamic=False)(*clones(args)))]
    finally:
        row["kernels"] = row.get("kernels", 0) + metrics.generated_kernel_count
    found = [f"{len(got)} results, eagerly {len(want)}"] if len(got) != len(want) else [difference(a, b) for a, b in zip(got, want)]
    found = [one for one in found if one]
    if found:
        row["verdict"], row["error"] = "WRONG", "; ".join(found[:3])


def clones(args):
    flat, shape = torch.utils._pytree.tree_flatten(args)
    made = [one.detach().clone().requires_grad_(one.requires_grad) if isinstance(one, torch.Tensor) else one for one in flat]
    return torch.utils._pytree.tree_unflatten(made, shape)


def run_model(way, name, row, options):
    import inductor_models

    program, args = inductor_models.cases[name]
    compare(way, program, args, row)


def operators():
    try:
        import expecttest  # noqa: F401  (of PyTorch's tests alone)
    except ImportError:
        import types
        import unittest

        sys.modules["expecttest"] = types.ModuleType("expecttest")
        sys.modules["expecttest"].TestCase = unittest.TestCase
    from torch.testing._internal.common_methods_invocations import op_db

    named = {f"{one.name}{'.' + one.variant_test_name if one.variant_test_name else ''}": one for one in op_db}
    return {name: one for name, one in named.items() if "empty" not in name}  # those promise no values


def run_operator(way, name, row, options, gradients=False):
    op = operators()[name]
    done = 0
    for text in ["float32"] if gradients else options.dtypes.split(","):
        dtype = DTYPES[text]
        if dtype not in op.supported_dtypes("cpu") or (dtype is torch.float64 and way == "metal"):
            continue
        if gradients and not op.supports_autograd:
            continue
        torch.manual_seed(3)
        taken = 0
        for sample in op.sample_inputs("cpu", dtype, requires_grad=gradients):
            if taken == options.samples:
                break
            if any(one.numel() == 0 for one in tensors((sample.input, sample.args, sample.kwargs))):
                continue
            taken += 1
            keywords = sample.kwargs

            def program(first, *more):
                return op.op(first, *more, **keywords)

            def with_gradients(first, *more):
                out = op.op(first, *more, **keywords)
                loss = sum(weighted(one) for one in tensors(out) if one.dtype.is_floating_point and one.requires_grad)
                return out, torch.autograd.grad(loss, [one for one in tensors((first, more)) if one.requires_grad], allow_unused=True)

            row["at"] = f"{text}, sample {taken}"
            tried = with_gradients if gradients else program
            try:
                tried(*clones((sample.input, *sample.args)))
            except Exception:
                continue  # eager PyTorch has no such case, or nothing to differentiate
            compare(way, tried, (sample.input, *sample.args), row)
            if row["verdict"] != "right":
                return
            done += 1
    row["cases"] = done
    if not done:
        row["verdict"] = "none"


def weighted(one):
    """A loss that is linear in the result: gradients are then no further off than the operator makes them."""
    return (one.float() * torch.linspace(0.5, 1.5, one.numel()).view(one.shape)).sum()


def keep_sources(folder):
    """What smelt is asked to compile, for the cases that fail."""
    import smelt
    from smelt.compat import torch as compat

    count = [0]

    def kept(work, suffix):
        def run(source, *args, **options):
            one = source[0] if isinstance(source, (list, tuple)) else source
            count[0] += 1
            path = folder / f"{count[0]}{suffix}"
            path.write_bytes(one if isinstance(one, bytes) else str(one).encode())
            made = work(source, *args, **options)
            path.rename(path.with_name(f"done-{path.name}"))
            return made

        return run

    smelt.compile = kept(smelt.compile, ".ll")
    compat.compile_shader = kept(compat.compile_shader, ".metal")


def child(kind, way, name, folder, options):
    os.setsid()
    log = os.open(folder / "log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.environ.update(TORCHINDUCTOR_CACHE_DIR=str(folder / "inductor"), TRITON_CACHE_DIR=str(folder / "triton"), SMELT_STORE=str(folder / "store"))
    row = {"verdict": "right"}
    begun = time.perf_counter()
    try:
        keep_sources(folder)
        if kind == "models":
            run_model(way, name, row, options)
        else:
            run_operator(way, name, row, options, kind == "gradients")
    except BaseException as problem:
        traceback.print_exc()
        row["verdict"] = "refused"
        lines = [line for line in str(problem).strip().splitlines() if line.strip()]
        row["error"] = f"{type(problem).__name__}: {' | '.join(lines)[:600]}"
    row["seconds"] = round(time.perf_counter() - begun, 2)
    (folder / "row.json").write_text(json.dumps(row))
    os._exit(0)


class Pool:
    """Processes, so many at once, each with a time limit."""

    def __init__(self, options, out):
        self.options, self.out, self.running, self.rows = options, out, {}, []
        self.end = time.monotonic() + options.total

    def start(self, kind, way, name):
        while len(self.running) >= self.options.jobs:
            self.reap()
        if time.monotonic() > self.end:
            self.rows.append({"set": kind, "way": way, "name": name, "verdict": "not run"})
            return
        folder = self.out / "work" / f"{kind}-{way}-{re.sub(r'[^A-Za-z0-9._-]+', '_', name)}"
        folder.mkdir(parents=True)
        pid = os.fork()
        if pid == 0:
            try:
                child(kind, way, name, folder, self.options)
            finally:
                os._exit(70)
        self.running[pid] = (kind, way, name, folder, time.monotonic() + self.options.limit)

    def reap(self):
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid in self.running:
            self.ended(pid, status, None)
            return
        for late in [pid for pid, what in self.running.items() if time.monotonic() > what[4]]:
            os.killpg(late, signal.SIGKILL)
            self.ended(late, os.waitpid(late, 0)[1], "timeout")
        time.sleep(0.01)

    def ended(self, pid, status, verdict):
        kind, way, name, folder, _ = self.running.pop(pid)
        row = {"set": kind, "way": way, "name": name, "verdict": verdict or "crashed", "status": status}
        if not verdict and (folder / "row.json").exists():
            row.update(json.loads((folder / "row.json").read_text()))
        for part in ("store", "triton"):
            shutil.rmtree(folder / part, ignore_errors=True)
        if row["verdict"] in ("right", "random", "none"):
            shutil.rmtree(folder)
        else:
            # Of a refusal, the last source; of wrong numbers, all.
            if row["verdict"] != "WRONG":
                shutil.rmtree(folder / "inductor", ignore_errors=True)
                for done in folder.glob("done-*"):
                    done.unlink()
            (self.out / "failed").mkdir(exist_ok=True)
            folder.rename(self.out / "failed" / folder.name)
        self.rows.append(row)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--set", action="append", choices=("models", "ops", "gradients"))
    parser.add_argument("--way", action="append", choices=("triton", "metal", "cpp"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="")
    parser.add_argument("--limit", type=float, default=120)
    parser.add_argument("--total", type=float, default=1e9)
    parser.add_argument("--dtypes", default="float32,float16,bfloat16,int32,int64,bool,float64")
    parser.add_argument("--samples", type=int, default=3)
    parser.add_argument("--seed", type=int, default=5, help="of the order of the operators")
    options = parser.parse_args()
    out = options.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    torch.set_num_threads(1)  # before the forks
    pool = Pool(options, out)
    for kind in options.set or ["models"]:
        if kind == "models":
            import inductor_models

            names = list(inductor_models.cases)
        else:
            names = list(operators())
            random.Random(options.seed).shuffle(names)
        for name in names:
            if re.search(options.only, name):
                for way in options.way or ["triton", "metal"]:
                    pool.start(kind, way, name)
    while pool.running:
        pool.reap()
    (out / "results.json").write_text(json.dumps(pool.rows, indent=1))
    shutil.rmtree(out / "work", ignore_errors=True)
    counts = collections.Counter((row["set"], row["way"], row["verdict"]) for row in pool.rows)
    for row in pool.rows:
        if row["verdict"] not in ("right", "random", "none", "not run"):
            print(f"{row['set']} {row['way']:<7} {row['name']:<36} {row['verdict']:<8} {row.get('at', '')} {row.get('error', '')[:300]}")
    for key, count in sorted(counts.items()):
        print(*key, count)
    sys.exit(any(verdict in ("WRONG", "crashed") for _, _, verdict in counts))


if __name__ == "__main__":
    main()
