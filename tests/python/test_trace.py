# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""SMELT_TRACE: what is written, that the file is whole at any time, and who adds to it."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import support
from support import library  # noqa: F401  (sets up the store)

SOURCE = """
kernel void twice(device float* x, uint i [[thread_position_in_grid]]) { x[i] *= 2; }
kernel void never(device float* x) { x[0] = 1; }
"""
CALLS = f"""
import array, os, subprocess, sys
import smelt
made = smelt.compile_shader({SOURCE!r}, filename='twice "quoted".metal')
x = array.array("f", [1.0] * 100)
made.twice(x)
made.twice(x, threads=64, group_size=32)
"""


def run(code: str, path: pathlib.Path, store: pathlib.Path, **environment: str) -> "subprocess.CompletedProcess[str]":
    given = {**os.environ, "SMELT_TRACE": str(path), "SMELT_STORE": str(store), **environment}
    return subprocess.run([sys.executable, "-c", code], env=given, capture_output=True, text=True, timeout=300)


class Trace(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=support.temporary("trace")))
        self.store = self.folder / "store"
        self.path = self.folder / "trace.json"

    def events(self, code: str = CALLS, status: int = 0, **environment: str) -> "list[dict]":
        done = run(code, self.path, self.store, **environment)
        self.assertEqual(done.returncode, status, done.stderr)
        return json.loads(self.path.read_text())

    def test_what_is_in_it(self):
        events = self.events()
        named = {(event.get("cat"), event["name"]): event for event in events}
        compiled = named["compile", 'twice "quoted".metal']
        self.assertEqual(compiled["args"]["kernels"], "2")
        self.assertEqual(compiled["args"]["from the store"], "0")
        self.assertEqual(named["kernel", "twice"]["args"], {"from": "compiler"})
        launches = [event for event in events if event.get("cat") == "dispatch"]
        self.assertEqual([event["args"]["threads"] for event in launches], ["100 x 1 x 1", "64 x 1 x 1"])
        self.assertEqual(launches[1]["args"]["threads per threadgroup"], "32 x 1 x 1")
        # One package from the compiler through the loader to the launch, and one after the other.
        packages = {event["args"]["package"] for event in [named["compile", "twice"], named["load", "twice"], *launches]}
        self.assertEqual(len(packages), 1)
        order = [compiled, named["load", "metallib"], named["compile", "twice"], named["load", "twice"],
                 named["pipeline", "twice"], *launches]  # fmt: skip
        for before, after in zip(order, order[1:]):
            self.assertLessEqual(before["ts"] + before["dur"], after["ts"])
        for category in ("compile", "load", "pipeline"):
            self.assertNotIn((category, "never"), named)
        # Found, then: nothing is compiled.
        named = {(event.get("cat"), event["name"]): event for event in self.events()}
        self.assertIn(("store", 'twice "quoted".metal'), named)
        self.assertFalse([name for category, name in named if category in ("compile", "kernel")])

    def test_what_failed(self):
        broken = "import smelt\ntry:\n  smelt.compile_shader('kernel void x(')\nexcept Exception: pass\n"
        (event,) = [event for event in self.events(broken) if event.get("cat") == "compile"]
        self.assertIn("expected", event["args"]["error"])

    def test_file_is_whole_when_a_program_dies(self):
        events = self.events(CALLS + "os.kill(os.getpid(), 9)\n", status=-9)
        self.assertEqual(sum(event.get("cat") == "dispatch" for event in events), 2)

    def test_processes_share_it_and_a_later_program_begins_anew(self):
        # Two at once besides the parent, and one that fork made.
        program = CALLS + f"""
if len(sys.argv) == 1:
    others = [subprocess.Popen([sys.executable, "-c", {CALLS!r}, "other"]) for _ in range(2)]
    child = os.fork()
    made.twice(x)
    if child == 0: os._exit(0)
    os.waitpid(child, 0)
    assert [other.wait() for other in others] == [0, 0]
"""
        events = self.events(program)
        launches = [event for event in events if event.get("cat") == "dispatch"]
        self.assertEqual(len(launches), 2 + 2 * 2 + 2)
        self.assertEqual(len({event["pid"] for event in launches}), 4)
        first = events[0]["pid"]
        self.assertIn(first, {event["pid"] for event in launches})
        again = self.events("import smelt\n" + CALLS)
        self.assertNotIn(first, {event["pid"] for event in again})

    def test_a_file_for_each_process(self):
        self.path = self.folder / "trace-%p.json"
        done = run(CALLS, self.path, self.store)
        self.assertEqual(done.returncode, 0, done.stderr)
        (made,) = self.folder.glob("trace-*.json")
        pids = {event["pid"] for event in json.loads(made.read_text())}
        self.assertEqual(pids, {int(made.stem.removeprefix("trace-"))})

    def test_what_cannot_be_written_is_said_and_changes_nothing(self):
        for path, why in ((self.folder / "none" / "t.json", "No such file"), (pathlib.Path("/dev/null"), "not a regular file")):
            done = run(CALLS, path, self.store)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("SMELT_TRACE: cannot write", done.stderr)
            self.assertIn(why, done.stderr)


if __name__ == "__main__":
    unittest.main()
