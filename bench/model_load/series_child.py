# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One process of series.py: series_child.py WAY FOLDER COUNT. Loads COUNT kernels in that way, builds all pipelines, runs one
thread of the last kernel, and prints JSON: the monotonic clock at the end in nanoseconds, and microseconds of each hit.

  package  one package has all kernels: a hit is the look-up of a name
  store    an entry a kernel: a hit is `smelt.compile` of its source, which finds the entry and loads it
  files    Triton's cache without Triton: a hit hashes the source, reads the group's JSON and the library, and loads it"""

import hashlib
import json
import pathlib
import sys
import time

import smelt

way, folder, count = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3])
package = smelt.load_metallib(folder / f"{count}.smelt") if way == "package" else None
sources = [] if package else json.loads((folder / "sources.json").read_text())[:count]
hits, kernels = [], []
for i in range(count):
    start = time.perf_counter_ns()
    if way == "package":
        kernel = package[f"axpy_{i}"]
    elif way == "store":
        kernel = smelt.compile(sources[i]).load()[f"axpy_{i}"]
    else:
        key = hashlib.sha256(sources[i].encode()).hexdigest()
        group = json.loads((folder / "files" / key / "__grp__kernel.json").read_bytes())
        path = pathlib.Path(group["child_paths"]["kernel.smelt"])
        json.loads(path.with_suffix(".json").read_bytes())
        kernel = smelt.load_metallib(path.read_bytes())[f"axpy_{i}"]
    hits.append((time.perf_counter_ns() - start) / 1e3)
    kernels.append(kernel)
kernels[-1](bytearray(4), bytearray(4), 1.0, 1, threads=1)
print(json.dumps({"end": time.monotonic_ns(), "hits": hits}))
