# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows 7 and 9 of docs/design/loader.md section 5, as far as the command line shows them."""

import os
import shutil
import subprocess
import unittest

from smelt_cli import SMELT, SOURCE, CliTest

SAXPY = SOURCE / "examples/saxpy.ll"


class ConformanceTest(CliTest):
    def setUp(self):
        super().setUp()
        os.environ["SMELT_STORE"] = str(self.folder / "store")

    def test_same_input_same_bytes_whatever_the_locale_and_the_folder(self):
        packages, keys = set(), set()
        for number, (locale, zone) in enumerate((("C", "UTC"), ("tr_TR.UTF-8", "Asia/Tokyo"), ("de_DE.UTF-8", "UTC"))):
            folder = self.folder / f"somewhere {number}"
            folder.mkdir()
            shutil.copy(SAXPY, folder / f"name{number}.ll")
            environment = {**os.environ, "LC_ALL": locale, "LANG": locale, "TZ": zone}
            command = [SMELT, "compile", f"name{number}.ll", "-o", "out.smelt", "--no-store", "--target", "macos14"]
            subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
            whole = (folder / "out.smelt").read_bytes()
            command = [SMELT, "compile", f"name{number}.ll", "-o", "out.metallib", "--no-store"]
            subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
            keys.add((folder / "out.metallib").read_bytes())
            packages.add(whole.replace(f"name{number}".encode(), b"name#"))
        self.assertEqual(len(keys), 1, "metallibs differ")
        self.assertEqual(len(packages), 1, "packages differ by more than the library's name")

    def test_a_library_cut_anywhere_is_refused(self):
        whole = self.folder / "whole.metallib"
        self.succeed("compile", SAXPY, "-o", whole)
        data = whole.read_bytes()
        cut = self.folder / "cut.metallib"
        for length in [0, 3, 4, 87, 88, 117, 118, *range(200, len(data), 97), len(data) - 1]:
            cut.write_bytes(data[:length])
            said = self.fail_with(1, "run", cut, "saxpy", "--threads", 1)
            self.assertRegex(said, r"\((not_metallib|truncated|corrupt|empty_library)\)", length)


if __name__ == "__main__":
    unittest.main()
