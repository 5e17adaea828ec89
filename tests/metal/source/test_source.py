#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A library of source: what is read when the library is made, what is compiled when a pipeline is, what is kept."""

from __future__ import annotations

import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv.pop(1)

# 40 kernels of one template; `last` has a threadgroup array that no GPU has room for.
SOURCE = """
#include <metal_stdlib>
template <int N> kernel void add(device float* x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] += N; }
kernel void twice(device float* x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] *= FACTOR; }
kernel void last(device float* x [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) {
  threadgroup float part[20000];
  part[i] = x[i];
  threadgroup_barrier(metal::mem_flags::mem_threadgroup);
  x[i] = part[i ^ 1];
}
""".replace("FACTOR", "2") + "".join(
    f'template [[host_name("add_{n}")]] kernel void add<{n}>(device float*, uint);\n' for n in range(40)
)


class Source(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="smelt-metal-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_program(self, source: str, *kernels: str, **environment: str) -> subprocess.CompletedProcess[str]:
        (self.folder / "source.metal").write_text(source)
        self.trace = self.folder / "trace.json"
        self.trace.unlink(missing_ok=True)
        given = {**os.environ, "SMELT_STORE": str(self.folder / "store"), "SMELT_TRACE": str(self.trace), **environment}
        given.pop("SMELT_METAL_VALIDATION", None)
        return subprocess.run([PROGRAM, str(self.folder / "source.metal"), *kernels],
                              env=given, capture_output=True, text=True, timeout=300)

    def values(self, source: str, *kernels: str, **environment: str) -> dict[str, str]:
        done = self.run_program(source, *kernels, **environment)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        self.functions, *lines = done.stdout.splitlines()
        return dict(line.split(" ", 1) for line in lines)

    def events(self, category: str) -> list[tuple[str, str | None]]:
        found = json.loads(self.trace.read_text())
        return sorted((event["name"], event["args"].get("from")) for event in found if event.get("cat") == category)

    def test_one_pipeline_compiles_one_kernel(self) -> None:
        self.assertEqual(self.values(SOURCE, "add_7"), {"add_7": "8"})
        self.assertEqual(self.functions, "functions: 42")
        self.assertEqual(self.events("kernel"), [("add_7", "compiler")])
        self.assertEqual(self.events("compile"), [("add_7", None), ("program_source", None)])
        # What the store has is enough for another process, which then reads no source.
        self.assertEqual(self.values(SOURCE, "add_7", SMELT_OFFLINE="1"), {"add_7": "8"})
        self.assertEqual((self.events("kernel"), self.events("compile")), ([], []))
        self.assertEqual(self.events("store"), [("add_7", None), ("program_source", None)])
        # One kernel more is compiled alone; the source must be read for it.
        self.assertEqual(self.values(SOURCE, "add_7", "add_8"), {"add_7": "8", "add_8": "9"})
        self.assertEqual(self.events("kernel"), [("add_8", "compiler")])
        done = self.run_program(SOURCE, "add_9", SMELT_OFFLINE="1")
        self.assertIn("nothing is compiled offline", done.stdout)

    def test_an_edit_compiles_what_it_changed(self) -> None:
        self.values(SOURCE, "twice", "add_1")
        edited = SOURCE.replace("x[i] *= 2", "x[i] *= 3")
        self.assertNotEqual(edited, SOURCE)
        self.assertEqual(self.values(edited, "twice", "add_1"), {"twice": "3", "add_1": "2"})
        self.assertEqual(self.events("kernel"), [("add_1", "store"), ("twice", "compiler")])

    def test_pipelines_at_once_compile_each_kernel_once(self) -> None:
        wanted = [f"add_{n}" for n in range(6)] * 4
        self.assertEqual(self.values(SOURCE, *wanted), {f"add_{n}": str(n + 1) for n in range(6)})
        self.assertEqual(self.events("kernel"), [(f"add_{n}", "compiler") for n in range(6)])
        count = collections.Counter(name for name, _ in self.events("compile"))
        self.assertEqual(set(count.values()), {1})

    def test_processes_at_once_compile_each_kernel_once(self) -> None:
        (self.folder / "source.metal").write_text(SOURCE)
        traces = [self.folder / f"{i}.json" for i in range(3)]
        started = [subprocess.Popen([PROGRAM, str(self.folder / "source.metal"), "add_2", "add_3"],
                                    env={**os.environ, "SMELT_STORE": str(self.folder / "store"), "SMELT_TRACE": str(trace)},
                                    stdout=subprocess.PIPE, text=True) for trace in traces]
        for process in started:
            self.assertEqual(process.communicate(timeout=300)[0].splitlines()[1:], ["add_2 3", "add_3 4"])
        made = [event["name"] for trace in traces for event in json.loads(trace.read_text())
                if event.get("cat") == "kernel" and event["args"]["from"] == "compiler"]
        self.assertEqual(sorted(made), ["add_2", "add_3"])

    def test_without_a_store(self) -> None:
        nowhere = self.folder / "file"
        nowhere.write_text("")
        self.assertEqual(self.values(SOURCE, "add_1", "add_1", "twice", SMELT_STORE=str(nowhere)), {"add_1": "2", "twice": "2"})
        self.assertEqual(self.events("kernel"), [("add_1", "compiler"), ("twice", "compiler")])

    def test_what_is_wrong_with_the_source_is_told_when_the_library_is_made(self) -> None:
        for wrong, said in (
            ("kernel void bad(device float* x) { x[0] = nothing; }", "nothing"),
            ("kernel void bad(device float* x) { x[0] = 1 }", "';'"),
            # In a template that only an instantiation makes wrong.
            ("template <class T> kernel void bad(device T* x) { x[0].no_member = 1; }\n"
             'template [[host_name("bad")]] kernel void bad<float>(device float*);', "float"),
            ("kernel void bad(device float* x, float y) { x[0] = y; }", "y"),
        ):
            with self.subTest(wrong):
                done = self.run_program(SOURCE + wrong, "add_1")
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertIn(said, done.stderr)
                self.assertIn(f"program_source:{len(SOURCE.splitlines()) + 1}:", done.stderr)
                self.assertFalse(self.events("kernel"))

    def test_a_kernel_that_no_gpu_can_run_is_an_error_of_its_pipeline(self) -> None:
        values = self.values(SOURCE, "last", "add_1")
        self.assertEqual(values["add_1"], "2")
        self.assertIn("80000", values["last"].replace(",", ""))

    def test_a_function_that_is_nowhere_defined_is_an_error_of_the_pipelines_that_call_it(self) -> None:
        wrong = "float elsewhere(float x);\nkernel void calls(device float* x [[buffer(0)]]) { x[0] = elsewhere(x[0]); }\n"
        values = self.values(SOURCE + wrong, "calls", "add_1")
        self.assertEqual(values["add_1"], "2")
        self.assertIn("elsewhere", values["calls"])


if __name__ == "__main__":
    unittest.main()
