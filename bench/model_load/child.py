# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One process of model_load.py: child.py LIST KERNEL package FILE, or child.py LIST KERNEL source OPTIONS SOURCE...
Builds the pipelines of LIST (lines "KERNEL [INDEX=VALUE]...", as in bench/start/start.c), runs one thread of KERNEL on
zeros, and prints the monotonic clock then, in nanoseconds. OPTIONS is JSON for smelt.compile."""

import sys
import time

import smelt

pipelines, first, kind, *rest = sys.argv[1:]
if kind == "package":
    library = smelt.load_metallib(rest[0])
else:
    import json

    library = smelt.compile(rest[1:], **json.loads(rest[0])).load()
kept = []
with open(pipelines) as lines:
    for line in lines:
        name, *constants = line.split()
        values = {int(index): int(value) for index, value in (constant.split("=") for constant in constants)}
        kept.append(smelt.specialize(library, name, values) if values else library[name])
kernel = library[first]
kernel(*(bytearray(4096) for _ in kernel.args), threads=1, check="off")
print(time.monotonic_ns())
