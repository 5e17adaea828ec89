# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""compile_shader: its request to the compiler, and what it says about the answer."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import warnings
from unittest import mock

from support import needs_numpy, numpy

import smelt
import smelt.compat.torch

DOUBTFUL = """#include <metal_stdlib>
using namespace metal;
kernel void k(device float* x) { int i = 0;
  if (i = 3) x[0] = 1; }
"""
TENSOR = """#include <metal_tensor>
using namespace metal;
kernel void k(tensor<device float, dextents<int, 1>> t, device float* out) { out[0] = 1; }
"""
VERSION = "kernel void k(device float* out) { out[0] = __METAL_VERSION__; }"


class Warnings(unittest.TestCase):
    def said(self, source, compile_shader=smelt.compile_shader, **options):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            compile_shader(source, **options)
        for one in caught:
            self.assertIs(one.category, smelt.CompileWarning)
            self.assertEqual(os.path.basename(one.filename), os.path.basename(__file__))
        return [str(one.message) for one in caught]

    def test_of_the_compiler(self):
        with tempfile.TemporaryDirectory() as store:
            for _ in range(2):  # what the store has tells it again
                said = self.said(DOUBTFUL, store=store, filename="doubtful.metal")
                self.assertEqual(len(said), 1, said)
                self.assertIn("doubtful.metal:4:9: warning: using the result of an assignment as a condition", said[0])
            moved = self.said("// a line\n" + DOUBTFUL, store=store)
            self.assertEqual(len(moved), 1, moved)
            self.assertIn("source.metal:5:9", moved[0])

    def test_of_another_process(self):
        program = f"import smelt\nsmelt.compile_shader({DOUBTFUL!r})"
        with tempfile.TemporaryDirectory() as store:
            for _ in range(2):
                done = subprocess.run([sys.executable, "-c", program], env={**os.environ, "SMELT_STORE": store}, capture_output=True, text=True, check=True)
                self.assertIn("CompileWarning: source.metal:4:9", done.stderr)

    def test_a_library_without_kernels(self):
        said = self.said("void k(device float* x, uint i) { x[i] = 1; }", filename="forgotten.metal")
        self.assertEqual(len(said), 1, said)
        self.assertIn("forgotten.metal: warning: it has no kernel", said[0])

    def test_a_right_text_says_nothing(self):
        self.assertEqual(self.said(VERSION), [])

    def test_as_upstream_nothing_is_told(self):
        self.assertEqual(self.said(DOUBTFUL, smelt.compat.torch.compile_shader), [])


class Texts(unittest.TestCase):
    def refused(self, call, *words):
        with self.assertRaises(smelt.SourceTypeError) as raised:
            call()
        for word in words:
            self.assertIn(word, str(raised.exception))

    def test_a_path_is_no_text(self):
        self.refused(lambda: smelt.compile_shader("saxpy.metal"), "'saxpy.metal' looks like the path of a file", "smelt.compile('saxpy.metal')", "read_text()")
        self.refused(lambda: smelt.compile_shader("k.metallib"), "smelt.load_metallib('k.metallib')")
        self.refused(lambda: smelt.compile_shader(__file__), "looks like the path of a file")

    def test_nothing_is_no_text(self):
        for text in ("", " \n\t"):
            self.refused(lambda: smelt.compile_shader(text), "the text is empty")

    def test_names_are_no_packages(self):
        package = smelt.compile(VERSION, targets=["macos14"], cpu=False)
        self.refused(lambda: smelt.pack(["a.smelt"]), "want a list of smelt.Package (smelt.open reads a file), got str")
        self.refused(lambda: smelt.pack(package), "got a smelt.Package")


class Targets(unittest.TestCase):
    def version(self, **options):
        if numpy is None:
            self.skipTest("SKIPPED: no NumPy")
        out = numpy.zeros(1, "f")
        smelt.compile_shader(VERSION, **options).k(out, threads=1)
        return int(out[0])

    def test_the_newest_language_for_the_cpu(self):
        self.assertGreaterEqual(self.version(), 400)
        self.assertGreaterEqual(self.version(logging=True), 400)

    def test_a_target_that_is_named(self):
        self.assertEqual(self.version(target="macos14"), 310)
        with mock.patch.dict(os.environ, SMELT_TARGET="macos15"):
            self.assertEqual(self.version(), 320)
            self.assertEqual(self.version(target="macos13"), 300)
            self.assertEqual(self.version(logging=True), 320)

    def test_what_is_no_target(self):
        with self.assertRaises(smelt.Error) as raised:
            smelt.compile_shader(VERSION, target="macos99")
        self.assertIn("target 'macos99' is not known", str(raised.exception))
        with self.assertRaises(smelt.ArgumentError):
            smelt.compile_shader(VERSION, target=["macos14"])

    def test_tensors(self):
        self.assertIn("k", dir(smelt.compile_shader(TENSOR)))
        with self.assertRaises(SyntaxError) as raised:
            smelt.compile_shader(TENSOR, target="macos14")
        self.assertIn("target=", str(raised.exception))

    @needs_numpy
    def test_include_folders(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "seven.h").write_text("#define SEVEN 7\n", encoding="utf-8")
            source = "#include <seven.h>\nkernel void k(device float* out) { out[0] = SEVEN; }"
            out = numpy.zeros(1, "f")
            for folders in ([folder], folder, pathlib.Path(folder)):
                smelt.compile_shader(source, include_folders=folders).k(out, threads=1)
                self.assertEqual(out[0], 7)
            with self.assertRaises(SyntaxError):
                smelt.compile_shader(source)
            with self.assertRaises(smelt.ArgumentError):
                smelt.compile_shader(source, include_folders=3)


class HeadersOfTorch(unittest.TestCase):
    PROGRAM = """
import pathlib, sys, smelt, smelt.compat.torch
text = "#include <c10/metal/seven.h>\\nkernel void k(device float* out) { out[0] = SEVEN; }"
x = __import__("array").array("f", [0])
smelt.compile_shader(text).k(x, threads=1)
smelt.compat.torch.compile_shader(text).k(x, threads=1)
assert x[0] == 7, x
smelt.compile(text, cpu=False)
pathlib.Path("k.metal").write_text(text)
smelt.compile("k.metal", cpu=False)
assert "torch" not in sys.modules
"""

    def test_they_are_found_where_torch_is_installed(self):
        with tempfile.TemporaryDirectory() as folder:
            headers = pathlib.Path(folder, "torch/include/c10/metal")
            headers.mkdir(parents=True)
            pathlib.Path(folder, "torch/__init__.py").write_text("raise ImportError('nobody imports it')\n")
            (headers / "seven.h").write_text("#define SEVEN 7\n")
            paths = os.pathsep.join([folder, *filter(None, [os.environ.get("PYTHONPATH")])])
            environment = {**os.environ, "PYTHONPATH": paths, "SMELT_STORE": os.path.join(folder, "store")}
            done = subprocess.run([sys.executable, "-c", self.PROGRAM], env=environment, cwd=folder, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_folder_of_ones_own_comes_first(self):
        from smelt import _torch_headers

        with tempfile.TemporaryDirectory() as folder:
            os.makedirs(os.path.join(folder, "c10", "metal"))
            self.assertEqual(_torch_headers.wanted_by([b"#include <c10/metal/utils.h>"], [folder]), [])
        self.assertEqual(_torch_headers.wanted_by([b"kernel void k() {}"], []), [])


class Stores(unittest.TestCase):
    def test_a_folder_that_others_may_write_to(self):
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o777)
            program = "import smelt, array\nx = array.array('f', [1])\n"
            program += "smelt.compile_shader('kernel void k(device float* x) { x[0] = 7; }').k(x, threads=1)\nprint(x[0])"
            done = subprocess.run([sys.executable, "-c", program], env={**os.environ, "SMELT_STORE": folder}, capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stdout), (0, "7.0\n"), done.stderr)
            self.assertEqual(done.stderr.count("going on without a store"), 1, done.stderr)


if __name__ == "__main__":
    unittest.main()
