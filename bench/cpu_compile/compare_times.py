# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Run times of ggml's kernels as CPU code, before and after a change of the compiler.

    SMELT_CPU_TIMES=before.txt SMELT_WAY=automatic SMELT_LEVEL=x86-64-v3 old/test_aot_ggml
    SMELT_CPU_TIMES=after.txt  SMELT_WAY=automatic SMELT_LEVEL=x86-64-v3 new/test_aot_ggml     (SMELT_FULL=1: all cases)
    python3 bench/cpu_compile/compare_times.py before.txt after.txt

A case is a launch of the test, in the order of the test; of several runs into one file the fastest counts."""
import math
import sys


def read(path):
    times, nth = {}, {}
    runs = open(path).read().split("=\n") if "=\n" in open(path).read() else [open(path).read()]
    for run in runs:
        nth.clear()
        for line in run.splitlines():
            name, nanoseconds = line.split()
            nth[name] = nth.get(name, 0) + 1
            key = name, nth[name]
            times[key] = min(times.get(key, math.inf), float(nanoseconds))
    return times


def main():
    before, after = read(sys.argv[1]), read(sys.argv[2])
    ratios = sorted((after[key] / before[key], key) for key in before if key in after)
    for ratio, (name, nth) in ratios:
        if ratio > 1.1 or ratio < 0.9:
            print(f"{ratio:6.2f}  {before[name, nth] / 1e3:10.1f} -> {after[name, nth] / 1e3:10.1f} us  {name} #{nth}")
    mean = math.exp(sum(math.log(ratio) for ratio, _ in ratios) / len(ratios))
    print(f"{len(ratios)} cases: geometric mean {mean:.3f}, {sum(r > 1.15 for r, _ in ratios)} above 1.15")


main()
