#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What scripts/bench runs, and the page that it makes of what was measured.

    report.py run BUILD OUT.json [--rounds 3] [--only load,store] [--before OLD.json]
    report.py page MEASURED.json PAGE.md PICTURE.svg SUMMARY.svg      the same figures, the same page
    report.py summary MEASURED.json SUMMARY.svg           the bars of the summary alone

A row (rows.py) compares smelt with a rival in the same run; less is better. Benches append rows to
$SMELT_BENCH_ROWS (bench.hpp, processes.py). Each bench runs once a round, and rounds take turns, so that a row's spread is
that of the machine over some minutes. With --only the file's other rows stay. Nothing fails because it is slow: tests
assert no speed. PICTURE.svg needs python3-matplotlib.
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

from rows import BARS, GROWTH, LOAD, SCALE, SECTIONS, Bar, Row, Section
from scale import growth_table, load_table
from scale import table as scale_table

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


def bar_ratio(bar: Bar, rows: dict[str, dict[str, Any]]) -> float | None:
    """The length of a bar. None if a round has measured none of its rows."""
    names = [row.name for section in SECTIONS for row in section.rows]
    named = [name for one in bar.rows for name in names if name == one or (one.endswith(".") and name.startswith(one))]
    found = [ratio(rows[name])[0] for name in named if name in rows and any(rows[name]["rival"])]
    return geometric_mean(found) if found else None


def joined(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]


def summary(rows: dict[str, dict[str, Any]]) -> list[str]:
    """At most three sentences: what is faster than its rival, what is slower, and which aims are missed."""
    bars = [(f"to {bar.what[0].lower()}{bar.what[1:]} ({value:.2f})", value) for bar in BARS if (value := bar_ratio(bar, rows)) is not None]
    missed, of = [], 0
    for section in SECTIONS:
        aims = [(row, rows[row.name]) for row in section.rows if row.aim and row.name in rows]
        of += len(aims)
        if count := sum(not is_reached(row, kept) for row, kept in aims):
            missed.append((count, f"{section.title} {count} of {len(aims)}"))
    sentences = []
    if faster := [what for what, value in bars if value <= 1]:
        sentences.append(f"smelt needs less time than its rival {joined(faster)}.")
    if slower := [what for what, value in bars if value > 1]:
        sentences.append(f"smelt needs more time than its rival {joined(slower)}.")
    count = sum(one for one, _ in missed)
    by_section = "; ".join(what for _, what in sorted(missed, key=lambda one: -one[0]))
    sentences.append(f"smelt misses {count} of {of} aims ([why](limits.md)): {by_section}." if missed else f"smelt reaches all {of} aims.")
    return sentences


def label_at(end: float, line: float) -> float:
    """Behind the bar's end, or behind the line where the line would cross the number."""
    return line + 6 if end <= line < end + 40 else end + 6


def bars(measured: dict[str, Any]) -> str:
    """The summary's picture. Colours follow the reader's light or dark page."""
    shown = [(bar, value) for bar in BARS if (value := bar_ratio(bar, measured["rows"])) is not None]
    scale = 360 / max(2.0, *(value for _, value in shown))
    one, bottom = 290 + scale, 18 + 40 * len(shown)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 {bottom + 30}" role="img" aria-labelledby="title">',
        '  <title id="title">Time of smelt beside its rivals, as ratios; less is better</title>',
        "  <style>",
        "    text { font: 14px system-ui, sans-serif; fill: #1f2328; }",
        "    .small { font-size: 12px; fill: #59636e; }",
        "    .faster { fill: #1a7f37; }",
        "    .slower { fill: #bc4c00; }",
        "    path { stroke: #59636e; stroke-dasharray: 4 3; }",
        "    @media (prefers-color-scheme: dark) {",
        "      text { fill: #e6edf3; }",
        "      .small { fill: #9198a1; }",
        "      .faster { fill: #3fb950; }",
        "      .slower { fill: #db6d28; }",
        "      path { stroke: #9198a1; }",
        "    }",
        "  </style>",
    ]
    for at, (bar, value) in enumerate(shown):
        top = 14 + 40 * at
        lines += [
            f'  <text x="280" y="{top + 12}" text-anchor="end">{bar.what}</text>',
            f'  <text x="280" y="{top + 27}" text-anchor="end" class="small">beside {bar.rival}</text>',
            f'  <rect x="290" y="{top + 3}" width="{value * scale:.1f}" height="22" class="{"faster" if value <= 1 else "slower"}"/>',
            f'  <text x="{label_at(290 + value * scale, one):.1f}" y="{top + 19}">{value:.2f}</text>',
        ]
    lines += [
        f'  <path d="M{one:.1f} 8 V{bottom}"/>',
        f'  <text x="{one:.1f}" y="{bottom + 18}" text-anchor="middle" class="small">1: as fast as the rival; less is better</text>',
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def page(measured: dict[str, Any], scale: pathlib.Path = ROOT / "docs/design/store-scale.csv") -> str:
    rows = measured["rows"]
    lines = [
        "# Measured", "",
        "## Summary", "",
        "![Six ratios to rivals](summary.svg)", "",
        *(f"* {sentence}" for sentence in summary(rows)), "",
        "A bar is smelt's time divided by its rival's: a row below, or the geometric mean of a table. Kernels run on one thread of a CPU.", "",
        "## How it is measured", "",
        "`scripts/bench` runs these benches and makes this page, its figures (`measured.json`) and its pictures. A row compares smelt "
        "with a rival in the same run. Less is better. A ratio is the median of "
        f"{measured['rounds']} rounds; the spread is the smallest and the largest ratio. No test asserts a speed.", "",
        f"Machine: {measured['machine']}, idle, release build. No row is measured on a GPU.", "",
        "![Ratios to the rivals](measured.svg)",
    ]  # fmt: skip
    for section in SECTIONS:
        command = " ".join(section.command).replace("{python} {source}/", "").replace("{bin}/", "").replace("{build}", "BUILD")
        command = command.replace("smelt --seconds", "SMELT --seconds").replace("  ", ' "" ')
        lines += ["", f"## {section.title}", "", f"{section.text} To run it alone: `{command}`.", "", *table(section, rows)]
        if section.name == "air" and (growth := scale.with_name("growth.csv")).exists():
            lines += ["", *GROWTH, "", *growth_table(growth)]
        if section.name == "store" and scale.exists():
            lines += ["", *SCALE, "", *scale_table(scale), "", *LOAD, "", *load_table(scale.with_name("model-load.csv"))]
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
    pages.add_argument("summary", type=pathlib.Path, nargs="?")
    summaries = verbs.add_parser("summary")
    summaries.add_argument("measured", type=pathlib.Path)
    summaries.add_argument("summary", type=pathlib.Path)
    given = options.parse_args()
    if given.verb == "run":
        return run(given.build.resolve(), given.out, given.rounds, [one for one in given.only.split(",") if one], given.before)
    measured = json.loads(given.measured.read_text())
    if given.summary is not None:
        given.summary.write_text(bars(measured))
    if given.verb == "summary":
        return 0
    given.page.write_text(page(measured))
    if given.picture is not None:
        picture(measured, given.picture)
    return 0


if __name__ == "__main__":
    sys.exit(main())
