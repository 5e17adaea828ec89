#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""In how many Apple-built modules the rules for "air-buffer-no-alias" and alias scopes (docs/formats/air.md 1.8) hold.

    python3 tests/docs/count_alias_scopes.py LIBRARY...

Each distinct function of the libraries counts once. Needs llvm-dis-14."""

from __future__ import annotations

import collections
import concurrent.futures
import hashlib
import importlib.machinery
import importlib.util
import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST_STEPS = 6  # of LLVM's getUnderlyingObject

_loader = importlib.machinery.SourceFileLoader("compare_with_apple", str(ROOT / "scripts/compare-with-apple"))
TOOL = importlib.util.module_from_spec(importlib.util.spec_from_loader(_loader.name, _loader))
_loader.exec_module(TOOL)

ACCESS = re.compile(r"^  (?:%\S+ = load|store) (?:volatile )?.*\* (?P<pointer>[%@][\w.]+), align")
STEP = re.compile(r"^  (%\S+) = (?:getelementptr .*?\* |bitcast .*?\* )(%[\w.]+)")
JOIN = re.compile(r"^  (%\S+) = (?:phi|select) (.*)$")
SCOPE = re.compile(r'"air-alias-scope-arg\((\d+)\)"')


def entry_of(text: str) -> tuple[list[str], list[str]]:
    """The parameters of the entry point, and the lines of its body."""
    node = re.search(r"^!air\.(?:kernel|vertex|fragment) = !\{(!\d+)", text, re.M)
    symbol = re.search(rf"^{node.group(1)} = .*? @(\"[^\"]+\"|[\w.$]+),", text, re.M) if node else None
    start = re.search(r"^define [^@\n]*@" + re.escape(symbol.group(1)) + r"\(.*$", text, re.M) if symbol else None
    if start is None:
        return [], []
    line = start.group(0)
    return TOOL.split_parameters(line[TOOL.FIRST_VALUE.match(line).end() :]), text[start.end() : text.find("\n}", start.end())].splitlines()


def behind(value: str, steps: dict[str, str], joins: dict[str, list[str]], pointers: set[str]) -> set[str] | None:
    """The pointer parameters behind a value, None when something else may be."""
    found: set[str] = set()
    seen: set[str] = set()
    work = [value]
    while work:
        one = work.pop()
        for _ in range(MOST_STEPS):
            if one not in steps:
                break
            one = steps[one]
        if one in seen:
            continue
        seen.add(one)
        if one in joins:
            work += joins[one]
        elif one in pointers:
            found.add(one)
        else:
            return None
    return found


def check(job: tuple[str, str, bytes]) -> tuple[bool, bool, bool, int, int]:
    """(has pointers, all are marked, the scopes are as predicted but for joined ones, accesses predicted, accesses)."""
    tool, name, bitcode = job
    text = TOOL.disassemble(tool, name, bitcode)
    parameters, body = entry_of(text)
    buffers = [i for i, one in enumerate(parameters) if TOOL.parameter_type(one).endswith("*")]
    marked = all('"air-buffer-no-alias"' in parameters[i] for i in buffers)
    nodes = dict(re.findall(r"^(!\d+) = (.*)$", text, re.M))

    def scopes(line: str, kind: str) -> set[str]:
        found = re.search(rf"!{kind} (!\d+)", line)
        listed = re.findall(r"!\d+", nodes[found.group(1)]) if found else []
        return {f"%{SCOPE.search(nodes[one]).group(1)}" for one in listed}

    steps = dict(found.groups() for line in body if (found := STEP.match(line)))
    joins = {}
    for line in body:
        if found := JOIN.match(line):
            joins[found.group(1)] = re.findall(r"\* (%[\w.]+)" if " select " in line else r"\[ (%[\w.]+), %", found.group(2))
    pointers = {f"%{i}" for i in buffers}
    accesses = [(line, behind(found.group("pointer"), steps, joins, pointers) or set())
                for line in body if (found := ACCESS.match(line))]
    used = pointers & {value for line in body for value in re.findall(r"%\d+", line)}
    right = surprising = 0
    for line, touched in accesses:
        said, others = scopes(line, "alias.scope"), scopes(line, "noalias")
        as_predicted = said == touched and others == (used - touched if touched else set())
        right += as_predicted
        surprising += bool(said) and not as_predicted  # without a scope: two accesses became one
    return bool(buffers), marked, surprising == 0, right, len(accesses)


def main() -> None:
    tool = shutil.which("llvm-dis-14") or sys.exit("llvm-dis-14 is not installed")
    jobs = {}
    for path in sys.argv[1:]:
        for name, bitcode in TOOL.functions_of(path).items():
            jobs[hashlib.sha256(bitcode).digest()] = (tool, name, bitcode)
    totals: collections.Counter[str] = collections.Counter()
    with concurrent.futures.ProcessPoolExecutor() as pool:
        for buffers, marked, explained, right, accesses in pool.map(check, jobs.values(), chunksize=8):
            totals["modules"] += 1
            totals["modules with buffers"] += buffers
            totals["of these, every buffer is marked"] += buffers and marked
            totals["modules where no scope contradicts the rule"] += explained
            totals["modules where every load and store is as the rule says"] += right == accesses
            totals["loads and stores of entry points"] += accesses
            totals["of these, as the rule says"] += right
    for label, number in totals.items():
        print(f"{number:8,}  {label}")


if __name__ == "__main__":
    main()
