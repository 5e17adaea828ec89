# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Metal headers that the build has precompiled: taken where they fit, made anew where they do not."""

import os
import pathlib
import shutil
import subprocess
import unittest

from smelt_cli import SMELT, CliTest, copy_of_smelt

BUILD = pathlib.Path(SMELT).resolve().parents[1]
SOURCE = "kernel void one(device float* x, uint i [[thread_position_in_grid]]) { x[i] = 1; }\n"


class HeadersTest(CliTest):
    def setUp(self):
        super().setUp()
        self.source = self.folder / "one.metal"
        self.source.write_text(SOURCE)
        self.installed = BUILD / "lib" / "smelt" / "metal-headers"
        if not self.installed.is_dir():
            self.skipTest("SKIPPED: this build has no precompiled headers")

    def compile(self, *options, program=SMELT):
        """With a new store: the bytes, and how many headers had to be made."""
        store, out = self.folder / "store", self.folder / "one.metallib"
        shutil.rmtree(store, ignore_errors=True)
        words = [program, "compile", self.source, "-o", out, *options]
        done = subprocess.run(words, env={**os.environ, "SMELT_STORE": str(store)}, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return out.read_bytes(), len(list((store / "metal-headers").glob("*.pch")))

    def test_the_usual_ones_are_there(self):
        self.assertEqual(self.compile()[1], 0)
        self.assertEqual(self.compile("-ffast-math")[1], 0)
        self.assertEqual(self.compile("--target", "macos26")[1], 1)

    def test_damaged_ones_are_made_anew(self):
        program = self.folder / "bin" / "smelt"
        headers = self.folder / "lib" / "smelt" / "metal-headers"
        program.parent.mkdir()
        copy_of_smelt(program)
        shutil.copytree(self.installed, headers)
        sound, made = self.compile(program=program)
        self.assertEqual(made, 0)
        for file in headers.glob("*.pch"):
            data = bytearray(file.read_bytes())
            data[len(data) // 2] ^= 1
            file.write_bytes(data)
        self.assertEqual(self.compile(program=program), (sound, 1))


if __name__ == "__main__":
    unittest.main()
