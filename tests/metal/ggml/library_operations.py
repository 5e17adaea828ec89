#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cases of all operations with an older ggml, whose back ends stop the program where they cannot go on.

library_operations.py PROGRAM TABLE [--sample N]

Each operation is a process of its own; where one is stopped, the next goes on after the case. Exit 1: a case has other
numbers, or was stopped for another reason than an assertion of ggml's.
"""

from __future__ import annotations

import collections
import os
import pathlib
import subprocess
import sys

PROGRAM, TABLE = sys.argv[1], pathlib.Path(sys.argv[2])
SAMPLE = sys.argv[3:]
OUTCOMES = ("right", "not claimed", "WRONG", "stopped by ggml", "stopped")


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PROGRAM, *words, *SAMPLE], capture_output=True, text=True, env={**os.environ, "LM_GGML_NO_BACKTRACE": "1"})


def operation(name: str, cases: int) -> collections.Counter[str]:
    counts: collections.Counter[str] = collections.Counter()
    while (done := counts.total()) < cases:
        ended = run("--operation", name, "--skip", str(done), "--verbose")
        for line in ended.stdout.splitlines():
            outcome = next((outcome for outcome in OUTCOMES if line.startswith(f"{outcome} {name}")), None)
            if outcome is None:
                continue
            counts[outcome] += 1
            if outcome == "WRONG":
                print(line)
        if ended.returncode >= 0:
            break
        asserted = [line for line in ended.stderr.splitlines() if "_ASSERT(" in line]
        counts["stopped by ggml" if asserted else "stopped"] += 1
        print(f"{name}, case {counts.total()}: {asserted[0] if asserted else ended.stderr[-500:]}", flush=True)
    return counts


def main() -> int:
    cases = collections.Counter(line.split()[0] for line in run("--list").stdout.splitlines())
    sample = f"a sample, at most {SAMPLE[1]} cases of each operation, evenly spread" if SAMPLE else "all cases"
    rows = f"Outcomes of {sample}:\n\n"
    rows += "| Operation | Cases passed | Not claimed by the device | Other numbers | Stopped by ggml |\n|---|---|---|---|---|\n"
    total: collections.Counter[str] = collections.Counter()
    for name in sorted(cases):
        counts = operation(name, cases[name])
        total += counts
        rows += f"| `{name}` | {' | '.join(str(counts[outcome]) for outcome in OUTCOMES[:4])} |\n"
    rows += f"| together | {' | '.join(str(total[outcome]) for outcome in OUTCOMES[:4])} |\n"
    TABLE.write_text(rows)
    print(dict(total))
    return 0 if total["right"] and not total["WRONG"] and not total["stopped"] and total.total() == cases.total() else 1


if __name__ == "__main__":
    sys.exit(main())
