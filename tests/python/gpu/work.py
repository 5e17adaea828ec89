# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs every kernel of kernels.py once: work.py LOG TAG [SEED of the order]. Appends a line to LOG for each compile and
each hit that Triton tells its listener of, and prints one line of JSON."""

import json
import random
import sys
import time

start = time.perf_counter()
import torch  # noqa: E402
from kernels import KERNELS  # noqa: E402
from triton import knobs  # noqa: E402

log, tag, *seed = sys.argv[1:]
counts = {"compiled": 0, "hit": 0}


def listen(*, src, metadata, metadata_group, times, cache_hit):
    what = "hit" if cache_hit else "compiled"
    counts[what] += 1
    with open(log, "a") as file:
        file.write(f"{what} {src.name}/{metadata['hash'][:12]} {tag}\n")


knobs.compilation.listener = listen
names = list(KERNELS)
if seed:
    random.Random(int(seed[0])).shuffle(names)
began = time.perf_counter()
wrong = [name for name in names if not KERNELS[name]()]
torch.cuda.synchronize()
end = time.perf_counter()
manager = knobs.cache.manager_class
report = {
    "tag": tag,
    "kernels": len(names),
    **counts,
    "wrong": wrong,
    "import_s": round(began - start, 2),
    "run_s": round(end - began, 2),
    "manager": f"{manager.__module__}.{manager.__name__}" if manager else "Triton's own",
}
if "smelt" in report["manager"]:
    from smelt.compat.triton import counters

    report["counters"] = counters()
print(json.dumps(report), flush=True)
sys.exit(bool(wrong))
