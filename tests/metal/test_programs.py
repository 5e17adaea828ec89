#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program for Metal from outside: what it loads at its second start, its trace, what it says when it is misused."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv.pop(1)
OFTEN = sys.argv.pop(1)


def run(
    store: pathlib.Path, command: list[str] | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    given = {**os.environ, "SMELT_STORE": str(store), **environment}
    given.pop("SMELT_METAL_VALIDATION", None)
    return subprocess.run(command or [PROGRAM], env=given, capture_output=True, text=True, timeout=300)


class Programs(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory(prefix="smelt-metal-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.store = cls.folder / "store"
        cls.first = run(cls.store, LD_DEBUG="files", SMELT_TRACE=str(cls.folder / "first.json"))

    def test_second_start_loads_no_compiler(self) -> None:
        self.assertEqual(self.first.returncode, 0, self.first.stderr[-2000:])
        self.assertIn("libsmelt-compiler", self.first.stderr)
        self.assertIn("libLLVM", self.first.stderr)
        trace = self.folder / "second.json"
        second = run(self.store, LD_DEBUG="files", SMELT_OFFLINE="1", SMELT_TRACE=str(trace))
        self.assertEqual(second.returncode, 0, second.stderr[-2000:])
        self.assertIn("as wanted", second.stdout)
        self.assertIn("libsmelt-metal", second.stderr)
        self.assertNotIn("libsmelt-compiler", second.stderr)
        self.assertNotIn("libLLVM", second.stderr)
        named = {(event.get("cat"), event["name"]) for event in json.loads(trace.read_text())}
        self.assertFalse([name for category, name in named if category == "compile"])
        self.assertIn(("store", "program_source"), named)
        self.assertIn(("store", "sum"), named)

    def test_offline_says_what_is_missing(self) -> None:
        done = run(self.folder / "empty", SMELT_OFFLINE="1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("nothing is compiled offline", done.stderr)

    def test_trace(self) -> None:
        events = json.loads((self.folder / "first.json").read_text())
        named = {(event.get("cat"), event["name"]): event for event in events}
        self.assertIn(("compile", "program_source"), named)
        self.assertIn(("pipeline", "square"), named)
        dispatch = named["dispatch", "sum"]
        self.assertEqual(dispatch["args"]["pass"], "reduce / sums")
        self.assertEqual(dispatch["args"]["threads"], "1024 x 1 x 1")
        self.assertEqual(dispatch["args"]["threads per threadgroup"], "64 x 1 x 1")
        self.assertGreaterEqual(dispatch["ts"], named["dispatch", "square"]["ts"] + named["dispatch", "square"]["dur"])
        self.assertGreater(dispatch["dur"], 0)

    def test_devices_are_chosen_by_variables(self) -> None:
        done = run(self.store, SMELT_METAL_FAMILY="apple7")
        self.assertIn("device: Apple M1", done.stdout)
        done = run(self.store, SMELT_METAL_FAMILY="apple6", SMELT_METAL_LANES="0")
        self.assertIn("device: Apple M3", done.stdout)
        self.assertIn("want apple7, apple8, apple9, apple10 or apple10+metal4", done.stderr)
        self.assertIn("device: Apple M5", run(self.store, SMELT_METAL_FAMILY="apple10+metal4").stdout)
        self.assertIn("SMELT_METAL_LANES is '0'; want a number from 1 to 64", done.stderr)
        done = run(self.store, SMELT_METAL_NAME="Apple M1 Max", SMELT_METAL_LANES="1", SMELT_METAL_THREADS="1")
        self.assertEqual(done.returncode, 0)
        self.assertIn("device: Apple M1 Max\n", done.stdout)

    def often(self, store: str, seconds: float, **environment: str) -> tuple[str, list[tuple[str, str]]]:
        """What it said, and the trace's events of compiling, finding and replacing."""
        path = self.folder / f"{store}.json"
        path.unlink(missing_ok=True)
        done = run(self.folder / store, [OFTEN, str(seconds)], SMELT_TRACE=str(path), **environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        events = [(event["cat"], event["name"]) for event in json.loads(path.read_text()) if "cat" in event]
        return done.stdout, [event for event in events if event[0] in ("compile", "store", "replace")]

    def test_a_kernel_that_runs_often_gets_better_code(self) -> None:
        said, events = self.often("often", 120)
        self.assertEqual(said, "replaced\n")
        self.assertEqual(events[-1], ("replace", "heavy"))
        self.assertEqual([event for event in events if event == ("compile", "heavy")], [("compile", "heavy")] * 2)
        # It is there for the next process, which has nothing left to do.
        said, events = self.often("often", 1, SMELT_OFFLINE="1")
        self.assertEqual((said, events), ("not replaced\n", [("store", "program_source"), ("store", "heavy")]))

    def test_what_turns_that_off(self) -> None:
        for name, value in (("SMELT_CPU_REPLACE", "0"), ("SMELT_CPU_EFFORT", "fast"), ("SMELT_CPU_EFFORT", "balanced")):
            said, events = self.often(f"{name}-{value}", 2, **{name: value})
            self.assertEqual(said, "not replaced\n")
            self.assertEqual([event for event in events if event == ("compile", "heavy")], [("compile", "heavy")])

    def test_a_program_ends_while_code_is_made(self) -> None:
        for milliseconds in range(50, 300, 25):
            self.often(f"ends-{milliseconds}", milliseconds / 1000)


if __name__ == "__main__":
    unittest.main()
