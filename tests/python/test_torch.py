# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""smelt.compat.torch: all spellings of upstream's loader, and what differs from smelt.load_metallib."""

import os
import pathlib
import struct
import sys
import types
import unittest
import unittest.mock
import warnings

import support
from support import needs_numpy, numpy

import smelt
from smelt.compat import inductor
from smelt.compat import torch as compat


class Spellings(unittest.TestCase):
    def setUp(self):
        self.data = support.package().metallib("macos14")
        self.path = support.temporary("torch") / "k.metallib"
        self.path.write_bytes(self.data)

    def works(self, library):
        x = bytearray(4)
        library.info(x, threads=1)
        self.assertEqual(x[0], 7)

    def test_public_name_by_type(self):
        for source in (self.data, bytearray(self.data), str(self.path), self.path, bytes(support.package())):
            self.works(compat.load_metallib(source))
        for bad in (memoryview(self.data), 3, None, support.package()):
            with self.assertRaises(TypeError) as raised:
                compat.load_metallib(bad)
            self.assertIn(type(bad).__name__, str(raised.exception))

    def test_private_names(self):
        for name in ("_mps_loadMetalllib", "_mps_loadMetallib", "_mps_loadMetalLib"):
            self.works(getattr(compat, name)(self.data))
            for bad in (bytearray(self.data), str(self.path)):
                with self.assertRaises(TypeError):
                    getattr(compat, name)(bad)
        self.works(compat._mps_loadMetallibFromPath(str(self.path)))
        with self.assertRaises(TypeError):
            compat._mps_loadMetallibFromPath(self.path)

    def test_errors_are_runtime_errors(self):
        with self.assertRaises(RuntimeError):
            compat.load_metallib(b"not a library")
        with self.assertRaises(RuntimeError) as raised:
            compat.load_metallib("/nowhere/k.metallib")
        self.assertIn("/nowhere/k.metallib", str(raised.exception))
        with self.assertRaises(RuntimeError):
            compat.load_metallib(self.data).nope

    def test_shader(self):
        with self.assertRaises(SyntaxError):
            compat.compile_shader("kernel void f(device float* x) { undeclared; }")

    def test_syntax_error_has_its_message_where_python_looks(self):
        # Inductor writes err.msg into what it raises.
        with self.assertRaises(SyntaxError) as raised:
            compat.compile_shader("kernel void f(device float* x) { undeclared; }")
        self.assertIn("undeclared", raised.exception.msg)
        self.assertEqual(raised.exception.msg, str(raised.exception))


class Language(unittest.TestCase):
    """PYTORCH_MPS_METAL_VERSION, as torch.mps obeys it."""

    SOURCE = """
#if __has_include(<MetalPerformancePrimitives/MetalPerformancePrimitives.h>)
#define HAS_PRODUCTS 1
#else
#define HAS_PRODUCTS 0
#endif
kernel void version(device int* x) { x[0] = __METAL_VERSION__; x[1] = HAS_PRODUCTS; }
"""

    def version(self, **environment):
        x = bytearray(8)
        with unittest.mock.patch.dict(os.environ, environment):
            compat.compile_shader(self.SOURCE).version(x, threads=1)
        return struct.unpack("<2i", x)

    def test_versions(self):
        self.assertEqual(self.version(PYTORCH_MPS_METAL_VERSION="3.1"), (310, 0))
        self.assertEqual(self.version(PYTORCH_MPS_METAL_VERSION="4.0"), (400, 1))
        self.assertEqual(self.version(PYTORCH_MPS_METAL_VERSION="4.0", SMELT_TARGET="macos15"), (320, 0))
        with self.assertRaisesRegex(RuntimeError, "PYTORCH_MPS_METAL_VERSION: want one of 3.0, 3.1, .*, got '5'"):
            self.version(PYTORCH_MPS_METAL_VERSION="5")


class Upstream(unittest.TestCase):
    """Where compat keeps upstream's way to the letter."""

    @needs_numpy
    def test_check_is_off(self):
        x = numpy.ones(2, numpy.float32)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            compat.load_metallib(bytes(support.package())).saxpy(x, x, 2, threads=2)

    @needs_numpy
    def test_default_group_of_two_dimensions(self):
        # (limit, 1, 1), whatever the grid: the last group of each row is trimmed to it.
        sizes = {}
        for library in (compat.load_metallib(bytes(support.package())), support.library()):
            visits, widths = numpy.zeros(24, numpy.int32), numpy.zeros(24, numpy.int32)
            library.visit(visits, widths, 6, 4, threads=(6, 4))
            self.assertEqual(set(visits.tolist()), {1})
            sizes[library] = set(widths.tolist())
        self.assertEqual(list(sizes.values()), [{6}, {6}])


class Patching(unittest.TestCase):
    def test_patch_and_back(self):
        fake = types.ModuleType("torch")
        fake.mps = types.SimpleNamespace(load_metallib=1)
        fake._C = types.SimpleNamespace(_mps_loadMetalllib=2)
        before = sys.modules.get("torch")
        sys.modules["torch"] = fake
        try:
            with compat.patch():
                self.assertIs(fake.mps.load_metallib, compat.load_metallib)
                self.assertIs(fake._C._mps_loadMetallib, compat._mps_loadMetallib)
                self.assertTrue(hasattr(fake._C, "_mps_loadMetalLib"))
            self.assertEqual((fake.mps.load_metallib, fake._C._mps_loadMetalllib), (1, 2))
            self.assertFalse(hasattr(fake._C, "_mps_loadMetalLib"))
        finally:
            if before is None:
                del sys.modules["torch"]
            else:
                sys.modules["torch"] = before

    def test_importable_without_torch(self):
        self.assertNotIn("torch", pathlib.Path(compat.__file__).read_text().split("def ")[0].split("import")[1:])


class FromTheStore(unittest.TestCase):
    """What a Mac's PyTorch would be asked, by a stand-in for it."""

    SOURCE = "kernel void one(device float* x, uint i [[thread_position_in_grid]]) { x[i] = 1; }"

    def asked(self, source, can_load=True, takes=True):
        asked = []

        def load(data):
            asked.append(("load", data[:4]))
            if not takes:
                raise RuntimeError("Failed to load the library")
            return "loaded"

        fake = types.ModuleType("torch")
        fake.mps = types.SimpleNamespace()
        fake._C = types.SimpleNamespace(_mps_compileShader=lambda text: asked.append(("compile", text)) or "compiled")
        if can_load:
            fake._C._mps_loadMetalllib = load
        before = sys.modules.get("torch")
        sys.modules["torch"] = fake
        self.addCleanup(lambda: sys.modules.pop("torch") if before is None else sys.modules.update(torch=before))
        device = types.SimpleNamespace(target="macos15")
        with unittest.mock.patch.object(compat, "_torch_with_mps", lambda: fake), unittest.mock.patch.object(compat._session, "device", lambda: device):
            with inductor.use_store():
                self.assertIs(fake._C._mps_compileShader, compat.compile_shader_from_store)
                answer = fake._C._mps_compileShader(source)
        self.assertEqual(fake._C._mps_compileShader("back"), "compiled")
        return answer, asked[:-1]

    def test_a_library_is_loaded(self):
        self.assertEqual(self.asked(self.SOURCE), ("loaded", [("load", b"MTLB")]))

    def test_torch_compiles_what_smelt_does_not(self):
        bad = "kernel void f(device float* x) { undeclared; }"
        self.assertEqual(self.asked(bad), ("compiled", [("compile", bad)]))
        self.assertEqual(self.asked(self.SOURCE, can_load=False), ("compiled", [("compile", self.SOURCE)]))
        self.assertEqual(self.asked(self.SOURCE, takes=False), ("compiled", [("load", b"MTLB"), ("compile", self.SOURCE)]))


class RealTorch(unittest.TestCase):
    """CPU tensors of PyTorch itself, where it is installed."""

    def setUp(self):
        try:
            import torch
        except ImportError:
            self.skipTest("SKIPPED: no PyTorch")
        self.torch = torch

    def test_tensors_are_not_copied(self):
        torch = self.torch
        x, y = torch.arange(8, dtype=torch.float32), torch.ones(8)
        support.library().saxpy(x[2:6], y[:4], 2.0)
        self.assertEqual(y.tolist(), [5, 7, 9, 11, 1, 1, 1, 1])
        grad = torch.ones(4, requires_grad=True)
        support.library().saxpy(grad, y, 1.0)
        self.assertEqual(y.tolist(), [6, 8, 10, 12, 1, 1, 1, 1])
        half = torch.tensor([1.0, 2.0], dtype=torch.bfloat16)
        out = bytearray(4)
        support.library().peek(out, half, threads=4)
        self.assertEqual(bytes(out), b"\x80\x3f\x00\x40")


if __name__ == "__main__":
    unittest.main()
