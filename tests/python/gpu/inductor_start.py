# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How long torch.compile takes to its first result through Triton, and smelt's share of that:

    python3 inductor_start.py OUT [--model NAME]... [--threads N] [--way triton]

Models of inductor_models.py (Llama, ViT, BERT and ResNet-18), all at once, each in a process of its own with empty caches; then again in second
processes that find them filled. OUT gets a SMELT_TRACE of each. Prints for each process: seconds from the first call to its result; smelt's
share, which is the time in which at least one compile, look-up, load or pipeline of smelt ran (launches, which do the model's work, are not in
it); the sum of these over threads; and, where Inductor compiles in the process itself (--threads 1, the default), the seconds inside the functions that
Triton calls of smelt's back end, with what they do in Python. Wants PyTorch 2.11, Triton 3.6 and smelt with its dist-info, as inductor_run.py."""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import time

MODELS = ("Llama", "ViT", "BERT", "ResNet-18")
STARTING = ("compile", "store", "load", "pipeline")


def one(name, way):
    """In a process of its own: a line of JSON."""
    begun = time.perf_counter()
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import inductor_models
    import torch

    import smelt.compat.inductor as inductor

    inside = [0.0]

    def timed(owner, attribute):
        work = getattr(owner, attribute)

        def run(*args, **options):
            start = time.perf_counter()
            try:
                return work(*args, **options)
            finally:
                inside[0] += time.perf_counter() - start

        setattr(owner, attribute, run)

    if way == "triton":
        from smelt.compat.triton_backend import compiler, driver

        timed(compiler.SmeltBackend, "make_package")
        timed(driver.Utilities, "load_binary")
        timed(driver.Launcher, "__init__")
    torch.set_num_threads(1)
    program, args = inductor_models.cases[name]
    with torch.no_grad(), inductor.use_metal() if way == "metal" else inductor.use_triton():
        start = time.perf_counter()
        torch.compile(program, dynamic=False)(*args)
        end = time.perf_counter()
    print(json.dumps({"imports": start - begun, "first": end - start, "inside": inside[0]}), flush=True)
    os._exit(0)


def share(trace):
    """(seconds in which smelt ran, seconds over all its threads, compiled, found) of a trace."""
    spans, total, counts = [], 0.0, {"compile": 0, "store": 0}
    for event in json.loads(trace.read_text()) if trace.exists() else []:
        if event.get("cat") not in STARTING or "dur" not in event:
            continue
        spans.append((event["ts"], event["ts"] + event["dur"]))
        total += event["dur"]
        if event["cat"] in counts:
            counts[event["cat"]] += 1
    covered, last = 0.0, float("-inf")
    for begin, end in sorted(spans):
        covered += max(0.0, end - max(begin, last))
        last = max(last, end)
    return covered / 1e6, total / 1e6, counts["compile"], counts["store"]


def run_all(options, out, state):
    running = {}
    for name in options.model or MODELS:
        folder = out / re.sub(r"[^A-Za-z0-9]+", "-", name)
        folder.mkdir(parents=True, exist_ok=True)
        trace = folder / f"{state}.json"
        trace.unlink(missing_ok=True)
        environment = {
            **os.environ, "TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor"), "TRITON_CACHE_DIR": str(folder / "triton"),
            "SMELT_STORE": str(folder / "store"), "SMELT_TRACE": str(trace), "TORCHINDUCTOR_COMPILE_THREADS": str(options.threads),
        }  # fmt: skip
        command = [sys.executable, __file__, str(out), "--one", name, "--way", options.way]
        running[name] = trace, subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=(folder / f"{state}.log").open("w"), text=True)
    for name, (trace, process) in running.items():
        said = process.communicate()[0].strip().splitlines()
        if process.returncode != 0 or not said:
            print(f"{state:<5} {name:<12} failed with {process.returncode}: {trace.with_suffix('.log')}", flush=True)
            continue
        row = json.loads(said[-1])
        covered, total, compiled, found = share(trace)
        print(f"{state:<5} {name:<12}{row['imports']:>9.2f}{row['first']:>9.2f}{covered:>9.3f}{total:>9.3f}{row['inside']:>9.3f}{compiled:>10}{found:>7}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--model", action="append")
    parser.add_argument("--threads", type=int, default=1, help="TORCHINDUCTOR_COMPILE_THREADS")
    parser.add_argument("--way", choices=("triton", "metal"), default="triton")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        one(options.one, options.way)
    out = options.out.resolve()
    if out.exists() and any(out.iterdir()):
        sys.exit(f"{out}: want an empty folder, since the first processes are to find nothing")
    print(f"{'':<5} {'model':<12}{'imports':>9}{'first':>9}{'smelt':>9}{'threads':>9}{'inside':>9}{'compiled':>10}{'found':>7}   seconds")
    for state in ("cold", "warm"):
        run_all(options, out, state)


if __name__ == "__main__":
    main()
