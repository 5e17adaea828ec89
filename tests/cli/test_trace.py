# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""smelt trace, from outside: of a program that compiled, of one that found, and of files that are no trace."""

import json
import os
import unittest

from smelt_cli import SOURCE, CliTest

SAXPY = SOURCE / "examples/saxpy.ll"


class TraceTest(CliTest):
    def traced(self, name, *arguments):
        path = self.folder / name
        self.succeed(*arguments, environment={**os.environ, "SMELT_STORE": str(self.folder / "store"), "SMELT_TRACE": str(path)})
        return path

    def run_saxpy(self, name, threads=4096):
        words = ("--threads", threads, f"f32[{threads}]", f"f32[{threads}]", "f32:2", f"i32:{threads}")
        return self.traced(name, "run", self.library, "saxpy", *words)

    def setUp(self):
        super().setUp()
        self.library = self.folder / "saxpy.metallib"
        self.succeed("compile", SAXPY, "-o", self.library, "--no-cpu", "--no-store")

    def test_compiled_and_found(self):
        text = self.succeed("trace", self.run_saxpy("first.json")).decode()
        self.assertRegex(text, r"^compiled +[0-9.]+ ms  .*saxpy.metallib: 1 kernels, 0 from the store\n")
        self.assertRegex(text, r"\nsaxpy +1 +[0-9.]+ +[0-9.]+  4096 x 1 x 1 +compiler  saxpy\n$")
        text = self.succeed("trace", self.run_saxpy("second.json")).decode()
        self.assertRegex(text, r"^found +[0-9.]+ ms  .*saxpy.metallib\n")
        self.assertRegex(text, r"\nsaxpy .*  4096 x 1 x 1 +loaded    saxpy\n$")

    def test_compiling_alone(self):
        path = self.traced("trace.json", "compile", SAXPY, "-o", self.folder / "out.smelt")
        self.assertRegex(self.succeed("trace", path).decode(), r"^compiled +[0-9.]+ ms  .*saxpy.ll: 1 kernels, 0 from the store\n$")

    def test_json(self):
        found = json.loads(self.succeed("trace", "--json", self.run_saxpy("trace.json", threads=64)))
        (kernel,) = found["kernels"]
        self.assertEqual([kernel[key] for key in ("name", "launches", "failed", "most_threads", "code")],
                         ["saxpy", 1, 0, "64 x 1 x 1", "compiler"])
        (request,) = found["requests"]
        self.assertEqual((request["found"], request["kernels"], request["from_store"]), (False, 1, 0))

    def test_launches_add_up(self):
        def event(name, package, threads, duration, **more):
            return {"name": name, "ph": "X", "cat": "dispatch", "dur": duration,
                    "args": {"library": "lib", "package": package, "threads": threads, **more}}
        events = [event("a", "1", "8 x 1 x 1", 10.0), event("a", "1", "4 x 4 x 1", 20.0), event("a", "2", "1 x 1 x 1", 1.0),
                  event("b", "1", "2 x 1 x 1", 100.0, error="ended"), {"name": "x", "ph": "M"}, 7, None, {"cat": 3}]
        path = self.folder / "made.json"
        path.write_text(json.dumps(events))
        rows = json.loads(self.succeed("trace", "--json", path))["kernels"]
        self.assertEqual([(row["name"], row["launches"], row["failed"], row["microseconds"], row["most_threads"]) for row in rows],
                         [("b", 1, 1, 100.0, "2 x 1 x 1"), ("a", 2, 0, 30.0, "4 x 4 x 1"), ("a", 1, 0, 1.0, "1 x 1 x 1")])
        self.assertIn("lib, 1 failed", self.succeed("trace", path).decode())

    def test_what_is_no_trace(self):
        whole = self.run_saxpy("trace.json").read_bytes()
        other = self.folder / "other.json"
        beginnings = [whole[:size] for size in range(0, len(whole) - 2, 61)]
        for content in (*beginnings, b"{}", b"\xff\xfe", self.library.read_bytes()):
            other.write_bytes(content)
            self.assertIn("is not a trace", self.fail_with(2, "trace", other))
        self.assertIn("No such file", self.fail_with(1, "trace", self.folder / "none"))

    def test_names_do_not_steer_the_terminal(self):
        path = self.folder / "made.json"
        path.write_text(json.dumps([{"name": "\x1b[31mred", "cat": "dispatch", "dur": 1, "args": {"library": "\x07"}}]))
        text = self.succeed("trace", path).decode()
        self.assertNotIn("\x1b", text)
        self.assertNotIn("\x07", text)

    def test_numbers_that_cannot_be_do_not_fill_the_terminal(self):
        path = self.folder / "made.json"
        path.write_text(json.dumps([
            {"name": "a", "cat": "compile", "dur": 1e300, "args": {}}, {"name": "b", "cat": "store", "dur": -1e300, "args": {}},
            {"name": "k", "cat": "dispatch", "dur": 1e300, "args": {"library": "l", "threads": "9" * 300}},
            {"name": "k", "cat": "dispatch", "dur": 1e308, "args": {"library": "l"}},
            {"name": "k", "cat": "dispatch", "dur": 1e308, "args": {"library": "l"}}]))
        for line in self.succeed("trace", path).decode().splitlines():
            self.assertLess(len(line), 160, line)
        self.succeed("trace", "--json", path)


if __name__ == "__main__":
    unittest.main()
