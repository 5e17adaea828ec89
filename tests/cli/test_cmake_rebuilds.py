# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""smelt_add_library makes a package again when a header changes or the compiler, and only then, with every generator."""

import shutil
import subprocess
import time
import unittest

from smelt_cli import SMELT, SOURCE, CliTest

PROJECT = f"""cmake_minimum_required(VERSION 3.24)
project(kernels LANGUAGES NONE)
include("{SOURCE}/cmake/smelt_add_library.cmake")
smelt_add_library(kernels SOURCES scale.metal NO_CPU INCLUDE_DIRECTORIES headers)
"""
KERNEL = """#include "factor.h"
kernel void scale(device float* x) { x[0] *= FACTOR; }
"""


class CMakeRebuilds(CliTest):
    def build(self, folder):
        done = subprocess.run(["cmake", "--build", folder], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return "Compiling kernels" in done.stdout

    def change(self, path, text):
        time.sleep(1.1)  # make may look at seconds
        path.write_text(text)

    def check(self, generator, tool):
        if shutil.which("cmake") is None or shutil.which(tool) is None:
            self.skipTest(f"SKIPPED: no cmake, or no {tool}")
        project, made = self.folder / "project", self.folder / "made"
        (project / "headers").mkdir(parents=True)
        header = project / "headers/factor.h"
        header.write_text("#define FACTOR 2\n")
        (project / "scale.metal").write_text(KERNEL)
        (project / "CMakeLists.txt").write_text(PROJECT)
        command = self.folder / "smelt"
        command.write_text(f'#!/bin/sh\nexec "{SMELT}" "$@"\n')
        command.chmod(0o755)
        subprocess.run(["cmake", "-G", generator, "-S", project, "-B", made, f"-DSMELT_COMMAND={command}"], capture_output=True, check=True)
        package = made / "kernels.smelt"
        self.assertTrue(self.build(made))
        first = package.read_bytes()
        self.assertFalse(self.build(made))
        self.change(header, "#define FACTOR 3\n")
        self.assertTrue(self.build(made))
        self.assertNotEqual(package.read_bytes(), first)
        self.assertFalse(self.build(made))
        self.change(command, command.read_text())
        self.assertTrue(self.build(made))
        self.assertFalse(self.build(made))

    def test_makefiles(self):
        self.check("Unix Makefiles", "make")

    def test_ninja(self):
        self.check("Ninja", "ninja")

    def test_ninja_multi_config(self):
        self.check("Ninja Multi-Config", "ninja")


if __name__ == "__main__":
    unittest.main()
