#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What scripts/bench runs, and the page that it makes of what was measured.

    report.py run BUILD OUT.json [--rounds 3] [--only load,store] [--before OLD.json]
    report.py page MEASURED.json PAGE.md PICTURE.svg      the same figures, the same page

A row (rows.py) is a figure of smelt beside a rival's from the same run; less is better. Benches append rows to
$SMELT_BENCH_ROWS (bench.hpp, processes.py). Each bench runs once a round, and rounds take turns, so that a row's spread is
that of the machine over some minutes. With --only the file's other rows stay. Nothing fails because it is slow: tests
assert no speed. The picture needs python3-matplotlib.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

from rows import SECTIONS, Row, Section

ROOT = pathlib.Path(__file__).resolve().parents[1]
SKIPPED = 77


def machine() -> str:
    model = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.machine())
    system = platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    return f"{model}, {os.cpu_count()} processors, {system}"


def geometric_mean(values: list[float]) -> float:
    return math.exp(sum(math.log(one) for one in values) / len(values))


def rows_of(file: pathlib.Path) -> dict[str, dict[str, Any]]:
    """What one round of a section has said. Kernels of one check are one row: their geometric mean."""
    found: dict[str, dict[str, Any]] = {}
    checks: dict[str, dict[str, float]] = {}
    for line in file.read_text().splitlines() if file.exists() else []:
        row = json.loads(line)
        if row["row"].startswith("checks."):
            what, kernel = row["row"].rsplit(".", 1)
            checks.setdefault(what, {})[kernel] = row["ours"] / row["rival"]
        else:
            found[row["row"]] = {key: row[key] for key in ("unit", "ours", "rival")}
    for name, costs in checks.items():
        found[name] = {"unit": "", "ours": geometric_mean(list(costs.values())), "rival": 1}
    return found


def run(build: pathlib.Path, out: pathlib.Path, rounds: int, only: list[str], before: pathlib.Path | None) -> int:
    if (load := os.getloadavg()[0]) > 0.7:
        print(f"the machine is busy (load {load:.1f}): figures will be worse than they are", file=sys.stderr)
    words = {"{bin}": str(build / "bin"), "{python}": sys.executable, "{source}": str(ROOT), "{build}": str(build)}
    rows: dict[str, dict[str, Any]] = {}
    began = time.monotonic()
    for round in range(rounds):
        for section in SECTIONS:
            if only and section.name not in only:
                continue
            with tempfile.TemporaryDirectory() as folder:
                file = pathlib.Path(folder) / "rows"
                for command in (section.command, *([section.once] if section.once and round == 0 else [])):
                    line = list(command)
                    for key, value in words.items():
                        line = [one.replace(key, value) for one in line]
                    if not pathlib.Path(line[0]).exists():
                        print(f"{section.name}: not measured without {pathlib.Path(line[0]).name}", file=sys.stderr)
                        continue
                    print(f"round {round + 1} of {rounds}, {section.name}: {time.monotonic() - began:.0f} s", flush=True)
                    done = subprocess.run(line, env={**os.environ, "SMELT_BENCH_ROWS": str(file)}, stdout=subprocess.DEVNULL)
                    if done.returncode not in (0, SKIPPED):
                        print(f"{section.name}: {command[0]} ended with {done.returncode}", file=sys.stderr)
                        return 1
                for name, row in rows_of(file).items():
                    kept = rows.setdefault(name, {"unit": row["unit"], "ours": [], "rival": []})
                    kept["ours"].append(row["ours"])
                    kept["rival"].append(row["rival"])
    if only and out.exists():  # what was not measured again stays
        rows = {**json.loads(out.read_text())["rows"], **rows}
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps({"machine": machine(), "rounds": rounds, "rows": rows}, indent=1) + "\n")
    print(f"{len(rows)} rows in {time.monotonic() - began:.0f} s: {out}")
    if before is not None:
        old = json.loads(before.read_text())["rows"]
        for name, row in rows.items():
            if name in old and (then := ratio(old[name])[0]) * 1.1 < (now := ratio(row)[0]):
                print(f"worse than before: {name}: {then:.2f}, now {now:.2f}")
    return 0


def ratio(row: dict[str, Any]) -> tuple[float, float, float]:
    """Median, least and most over the rounds. Without a rival it is the figure itself."""
    values = [ours / rival if rival else ours for ours, rival in zip(row["ours"], row["rival"])]
    return statistics.median(values), min(values), max(values)


def number(value: float) -> str:
    if value == 0:
        return "0"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{round(value, digits - 1) if digits == 0 else value:,.{min(digits, 3)}f}"


def figure(values: list[float], unit: str) -> str:
    return f"{number(statistics.median(values))} {unit}".strip()


def is_reached(row: Row, kept: dict[str, Any]) -> bool:
    return (statistics.median(kept["ours"]) if row.absolute else ratio(kept)[0]) <= row.aim


def table(section: Section, rows: dict[str, dict[str, Any]]) -> list[str]:
    lines = [f"| | smelt | {section.rival} | ratio | spread | aim |", "|---|---|---|---|---|---|"]
    for row in section.rows:
        kept = rows.get(row.name)
        if kept is None:
            lines.append(f"| {row.what} | not measured | | | | |")
            continue
        has_rival = any(kept["rival"])
        middle, least, most = ratio(kept)
        ours = figure(kept["ours"], kept["unit"]) if kept["unit"] else ""
        rival = figure(kept["rival"], kept["unit"]) if has_rival and kept["unit"] else ""
        aim = "" if row.aim == 0 else f"{number(row.aim)} {kept['unit']}".strip() if row.absolute else number(row.aim)
        if row.aim and not is_reached(row, kept):
            aim += ", missed"
        times = number if middle >= 100 else "{:.2f}".format
        shown = f"{times(middle)} | {times(least)} to {times(most)}" if has_rival else f"| {number(least)} to {number(most)}"
        lines.append(f"| {row.what} | {ours} | {rival} | {shown} | {aim} |")
    return lines


def page(measured: dict[str, Any]) -> str:
    rows = measured["rows"]
    aims = [(row, rows[row.name]) for section in SECTIONS for row in section.rows if row.aim and row.name in rows]
    reached = sum(is_reached(row, kept) for row, kept in aims)
    lines = [
        "# Measured", "",
        "`scripts/bench` runs these benches and makes this page, its figures (`measured.json`) and its picture. A row is a figure of "
        "smelt beside a rival's from the same run. Less is better. A ratio is the median of "
        f"{measured['rounds']} rounds; the spread is the least and the most of them. No test asserts a speed.", "",
        f"Machine: {measured['machine']}, idle, release build. {reached} of {len(aims)} aims are reached. Why others are not: "
        "[limits](limits.md).", "",
        "![Ratios to the rivals](measured.svg)",
    ]  # fmt: skip
    for section in SECTIONS:
        command = " ".join(section.command).replace("{python} {source}/", "").replace("{bin}/", "").replace("{build}", "BUILD")
        command = command.replace("smelt --seconds", "SMELT --seconds").replace("  ", ' "" ')
        lines += ["", f"## {section.title}", "", f"{section.text} Alone: `{command}`.", "", *table(section, rows)]
    return "\n".join(lines) + "\n"


def picture(measured: dict[str, Any], target: pathlib.Path) -> None:
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    plt.rcParams["svg.hashsalt"] = "smelt"  # the same figures, the same file
    plt.rcParams["svg.fonttype"] = "none"
    shown = [
        (row.what.replace("`", ""), section.title, ratio(measured["rows"][row.name]), row)
        for section in SECTIONS
        for row in section.rows
        if section.name not in ("checks", "commands") and row.name in measured["rows"] and any(measured["rows"][row.name]["rival"])
    ]
    figure, axis = plt.subplots(figsize=(9, 0.24 * len(shown) + 0.8))
    titles = [section.title for section in SECTIONS]
    for at, (_, title, (middle, least, most), row) in enumerate(shown):
        axis.barh(at, middle, color=f"C{titles.index(title)}", left=0)
        axis.plot([least, most], [at, at], color="black", linewidth=1)
        if row.aim and not row.absolute:
            axis.plot([row.aim, row.aim], [at - 0.4, at + 0.4], color="red", linewidth=1.5)
    axis.set_yticks(range(len(shown)), [f"{title}: {what}" for what, title, _, _ in shown], fontsize=7)
    axis.invert_yaxis()
    axis.axvline(1, color="grey", linewidth=0.8)
    axis.set_xlabel("times the rival's time (black: spread; red: aim)")
    figure.tight_layout()
    figure.savefig(target, metadata={"Date": None})


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = options.add_subparsers(dest="verb", required=True)
    runs = verbs.add_parser("run")
    runs.add_argument("build", type=pathlib.Path)
    runs.add_argument("out", type=pathlib.Path)
    runs.add_argument("--rounds", type=int, default=3)
    runs.add_argument("--only", default="")
    runs.add_argument("--before", type=pathlib.Path)
    pages = verbs.add_parser("page")
    pages.add_argument("measured", type=pathlib.Path)
    pages.add_argument("page", type=pathlib.Path)
    pages.add_argument("picture", type=pathlib.Path, nargs="?")
    given = options.parse_args()
    if given.verb == "run":
        return run(given.build.resolve(), given.out, given.rounds, [one for one in given.only.split(",") if one], given.before)
    measured = json.loads(given.measured.read_text())
    given.page.write_text(page(measured))
    if given.picture is not None:
        picture(measured, given.picture)
    return 0


if __name__ == "__main__":
    sys.exit(main())
