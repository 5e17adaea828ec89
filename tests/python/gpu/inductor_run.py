# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Many small programs through torch.compile on smelt, each in a process of its own with a time limit, against eager PyTorch:

    python3 inductor_run.py OUT --check                      all that docs/reference/inductor.md counts, within 20 minutes on 16 cores
    python3 inductor_run.py OUT [--set models] [--set ops] [--set gradients] [--way triton] [--way metal] [--jobs N]
                            [--only REGEX] [--limit SECONDS] [--total SECONDS] [--dtypes float32,int64] [--samples N] [--seed N] [--first N]
                            [--checked races,init,sync]

models: the cases of inductor_models.py. ops: every operator of PyTorch's own op_db on its own sample inputs. gradients: those that can be
differentiated, with the gradients of their inputs; --first N: of N operators. An operator's types are compiled as one graph, which takes a third
of the time; one by one where that is not right. OUT gets results.jsonl (as they come, one row a case, way and type: right, WRONG, refused,
timeout, crashed; with what was raised and how many kernels Inductor generated), and failed/ with the log and the sources of each case that is
not right; kernels/ a file for each way, with the SHA-256 of each source that Inductor generated for what is right and smelt compiled. --checked runs checked code, which goes on after a finding: found/ has the findings (found.jsonl) and the sources of each case that has some. Run again with the same OUT, it goes on where it was cut off. Prints a table of counts, each failure's reason and the number of distinct kernels. The way cpp is Inductor's own C++ for the CPU, without smelt: what fails there too is not smelt's. Wants PyTorch 2.11, for Triton 3.6, and the package on PYTHONPATH with its dist-info beside it."""

import argparse
import collections
import contextlib
import functools
import hashlib
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
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")  # the processes are forked, and what they run is for the CPU

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


@functools.cache
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


def samples_of(op, text, count, gradients):
    """(function, arguments) of the first samples of a type that eager PyTorch can run twice with the same results."""
    dtype = DTYPES[text]
    if dtype not in op.supported_dtypes("cpu") or (gradients and not op.supports_autograd):
        return
    torch.manual_seed(3)
    taken = 0
    for sample in op.sample_inputs("cpu", dtype, requires_grad=gradients):
        if taken == count:
            return
        if any(one.numel() == 0 for one in tensors((sample.input, sample.args, sample.kwargs))):
            continue
        taken += 1
        keywords = sample.kwargs

        def program(first, *more, keywords=keywords):
            return op.op(first, *more, **keywords)

        def with_gradients(first, *more, keywords=keywords):
            out = op.op(first, *more, **keywords)
            loss = sum(weighted(one) for one in tensors(out) if one.dtype.is_floating_point and one.requires_grad)
            return out, torch.autograd.grad(loss, [one for one in tensors((first, more)) if one.requires_grad], allow_unused=True)

        tried = with_gradients if gradients else program
        try:
            tried(*clones((sample.input, *sample.args)))
        except Exception:
            continue  # eager PyTorch has no such case, or nothing to differentiate
        yield tried, (sample.input, *sample.args)


def attempt(way, program, args):
    """A row's verdict, error, kernels and seconds."""
    row = {"verdict": "right"}
    begun = time.perf_counter()
    try:
        compare(way, program, args, row)
    except Exception as problem:
        traceback.print_exc()
        row["verdict"] = "refused"
        lines = [line for line in str(problem).strip().splitlines() if line.strip()]
        row["error"] = f"{type(problem).__name__}: {' | '.join(lines)[:600]}"
    torch._dynamo.reset()
    row["seconds"] = round(time.perf_counter() - begun, 2)
    return row


def run_operator(way, name, texts, options, gradients, tell):
    """Tells a row for each type."""
    op = operators()[name]
    found = {}
    for text in texts:
        try:
            found[text] = list(samples_of(op, text, options.samples, gradients)) if (text, way) != ("float64", "metal") else []
        except Exception:  # op_db has no sample of this type
            traceback.print_exc()
        if not found.get(text):
            tell({"dtype": text, "verdict": "none"})
    programs = [(text, *one) for text in texts for one in found.get(text, ())]
    if len(programs) > 1:

        def all_of_them(lists):
            return [program(*args) for (_, program, _), args in zip(programs, lists)]

        together = attempt(way, all_of_them, ([args for _, _, args in programs],))
        if together["verdict"] == "right":
            for number, text in enumerate(text for text in texts if found.get(text)):
                tell({**together, "dtype": text, "cases": len(found[text]), **({"kernels": 0, "seconds": 0} if number else {})})
            return
    for text in texts:
        row = {}
        for program, args in found.get(text, ()):
            row = {**attempt(way, program, args), "dtype": text, "cases": len(found[text])}
            if row["verdict"] != "right":
                break
        if row:
            tell(row)


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
            with (folder / "kernels").open("a") as compiled:
                compiled.write(hashlib.sha256(path.read_bytes()).hexdigest() + "\n")
            path.rename(path.with_name(f"done-{path.name}"))
            return made

        return run

    smelt.compile = kept(smelt.compile, ".ll")
    compat.compile_shader = kept(compat.compile_shader, ".metal")


def child(kind, way, name, texts, folder, options):
    os.setsid()
    log = os.open(folder / "log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.environ.update(TORCHINDUCTOR_CACHE_DIR=str(folder / "inductor"), TRITON_CACHE_DIR=str(folder / "triton"), SMELT_STORE=str(folder / "store"))
    if options.checked:
        os.environ.update(SMELT_CHECK=options.checked, SMELT_CHECK_CONTINUE="1", SMELT_CHECK_REPORT=str(folder / "found.jsonl"))

    def tell(row):
        with (folder / "rows.jsonl").open("a") as rows:
            rows.write(json.dumps(row) + "\n")

    keep_sources(folder)
    if kind == "models":
        import inductor_models

        program, args = inductor_models.cases[name]
        tell({**attempt(way, program, args), "dtype": ""})
    else:
        run_operator(way, name, texts, options, kind == "gradients", tell)
    os._exit(0)


class Pool:
    """Processes, so many at once, each with a time limit."""

    def __init__(self, options, out):
        self.options, self.out, self.running, self.again = options, out, {}, []
        self.kept = out / "results.jsonl"
        self.rows = [json.loads(line) for line in self.kept.read_text().splitlines()] if self.kept.exists() else []
        self.done = {self.key(row) for row in self.rows}
        self.end = time.monotonic() + options.total

    @staticmethod
    def key(row):
        return row["set"], row["way"], row["name"], row["dtype"]

    def add(self, row):
        self.rows.append(row)
        self.done.add(self.key(row))
        with self.kept.open("a") as kept:
            kept.write(json.dumps(row) + "\n")

    def start(self, kind, way, name, texts):
        texts = [text for text in texts if (kind, way, name, text) not in self.done]
        while len(self.running) >= self.options.jobs and time.monotonic() < self.end:
            self.reap()
        if not texts or time.monotonic() > self.end:
            return
        folder = self.out / "work" / f"{kind}-{way}-{re.sub(r'[^A-Za-z0-9._-]+', '_', name)}-{len(texts)}-{texts[0]}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        pid = os.fork()
        if pid == 0:
            try:
                child(kind, way, name, texts, folder, self.options)
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(70)
        limit = 2 * self.options.limit if kind == "models" else self.options.limit
        self.running[pid] = (kind, way, name, texts, folder, time.monotonic() + limit)

    def reap(self):
        pid, status = os.waitpid(-1, os.WNOHANG) if self.running else (0, 0)
        if pid in self.running:
            self.ended(pid, "crashed", status)
            return
        for late in [pid for pid, what in self.running.items() if time.monotonic() > what[5]]:
            os.killpg(late, signal.SIGKILL)
            self.ended(late, "timeout", os.waitpid(late, 0)[1])
        time.sleep(0.01)

    def ended(self, pid, otherwise, status):
        """`otherwise`: of the types that the process has no row for."""
        kind, way, name, texts, folder, _ = self.running.pop(pid)
        place = {"set": kind, "way": way, "name": name}
        kept = folder / "rows.jsonl"
        rows = [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []
        for row in rows:
            self.add({**place, **row})
        left = [text for text in texts if text not in {row["dtype"] for row in rows}]
        good = not left and all(row["verdict"] in ("right", "random", "none") for row in rows)
        compiled = folder / "kernels"
        if good and compiled.exists():
            (self.out / "kernels").mkdir(exist_ok=True)
            with (self.out / "kernels" / way).open("a") as kernels:
                kernels.write(compiled.read_text())
        for part in ("store", "triton"):
            shutil.rmtree(folder / part, ignore_errors=True)
        if (folder / "found.jsonl").exists():
            shutil.rmtree(self.out / "found" / folder.name, ignore_errors=True)
            shutil.copytree(folder, self.out / "found" / folder.name, ignore=shutil.ignore_patterns("inductor", "kernels", "rows.jsonl"))
        if good or len(left) > 1:
            shutil.rmtree(folder)
        else:
            # Of a refusal, the last source; of wrong numbers, all.
            if not any(row["verdict"] == "WRONG" for row in rows):
                shutil.rmtree(folder / "inductor", ignore_errors=True)
                for done in folder.glob("done-*"):
                    done.unlink()
            (self.out / "failed").mkdir(exist_ok=True)
            shutil.rmtree(self.out / "failed" / folder.name, ignore_errors=True)
            folder.rename(self.out / "failed" / folder.name)
        if len(left) == 1:
            self.add({**place, "dtype": left[0], "verdict": otherwise, "status": status})
        elif left:  # which of them it was
            self.again += [(kind, way, name, [text]) for text in left]

    def stop(self):
        """What still runs when the time is over has no row, and is run again next time."""
        while (self.running or self.again) and time.monotonic() < self.end:
            if self.again and len(self.running) < self.options.jobs:
                self.start(*self.again.pop())
            else:
                self.reap()
        for pid in list(self.running):
            os.killpg(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        self.running.clear()
        shutil.rmtree(self.out / "work", ignore_errors=True)


def report(rows, wanted):
    """The table, and each reason once with those that it is of."""
    verdicts = ("right", "WRONG", "refused", "timeout", "crashed", "random", "none", "not run")
    counts = collections.Counter((row["set"], row["way"], row["dtype"], row["verdict"]) for row in rows)
    for key in wanted - {Pool.key(row) for row in rows}:
        counts[key[0], key[1], key[3], "not run"] += 1
    reasons = collections.defaultdict(list)
    for row in rows:
        if row["verdict"] not in ("right", "random", "none"):
            reason = re.sub(r"0x[0-9a-f]+|/\S*/|\d{3,}", "#", row.get("error", row["verdict"]))[:220]
            reasons[row["set"], row["way"], row["verdict"], reason].append(f"{row['name']}{' ' + row['dtype'] if row['dtype'] else ''}")
    for (kind, way, verdict, reason), names in sorted(reasons.items()):
        print(f"{kind} {way} {verdict}: {reason}\n    {len(names)}: {', '.join(names)}")
    print(f"{'set':<10} {'way':<7} {'type':<9}" + "".join(f"{verdict:>9}" for verdict in verdicts))
    for kind, way, text in sorted({key[:3] for key in counts}):
        numbers = "".join(f"{counts[kind, way, text, verdict] or '':>9}" for verdict in verdicts)
        print(f"{kind:<10} {way:<7} {text:<9}{numbers}")


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--check", action="store_true", help="all sets, one sample, gradients of 110, 19 minutes")
    parser.add_argument("--set", action="append", choices=("models", "ops", "gradients"))
    parser.add_argument("--way", action="append", choices=("triton", "metal", "cpp"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="")
    parser.add_argument("--limit", type=float, default=120, help="seconds of a process; twice that for a model")
    parser.add_argument("--total", type=float, help="seconds of this call; what is left is done by the next")
    parser.add_argument("--dtypes", default=",".join(DTYPES))
    parser.add_argument("--checked", default="", help="as SMELT_CHECK says it")
    parser.add_argument("--samples", type=int)
    parser.add_argument("--first", type=int, help="operators of the set gradients")
    parser.add_argument("--seed", type=int, default=5, help="of the order of the operators")
    options = parser.parse_args()
    options.set = options.set or (["models", "ops", "gradients"] if options.check else ["models"])
    options.samples = options.samples or (1 if options.check else 3)
    options.first = options.first or (110 if options.check else None)
    options.total = options.total or (1140 if options.check else 1e9)
    return options


def main():
    options = arguments()
    out = options.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    torch.set_num_threads(1)  # before the forks
    pool = Pool(options, out)
    wanted = set()
    for kind in options.set:
        if kind == "models":
            import inductor_models

            names, texts = list(inductor_models.cases), [""]
        else:
            names, texts = list(operators()), ["float32"] if kind == "gradients" else options.dtypes.split(",")
            random.Random(options.seed).shuffle(names)
        if kind == "gradients":
            names = [name for name in names if operators()[name].supports_autograd][: options.first]
        for name in names:
            if re.search(options.only, name):
                for way in options.way or ["triton", "metal"]:
                    wanted |= {(kind, way, name, text) for text in texts}
                    pool.start(kind, way, name, texts)
    pool.stop()
    report([row for row in pool.rows if Pool.key(row) in wanted], wanted)
    for way in sorted((out / "kernels").glob("*")):
        print(f"{len(set(way.read_text().split()))} distinct kernels by {way.name} in what is right")
    found = collections.Counter()
    for path in sorted((out / "found").glob("*/found.jsonl")):
        for kind in {json.loads(line)["kind"] for line in path.read_text().splitlines()}:
            found[kind] += 1
    for kind, cases in sorted(found.items()):
        print(f"{kind}: {cases} cases, in {out / 'found'}")
    sys.exit(any(row["verdict"] in ("WRONG", "crashed") for row in pool.rows))


if __name__ == "__main__":
    main()
