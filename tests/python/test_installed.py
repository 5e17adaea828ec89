# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a copy of smelt says when a part of it is not there: advice that fits how it was installed."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import smelt

PACKAGE = pathlib.Path(smelt.__file__).resolve().parent


class InstalledTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="smelt-installed-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def copy(self, place, without):
        """The package in another place, but for some of its files."""
        to = self.folder / place / "smelt"
        shutil.copytree(PACKAGE, to, ignore=shutil.ignore_patterns("__pycache__", *without))
        return to.parent

    def said(self, path, code):
        environment = {**os.environ, "PYTHONPATH": str(path), "SMELT_STORE": str(self.folder / "store")}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        return done.stderr.strip().splitlines()[-1]

    def test_the_compiler(self):
        compile_something = "import smelt; smelt.compile_shader('kernel void k() {}')"
        (self.folder / "build").mkdir()
        (self.folder / "build" / "CMakeCache.txt").touch()
        for place, advice in (
            ("build/python", f"cmake --build {self.folder.resolve() / 'build'} --target smelt_python"),
            ("lib/python3/dist-packages", "the Debian package python3-smelt-compiler"),
            ("lib/python3.11/site-packages", "the wheel smelt_compiler-*.whl"),
        ):
            said = self.said(self.copy(place, ["_compiler.*"]), compile_something)
            self.assertIn(advice, said)
            self.assertNotIn("pip install", said)  # an index has another smelt-compiler, or somebody will put one there

    def test_remotes(self):
        said = self.said(self.copy("site-packages", ["_remote.*"]), "import smelt; smelt.Store('store', remotes=['file:///tmp'])")
        self.assertIn("the wheel smelt_remote-*.whl", said)
        self.assertNotIn("pip install", said)

    def test_another_python(self):
        path = self.copy("site-packages", [])
        for module in (path / "smelt").glob("_loader.*.so"):
            module.rename(module.with_name("_loader.cpython-399-x86_64-linux-gnu.so"))
        said = self.said(path, "import smelt")
        for word in ("ImportError: smelt: this copy", "cpython-399", sys.implementation.cache_tag, "-DPython_EXECUTABLE="):
            self.assertIn(word, said)
        self.assertNotIn("circular", said)

    def test_not_built(self):
        """The reader in Python alone, which says what it leaves to others."""
        path = self.copy("site-packages", ["*.so"])
        said = self.said(path, "import smelt; assert smelt.is_pure; smelt.Buffer(1, 2)")
        self.assertIn("left to the compiled modules", said)


if __name__ == "__main__":
    unittest.main()
