#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What scripts/bench runs, and the page that it makes of what was measured.

    report.py run BUILD OUT.json [--rounds 3] [--only load,store] [--before OLD.json]
    report.py page MEASURED.json PAGE.md PICTURE.svg      the same figures, the same page

A row is a figure of smelt beside a rival's from the same run; less is better. Benches append rows to $SMELT_BENCH_ROWS
(bench.hpp, processes.py). With --only the file's other rows stay. Each bench runs once a round, and rounds take turns, so that a row's spread is that of the
machine over some minutes. Nothing fails because it is slow: tests assert no speed. The picture needs python3-matplotlib.
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
from dataclasses import dataclass
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[1]
SKIPPED = 77


@dataclass(frozen=True)
class Row:
    name: str
    what: str
    aim: float = 0  # at most this ratio, or where `absolute` this figure; 0: none was set
    absolute: bool = False


@dataclass(frozen=True)
class Section:
    name: str  # of the commands that measure it: --only
    title: str
    rival: str
    text: str
    commands: tuple[tuple[str, ...], ...]
    rows: tuple[Row, ...]
    once: tuple[str, ...] = ()  # another command, in the first round alone


# {bin}, {python} and {source} are filled in.
SECTIONS = (
    Section(
        "commands", "Commands and processes", "rival",
        "Whole processes by the clock, least of 30. A hit is a source that was compiled before, beside ccache's direct mode on a C "
        "file of the same length. The first compile of a machine has an empty store, beside clang on one line of C. Python: the "
        "import and the first load, beside reading and hashing the file.",
        (("{python}", "{source}/bench/start/start.py", "{build}", "30"),),
        (
            Row("hit.compile", "`smelt compile`, a hit", 1.0),
            Row("hit.metal", "`metal -c`, a hit", 1.0),
            Row("first.metal", "first Metal compile of a machine", 60, absolute=True),
            Row("python.first", "`import smelt` and the first load", 2, absolute=True),
        ),
    ),
    Section(
        "load", "Loading", "read and hash",
        "A package of 500 kernels (1.7 MB), from `main()` of a fresh process, median of 40. The rival reads and hashes the bytes "
        "that the loader reads.",
        (("{bin}/bench_load", "40"),),
        (
            Row("load.open", "every kernel known by name"),
            Row("load.call", "and the first kernel has run"),
            Row("load.all", "and all pipelines are built", 1.0),
        ),
    ),
    Section(
        "air", "Metal source to AIR", "Clang's way",
        "Processor time of ggml's kernels (`ggml-metal.metal` of llama.rn 0.12.9). The rival is the same translation, LLVM's -O2 once "
        "for all kernels, and LLVM's bitcode.",
        (("{bin}/bench_metal_stages", "1"),),
        (Row("air.ggml", "ggml's 672 kernels to a Metal library", 1.5),),
    ),
    Section(
        "loops", "CPU code", "loop",
        "One thread, fastest launch. Loops are C by Clang 19, `-O3 -march=native -ffast-math`. One million elements; softmax 512 x "
        "1024, matmul 512.",
        (("{bin}/bench_cpu_kernels", "--threads", "1", "7"),),
        (
            Row("loop.vadd", "vadd"),
            Row("loop.square", "square"),
            Row("loop.saxpy_half", "saxpy, half"),
            Row("loop.sreduce", "reduction by `simd_sum`", 1.2),
            Row("loop.softmax", "softmax"),
            Row("loop.matmul", "matmul"),
            Row("loop.rope", "rope"),
            Row("loop.hist", "histogram", 1.1),
        ),
    ),
    Section(
        "ggml", "Kernels of Apple's ggml library", "ggml on CPUs",
        "From llama.rn 0.8.3, one thread, processor time, beside ggml's code for CPUs. ggml rounds the vector of `mul_mv` to 8 bits; "
        "the Metal kernel keeps floats.",
        (("{bin}/bench_cpu_kernels_ggml", "", "0.7"),),
        (
            Row("ggml.mul_mv_q4_0_f32", "`mul_mv_q4_0_f32`, 4096 x 4096, one vector", 1.5),
            Row("ggml.mul_mm_f16_f32", "`mul_mm_f16_f32`, 4096 x 4096, 128 vectors", 1.2),
            Row("ggml.soft_max", "`soft_max`, 512 rows of 4096"),
            Row("ggml.rms_norm", "`rms_norm`, 512 rows of 4096"),
            Row("ggml.flash_attn_ext_f16", "`flash_attn_ext_f16`, 32 heads of 128, 128 queries", 1.8),
            Row("ggml.flash_attn_ext_vec_f16", "`flash_attn_ext_vec_f16`, 32 heads of 128, 1 query", 1.8),
        ),
    ),
    Section(
        "triton", "Triton's kernels", "NumPy",
        "`hip-gfx1100` of Triton 3.6, one thread, beside NumPy over OpenBLAS. Products of 512 x 512 x 512.",
        (("{python}", "{source}/bench/cpu_kernels/triton.py", "--smelt", "{bin}/smelt", "--seconds", "0.5"),),
        (
            Row("triton.matmul_f32", "matmul f32", 1.5),
            Row("triton.matmul_f16", "matmul f16", 1.5),
            Row("triton.softmax_row", "softmax, 512 rows of 1024"),
            Row("triton.layer_norm", "layer norm, 512 rows of 4096"),
            Row("triton.attention", "attention, 8 heads of 64", 1.0),
        ),
    ),
    Section(
        "tensors", "Metal 4 tensors", "sgemm",
        "Products of `mpp::tensor_ops`, 512 x 512 x 512, tiles of 128 x 64 by four SIMD groups, one thread, beside OpenBLAS's sgemm.",
        (("{python}", "{source}/bench/cpu_kernels/tensors.py", "--smelt", "{bin}/smelt", "--seconds", "0.5"),),
        (
            Row("tensors.whole_f16", "one `run` of f16", 2.5),
            Row("tensors.whole_f32", "one `run` of f32", 2.5),
            Row("tensors.stepped_f16", "eight steps of f16 to a cooperative destination"),
            Row("tensors.stepped_f32", "eight steps of f32 to a cooperative destination"),
        ),
    ),
    Section(
        "textures", "Textures", "OpenCV",
        "1280 x 720 from Python, groups of 32 x 8, one thread, beside OpenCV 4.6. OpenCV computes on bytes where the kernel has "
        "floats.",
        (("{python}", "{source}/bench/cpu_kernels/textures.py", "--smelt", "{bin}/smelt", "--seconds", "0.4"),),
        tuple(
            Row(f"textures.{what} {kind}", f"{what}, {kind}", 2.0)
            for what in ("resize to half", "resize to 3/2", "blur of 13", "grey", "invert")
            for kind in ("rgba8", "rgba32f")
        ),
    ),
    Section(
        "checks", "Watched threads", "unchecked",
        "Ten kernels of 65,536 threads from Python, one thread; geometric means of what checked code takes beside unchecked code. "
        "`bench/cpu_kernels/checks.py` prints each kernel.",
        (("{python}", "{source}/bench/cpu_kernels/checks.py", "--smelt", "{bin}/smelt", "--seconds", "0.1"),),
        (
            Row("checks.memory", "`--checked=memory`"),
            Row("checks.races", "`races`", 20),
            Row("checks.init", "`init`", 10),
            Row("checks.sync", "`sync`"),
            Row("checks.all", "all"),
            Row("checks.oclgrind", "Oclgrind on the same kernels in OpenCL C, races and uninitialised memory, beside smelt's unchecked code"),
        ),
        once=("{python}", "{source}/bench/cpu_kernels/checks.py", "--smelt", "{bin}/smelt", "--seconds", "0.1", "--checks", "races",
              "--oclgrind"),
    ),
    Section(
        "store", "The store", "rival",
        "`bench_store`: 32 kB each. A put is beside two files in Triton's layout; a process with 500 kernels likewise; a hot get beside "
        "memcpy; the lookup beside LMDB; the open and first get beside reading a file.",
        (("{bin}/bench_store", "--rows", "1,3,5,6,8,9"),),
        (
            Row("store.hot", "hot get with a copy", 1.15),
            Row("store.sqlite", "lookup through SQLite", 5),
            Row("store.fresh", "500 kernels in a fresh process", 1.0),
            Row("store.open", "open and first get", 70, absolute=True),
            Row("store.put", "put", 100, absolute=True),
            Row("store.writers", "p99 of a put with 4 writers and 4 readers", 15, absolute=True),
        ),
    ),
)  # fmt: skip


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
                for command in section.commands + ((section.once,) if section.once and round == 0 else ()):
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
        command = " ".join(section.commands[0]).replace("{python} {source}/", "").replace("{bin}/", "").replace("{build}", "BUILD")
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
