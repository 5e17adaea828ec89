# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Run times of ggml's kernels as CPU code, before and after a change of the compiler.

    SMELT_CPU_TIMES=before.txt SMELT_WAY=automatic SMELT_LEVEL=x86-64-v3 old/test_aot_ggml
    SMELT_CPU_TIMES=after.txt  SMELT_WAY=automatic SMELT_LEVEL=x86-64-v3 new/test_aot_ggml     (SMELT_FULL=1: all cases)
    python3 bench/cpu_compile/compare_times.py before.txt after.txt

A case is a launch of the test, in the order of the test. More files after the first two are further runs of "after", of
which the fastest counts."""
import math
import sys


SHORTEST = 1000  # nanoseconds: what takes less is the clock


def read(path):
    times, nth = {}, {}
    for line in open(path):
        name, nanoseconds = line.split()
        nth[name] = nth.get(name, 0) + 1
        times[name, nth[name]] = float(nanoseconds)
    return times


def main():
    before = read(sys.argv[1])
    runs = [read(path) for path in sys.argv[2:]]
    after = {key: min(run.get(key, math.inf) for run in runs) for key in runs[0]}
    ratios = sorted((after[key] / before[key], key) for key in before
                    if key in after and before[key] >= SHORTEST)
    for ratio, (name, nth) in ratios:
        if ratio > 1.1 or ratio < 0.9:
            print(f"{ratio:6.2f}  {before[name, nth] / 1e3:10.1f} -> {after[name, nth] / 1e3:10.1f} us  {name} #{nth}")
    mean = math.exp(sum(math.log(ratio) for ratio, _ in ratios) / len(ratios))
    print(f"{len(ratios)} cases: geometric mean {mean:.3f}, {sum(r > 1.15 for r, _ in ratios)} above 1.15")


main()
