# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""smelt.compat.inductor_aot: shaders in generated C++, in the form of AOTInductor's wrapper for MPS, compiled into a package beside the model."""

import contextlib
import io
import unittest
import zipfile

import support

import smelt
from smelt.compat import inductor_aot as aot

ADD = """
#include <metal_stdlib>
using namespace metal;
kernel void generated_kernel(device float* out, constant float* a, constant long& n, uint x [[thread_position_in_grid]]) {
  if (x >= n) return;
  out[x] = a[x] + 1.0;
}
"""
TWICE = ADD.replace("+ 1.0", "* 2.0")


def wrapper(*sources):
    """What AOTInductor writes, as far as its shaders go."""
    text = "#include <torch/csrc/inductor/aoti_torch/c/shim_mps.h>\n"
    for number, source in enumerate(sources):
        text += f'const char* mps_lib_{number}_source = R"MTL({source})MTL";\n'
        text += f"AOTIMetalKernelFunctionHandle get_mps_lib_{number}_handle() {{\n    static auto kernel_handle = []() {{\n"
        text += f"        aoti_torch_mps_create_shader_library(mps_lib_{number}_source, &lib_handle);\n    }}();\n}}\n"
    return text


class Precompile(unittest.TestCase):
    def setUp(self):
        self.folder = support.temporary("aot")

    def runs(self, library, want):
        x, out = support.numpy.arange(4, dtype="float32"), support.numpy.zeros(4, "float32")
        library.generated_kernel(out, x, 4, threads=4, arg_casts={2: "int64"})
        self.assertEqual(out.tolist(), want)

    @support.needs_numpy
    def test_file_folder_and_archive(self):
        text = wrapper(ADD, TWICE, ADD)
        file = self.folder / "one.wrapper.cpp"
        file.write_text(text)
        inner = self.folder / "model" / "data"
        inner.mkdir(parents=True)
        (inner / "w.cpp").write_text(text)
        (inner / "weights.bin").write_bytes(b'R"MTL(no shader)MTL"')
        archive = self.folder / "model2.pt2"
        with zipfile.ZipFile(archive, "w") as made:
            made.writestr("data/aotinductor/model/x.wrapper.cpp", text)
            made.writestr("data/aotinductor/model/x.so", b"\x7fELF")
        for model in (file, self.folder / "model", archive):
            package = aot.precompile(model, targets=["macos14", "macos15"])
            self.assertEqual(sorted(package), sorted([aot.name_of(ADD), aot.name_of(TWICE)]))
            kernels = aot.open_beside(model, trust="any")
            self.assertEqual(kernels.package, package)
            self.runs(kernels.library(ADD), [1, 2, 3, 4])
            self.runs(kernels.library(TWICE), [0, 2, 4, 6])
            self.assertEqual(kernels.metallib(ADD, "macos15")[:4], b"MTLB")
            self.assertNotEqual(kernels.metallib(ADD, "macos15"), kernels.metallib(ADD, "macos14"))
            self.assertIsNone(kernels.library(ADD + " "))
            self.assertIsNone(kernels.metallib(ADD + " ", "macos14"))

    def test_again_from_the_store(self):
        file = self.folder / "again.cpp"
        file.write_text(wrapper(ADD))
        first = aot.precompile(file, self.folder / "a.smelt")
        self.assertEqual(first, aot.precompile(file, self.folder / "b.smelt"))
        self.assertTrue(smelt.compile(ADD + "\n", name=aot.name_of(ADD)).hit)

    def test_an_error_names_the_shader_and_writes_nothing(self):
        file = self.folder / "bad.cpp"
        file.write_text(wrapper(ADD, "kernel void f(device float* x) { undeclared; }"))
        with self.assertRaises(smelt.CompileError) as raised:
            aot.precompile(file)
        self.assertIn("shader 1", str(raised.exception))
        self.assertIn("undeclared", str(raised.exception))
        self.assertFalse((self.folder / "bad.smelt").exists())

    def test_no_shader(self):
        file = self.folder / "none.cpp"
        file.write_text("int main() {}\n")
        with self.assertRaises(smelt.ArgumentError):
            aot.precompile(file)

    def test_command(self):
        file = self.folder / "command.cpp"
        file.write_text(wrapper(ADD))
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            self.assertEqual(aot._main([str(file), "--target", "macos14", "-o", str(self.folder / "c.smelt")]), 0)
        self.assertIn("1 shaders for macos14", out.getvalue())
        self.assertTrue((self.folder / "c.smelt").exists())


class Pack(unittest.TestCase):
    def test_packages_become_one(self):
        a, b = smelt.compile(ADD, name="a", store=False), smelt.compile(TWICE, name="b", store=False)
        packed = smelt.pack([a, b])
        self.assertEqual(list(packed), ["a", "b"])
        self.assertEqual(packed.metallib("macos14", "b"), b.metallib("macos14"))
        with self.assertRaises(smelt.Error):
            smelt.pack([a, smelt.compile(TWICE, name="a", store=False)])


if __name__ == "__main__":
    unittest.main()
