# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stores of many sizes, side by side, a model's kernels one by one, and kernels that grow: what bench_store_scale,
model_load/series.py and growth/growth.py measured, as tables of docs/design/measured.md.

    build/release/bin/bench_store_scale --folder /dev/shm/scale 1000 10000 100000 1000000 > docs/design/store-scale.csv
    python3 bench/model_load/series.py build/release --counts 100,1000 --rounds 5 --csv docs/design/model-load.csv
    python3 bench/growth/growth.py build/release --csv docs/design/growth.csv

bench/report.py makes the page.
"""

import csv
import pathlib

BESIDE = (("put p50", "put, p50"), ("put p99", "put, p99"), ("put worst", "put, worst"),
          ("put worst of processor", "put, worst in processor time"), ("get p50", "hot get, p50"),
          ("get p99", "hot get, p99"), ("first get p50", "first get, p50"), ("first get p99", "first get, p99"),
          ("miss p50", "miss, p50"), ("miss p99", "miss, p99"), ("first miss p50", "first miss, p50"), ("open", "open"), ("disk", "disk"))  # fmt: skip
OURS = (("open without index", "open, the index is lost"), ("get without index p50", "get right after it, p50"),
        ("get without index p99", "get right after it, p99"), ("put worst without index", "put right after it, worst in processor time"),
        ("trim of a tenth", "trim of a tenth, in one go"), ("list", "list of all"),
        ("memory of list", "memory of that, without the shared index"),
        ("verify", "verify"), ("memory of verify", "memory of that"), ("memory after gets", "memory of 4,000 gets and misses"))  # fmt: skip
STORES = ("smelt", "LMDB", "SQLite", "files")

Figures = dict[tuple[str, int, str], tuple[float, str]]


def figures_of(source: pathlib.Path) -> Figures:
    with source.open(newline="") as file:
        return {(row["store"], int(row["entries"]), row["what"]): (float(row["value"]), row["unit"]) for row in csv.DictReader(file)}


def number(value: float, unit: str) -> str:
    if unit == "us" and value >= 1000:
        value, unit = value / 1000, "ms"
    if unit == "ms" and value >= 1000:
        value, unit = value / 1000, "s"
    digits = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:,.{digits}f} {unit}"


def table(source: pathlib.Path) -> list[str]:
    """Lines of a page."""
    figures = figures_of(source)
    sizes = sorted({size for _, size, _ in figures})
    heads = [f"{size:,}" for size in sizes]

    def cell(store: str, size: int, what: str) -> str:
        return number(*figures[store, size, what]) if (store, size, what) in figures else ""

    lines = [f"| entries | | {' | '.join(heads)} |", "|---|---|" + "---|" * len(sizes)]
    for what, title in BESIDE:
        for store in STORES:
            lines.append(f"| {title if store == STORES[0] else ''} | {store} | {' | '.join(cell(store, size, what) for size in sizes)} |")
    lines += ["", f"| smelt alone | {' | '.join(heads)} |", "|---|" + "---|" * len(sizes)]
    lines += [f"| {title} | {' | '.join(cell('smelt', size, what) for size in sizes)} |" for what, title in OURS]
    return lines


def load_table(source: pathlib.Path) -> list[str]:
    """Lines of a page: of series.py, but for what makes the kernels."""
    with source.open(newline="") as file:
        rows = {(row["way"], int(row["count"]), row["what"]): number(float(row["value"]), row["unit"]) for row in csv.DictReader(file)}
    counts = sorted({count for way, count, _ in rows if way == "package"})
    ways = dict.fromkeys(way for way, _, what in rows if what == "hit, p50")
    heads = [f"{title}, {count:,}" for count in counts for title in ("first launch", "hit p50", "hit p99")]
    whats = ("to the end of the first launch", "hit, p50", "hit, p99")
    lines = [f"| way | {' | '.join(heads)} |", "|---|" + "---|" * len(heads)]
    for way in ("JIT", *ways):
        cells = [rows.get((way, count, what), "") for count in counts for what in whats]
        lines.append(f"| {way} | {' | '.join(cells)} |")
    rates = [f"{way} {value}" for (way, _, what), value in rows.items() if what == "hit rate over the edits"]
    return [*lines, "", f"Kernels found after an edit, over 30 edits of a source of 100 kernels: {', '.join(rates)}."]


GROWTH_WAYS = ("AIR", "fast", "balanced", "clang")


def growth_table(source: pathlib.Path) -> list[str]:
    """Lines of a page: of growth.py, a line for each dimension."""
    with source.open(newline="") as file:
        rows = {(row["dimension"], int(row["size"]), row["way"]): float(row["seconds"]) for row in csv.DictReader(file)}

    def cells(dimension: str, way: str, most: int) -> tuple[str, str]:
        """Seconds at the largest size, and how many times that of half the size. Empty where it took too long."""
        last, before = rows.get((dimension, most, way)), rows.get((dimension, most // 2, way))
        return "" if last is None else f"{last:.2f}", "" if last is None or before is None else f"{last / before:.1f}"

    titles = ("AIR", "fast", "balanced", "`clang -O2`")
    lines = [f"| | n | {' | '.join(titles)} | fast / clang | balanced / clang | {' | '.join(f'{title}, x' for title in titles)} |"]
    lines.append("|---|" + "---|" * (3 + 2 * len(titles)))
    for dimension in dict.fromkeys(one for one, _, _ in rows):
        most = max(size for one, size, _ in rows if one == dimension)
        seconds, factors = zip(*(cells(dimension, way, most) for way in GROWTH_WAYS))
        times = [rows.get((dimension, most, way)) for way in ("fast", "balanced", "clang")]
        ratios = ["" if one is None or times[2] is None else f"{one / times[2]:.1f}" for one in times[:2]]
        lines.append(f"| {dimension} | {most:,} | {' | '.join((*seconds, *ratios, *factors))} |")
    return lines
