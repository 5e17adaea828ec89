# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pytest option --smelt-checked: every kernel of a test run is checked code, and a test fails if the checks find
something in it. docs/guide/races.md."""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any

import pytest

_WORDS = "memory,races,init,sync"


def pytest_addoption(parser: Any) -> None:
    group = parser.getgroup("smelt")
    group.addoption(
        "--smelt-checked", action="store_const", const=_WORDS, dest="smelt_checks",
        help="check kernels for out-of-bounds accesses, races, unwritten values and divergent barriers",
    )  # fmt: skip
    group.addoption("--smelt-checks", metavar="WORDS", dest="smelt_checks", help="the same, with these checks only: words of " + _WORDS)
    group.addoption("--smelt-suppressions", metavar="FILE", help="file of findings to ignore: lines of KIND KERNEL PLACE")


def pytest_configure(config: Any) -> None:
    words = config.getoption("smelt_checks")
    if not words:
        return
    from . import _checks

    _checks.bits(words)  # a mistake is told now, and not by every test
    os.environ["SMELT_CHECK"] = words
    os.environ["SMELT_CHECK_CONTINUE"] = "1"  # a test goes on, and all that it leads to is told
    if suppressions := config.getoption("smelt_suppressions"):
        os.environ["SMELT_CHECK_SUPPRESSIONS"] = os.path.abspath(suppressions)
    handle, path = tempfile.mkstemp(prefix="smelt-findings-", suffix=".jsonl")
    os.close(handle)
    os.environ["SMELT_CHECK_REPORT"] = path
    config.pluginmanager.register(_Report(path), "smelt-report")


def _side(side: dict[str, Any]) -> str:
    return f"thread {tuple(side['thread'])} of group {tuple(side['group'])} {side['does']} at {side['place']}"


def _text(finding: dict[str, Any]) -> str:
    memory = f" on {finding['memory']}" if finding["memory"] else ""
    if memory and finding["element"] is not None:
        memory += f"[{finding['element']}]"
    second = f", {_side(finding['second'])}" if finding["second"] else ""
    return f"kernel '{finding['kernel']}': {finding['kind']}{memory}: {_side(finding['first'])}{second}; {finding['advice']}"


class _Report:
    """Reads the findings that launches of this process and its child processes have added to the report file."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._read = 0
        self._faults = 0
        self._notes: list[str] = []

    def _new(self) -> list[dict[str, Any]]:
        with open(self._path, encoding="utf-8") as file:
            file.seek(self._read)
            lines = file.readlines()
            self._read = file.tell()
        return [json.loads(line) for line in lines if line.strip()]

    @pytest.hookimpl(hookwrapper=True)  # type: ignore[misc]
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Any:
        outcome = yield
        if call.when != "call":
            return
        found = self._new()
        self._notes += [_text(one) for one in found if one["kind"] == "same-value"]
        faults = [_text(one) for one in found if one["kind"] != "same-value"]
        if not faults:
            return
        self._faults += len(faults)
        report = outcome.get_result()
        if report.passed:
            report.outcome, report.longrepr = "failed", "\n".join(faults)
        else:
            report.sections.append(("smelt checks", "\n".join(faults)))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        terminalreporter.section("smelt checks")
        for note in self._notes:
            terminalreporter.write_line("note: " + note)
        terminalreporter.write_line(f"{self._faults} found, {len(self._notes)} notes")

    def pytest_unconfigure(self) -> None:
        os.unlink(self._path)
