# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is written verifies: whatever input the tests have, hostile ones too, compile writes what verify finds nothing
wrong with, or says why not and writes nothing."""

import concurrent.futures
import pathlib
import unittest

import smelt_cli

ENDINGS = {".metal", ".ll", ".metallib"}
# What a compile may take: an input that needs more fails, and writes nothing.
LIMITS = ["--timeout", "20", "--max-memory", "2GiB"]


class WrittenTest(smelt_cli.CliTest):
    def check(self, inputs, *options):
        """How many were written."""
        outputs = {}
        for number, source in enumerate(inputs):
            outputs[source] = self.folder / f"{number}.smelt"

        def compile_one(source):
            return source, smelt_cli.smelt("compile", "--no-store", *LIMITS, *options, source, "-o", outputs[source])

        written = []
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for source, result in pool.map(compile_one, inputs):
                with self.subTest(source=source.name):
                    self.assertEqual(outputs[source].exists(), result.returncode == 0, result.stderr.decode())
                    self.assertGreaterEqual(result.returncode, 0, "killed by a signal")
                    if result.returncode == 0:
                        written.append(source)
                    else:
                        self.assertNotEqual(result.stderr, b"")
        for first in range(0, len(written), 50):
            some = written[first : first + 50]
            verified = smelt_cli.smelt("verify", *(outputs[source] for source in some))
            said = verified.stdout.decode() + verified.stderr.decode()
            names = ", ".join(source.name for source in some)
            self.assertEqual(verified.returncode, 0, f"{said}\nof {names}")
        return len(written)

    def test_inputs_in_the_tree(self):
        inputs = sorted(
            path
            for folder in ("examples", "tests/aot/ir", "tests/aot/air", "tests/aot/cpu/kernels", "tests/aot/msl", "tests/fuzz")
            for path in (smelt_cli.SOURCE / folder).rglob("*")
            if path.suffix in ENDINGS
        )
        self.assertGreater(len(inputs), 250)
        self.assertGreater(self.check(inputs, "--no-cpu"), 150)

    def test_inputs_beside_the_tree(self):
        folders = [self.shared("data/hostile"), self.shared("data/repro"), self.shared("data/repro3")]
        inputs = sorted(path for folder in folders for path in pathlib.Path(folder).rglob("*") if path.suffix in ENDINGS)
        self.assertGreater(len(inputs), 10)
        self.assertGreater(self.check(inputs), 5)


if __name__ == "__main__":
    unittest.main()
