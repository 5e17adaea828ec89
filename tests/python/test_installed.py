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
            module.unlink()
        (path / "smelt" / "_loader.cpython-399-x86_64-linux-gnu.so").touch()
        said = self.said(path, "import smelt")
        for word in ("ImportError: smelt: this copy", "cpython-399", sys.implementation.cache_tag, "-DSMELT_PYTHONS="):
            self.assertIn(word, said)
        self.assertNotIn("circular", said)

    def test_not_built(self):
        """The reader in Python alone, which says what it leaves to others, and where they are on this system."""
        path = self.copy("site-packages", ["*.so"])
        for asks in ("smelt.Buffer(1, 2)", "smelt.Device('cpu')", "smelt.compile('kernel void k() {}')"):
            said = self.said(path, f"import smelt; assert smelt.edition == 'reader'; {asks}")
            for word in ("needs the compiled modules", "smelt_compiler-*-manylinux_*.whl", f"CPython 3.{sys.version_info[1]}"):
                self.assertIn(word, said)
            self.assertNotIn("mac.md", said)
        said = self.said(path, "import smelt; smelt._loader")
        self.assertIn("smelt-*-manylinux_*.whl", said)
        self.assertNotIn("mac.md", said)

    def doctor(self, path):
        environment = {**os.environ, "PYTHONPATH": str(path), "SMELT_STORE": str(self.folder / "store"), "SMELT_REMOTE": ""}
        for module in ("torch", "triton"):  # what is tried of them is not this test's
            (self.folder / "absent").mkdir(exist_ok=True)
            (self.folder / "absent" / f"{module}.py").write_text("raise ImportError('not here')")
        environment["PYTHONPATH"] += f":{self.folder / 'absent'}"
        done = subprocess.run([sys.executable, "-m", "smelt.compat.doctor"], env=environment, capture_output=True, text=True, timeout=120)
        rows = dict(line.split(None, 2)[:2] for line in done.stdout.splitlines())
        return done.returncode, rows, done.stdout

    def test_doctor(self):
        code, rows, said = self.doctor(PACKAGE.parent)
        self.assertEqual((code, rows["smelt"], rows["compiler"], rows["store"], rows["Triton"], rows["PyTorch"]), (0, "works", "works", "works", "missing", "missing"), said)
        self.assertIn("edition native", said)
        code, rows, said = self.doctor(self.copy("site-packages", ["_compiler.*"]))
        self.assertEqual((code, rows["compiler"]), (0, "missing"), said)
        self.assertIn("the wheel smelt_compiler-*.whl", said)
        code, rows, said = self.doctor(self.copy("other", ["*.so"]))
        self.assertEqual((code, rows["smelt"]), (1, "FAILS"), said)
        self.assertIn("smelt_compiler-*-manylinux_*.whl", said)


if __name__ == "__main__":
    unittest.main()
