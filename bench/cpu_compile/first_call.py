#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How long the first call of a small kernel takes that nobody has seen: from a Metal library's bytes, and from Metal
source, to the result. Each trial is another kernel of another library, in a process that has compiled one before and a
store of its own. Counted is all from the load to the result in memory; the import, and the start of the compiler and
of its helper, are in the time of the first of the process alone. With a pause, which is not counted, the helper has
had time to make its next child ready, as in a program that does something else between two kernels.

    PYTHONPATH=build/release/python bench/cpu_compile/first_call.py [--trials N] [--pause MS] [--effort WORD] [--sandbox MODE]

The module `array` is what is passed, so nothing but Python is needed."""

import argparse
import array
import os
import statistics
import tempfile
import time

SOURCE = """#include <metal_stdlib>
using namespace metal;
kernel void saxpy(device const float* x, device float* y, constant float& a, uint i [[thread_position_in_grid]]) {{
  y[i] = fma(a, x[i], y[i]) + {number}.0f;
}}
"""


def processor_milliseconds():
    """Of this process and of the helper that compiles for it in children (Linux)."""
    total = time.process_time() * 1e3
    tick = 1e3 / os.sysconf("SC_CLK_TCK")
    for task in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{task}/children") as children:
            for child in children.read().split():
                with open(f"/proc/{child}/stat") as file:
                    fields = file.read().rpartition(")")[2].split()
                total += sum(int(field) for field in fields[11:15]) * tick
    return total


def milliseconds(work):
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--pause", type=int, default=0, help="milliseconds between two trials")
    parser.add_argument("--effort", help="fast, balanced or best; default: what is done where nobody says")
    parser.add_argument("--sandbox", help="auto, always or never (SMELT_SANDBOX)")
    options = parser.parse_args()
    if options.sandbox:
        os.environ["SMELT_SANDBOX"] = options.sandbox

    with tempfile.TemporaryDirectory() as store:
        os.environ["SMELT_STORE"] = store
        import smelt

        x, y = array.array("f", [1.0] * 1024), array.array("f", [2.0] * 1024)
        given = {} if options.effort is None else {"cpu_effort": options.effort}

        def call(library):
            library.saxpy(x, y, 2.0)

        def metallib(source):
            return smelt.compile(source, targets=["macos14"], cpu=False, store=False).metallib()

        def sources(first):
            return [SOURCE.format(number=first + i) for i in range(options.trials + 1)]

        for what, inputs, load in (
            ("Metal library", [metallib(source) for source in sources(1)], smelt.load_metallib),
            ("Metal source", sources(100_001), smelt.compile_shader),
        ):
            cold, before, took = 0.0, 0.0, []
            for nth, one in enumerate(inputs):
                time.sleep(options.pause / 1e3)
                time_of_one = milliseconds(lambda: call(load(one, **given)))  # noqa: B023
                if nth == 0:
                    cold, before = time_of_one, processor_milliseconds()
                else:
                    took.append(time_of_one)
            processor = (processor_milliseconds() - before) / len(took)
            print(
                f"{what:14} to result: first of the process {cold:6.1f} ms; then median {statistics.median(took):5.1f} ms "
                f"(least {min(took):.1f}, most {max(took):.1f}) of {len(took)}; {processor:.1f} ms of processors each"
            )


if __name__ == "__main__":
    main()
