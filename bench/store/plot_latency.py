#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws bench_store_latency's CSV as docs/design/store-latency.svg.

    build/release/bin/bench_store_latency > latency.csv
    bench/store/plot_latency.py latency.csv docs/design/store-latency.svg

Needs Debian's python3-matplotlib. Left: hits with a copy, by size. Right: misses. A line per number of processes, from the
1st to the 99.9th percentile; dots mark p50 and p99.
"""
import csv
import sys
from collections import defaultdict

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

plt.rcParams["svg.hashsalt"] = "smelt"  # the same figures, the same file


def main(source: str, target: str) -> None:
    groups = defaultdict(list)
    with open(source, newline="") as file:
        for row in csv.DictReader(file):
            groups[row["what"], int(row["size"]), int(row["processes"])].append(
                (float(row["quantile"]), float(row["microseconds"]))
            )
    sizes = sorted({size for _, size, _ in groups})
    processes = sorted({count for _, _, count in groups})
    figure, axes = plt.subplots(2, len(sizes), figsize=(4 * len(sizes), 7), sharey="row")
    for line, what in enumerate(("hit", "miss")):
        for column, size in enumerate(sizes):
            axis = axes[line][column]
            for count in processes:
                points = sorted(groups[what, size, count])
                quantiles = [q for q, _ in points]
                times = [t for _, t in points]
                (drawn,) = axis.plot(times, quantiles, label=f"{count} process{'es' if count > 1 else ''}")
                marked = [(t, q) for q, t in points if q in (0.5, 0.99)]
                axis.plot([t for t, _ in marked], [q for _, q in marked], "o", color=drawn.get_color())
            axis.set_xscale("log")
            axis.set_yscale("logit")
            axis.grid(True, which="major", alpha=0.3)
            axis.set_title(f"{what}, {size // 1024} kB entries")
            axis.set_xlabel("microseconds")
        axes[line][0].set_ylabel("share of calls at most that long")
    axes[0][0].legend()
    figure.tight_layout()
    figure.savefig(target, metadata={"Date": None})


if __name__ == "__main__":
    main(*sys.argv[1:])
