# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program that calls Metal and looks at no error: what checks find is on stderr, in the report, and in the exit code."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv.pop()


class CheckExit(unittest.TestCase):
    def run_with(self, case, **environment):
        program = [PROGRAM, f"--test-case={case}"]
        return subprocess.run(program, env={**os.environ, **environment}, capture_output=True, text=True, check=False)

    def test_found(self):
        with tempfile.TemporaryDirectory() as folder:
            report = os.path.join(folder, "found.jsonl")
            words = {"SMELT_METAL_CHECKED": "memory", "SMELT_CHECK_REPORT": report}
            for code in ("66", "", "0", "1000"):
                with self.subTest(code=code):
                    done = self.run_with("checked code*", **words, SMELT_CHECK_EXIT=code)
                    self.assertEqual(done.returncode, 66 if code == "66" else 0)
                    self.assertIn("1 passed", done.stdout)  # which is flushed
                    lines = [line for line in done.stderr.splitlines() if "copy_to" in line]
                    self.assertEqual(len(lines), 1, done.stderr)
                    self.assertIn("smelt: kernel 'copy_to': thread (1, 0, 0) writes", lines[0])
                    self.assertEqual("is not an exit code" in done.stderr, code == "1000")
            with open(report, encoding="utf-8") as file:
                self.assertEqual({json.loads(line)["kernel"] for line in file}, {"copy_to"})

    def test_nothing_found(self):
        done = self.run_with("threadgroups*", SMELT_METAL_CHECKED="memory", SMELT_CHECK_EXIT="66")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("1 passed", done.stdout)


if __name__ == "__main__":
    unittest.main()
