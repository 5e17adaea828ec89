# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""smelt.compile, packages, and compile_shader."""

import os
import pickle
import subprocess
import sys
import unittest

import support
from support import needs_numpy, numpy

import smelt

IR = (support.FOLDER / "kernels.ll").read_text()
ONE = IR[: IR.index("; out[i] = argument")]


class Compiling(unittest.TestCase):
    def test_text_bytes_and_paths(self):
        path = support.temporary("compile") / "one.ll"
        path.write_text(ONE)
        digests = {smelt.compile(source).digest for source in (ONE, ONE.encode(), bytearray(ONE.encode()), path, str(path))}
        self.assertEqual(len(digests), 1)

    def test_second_time_is_a_hit(self):
        text = ONE.replace("saxpy", "other")
        first = smelt.compile(text)
        self.assertFalse(first.hit)
        again = smelt.compile(text)
        self.assertTrue(again.hit)
        self.assertEqual((first.key, first.digest), (again.key, again.digest))
        without = smelt.compile(text, store=False)
        self.assertFalse(without.hit)
        self.assertEqual(without.digest, first.digest)
        elsewhere = smelt.compile(text, store=support.temporary("elsewhere"))
        self.assertFalse(elsewhere.hit)

    def test_in_a_child(self):
        library = smelt.compile(ONE, targets=["macos14"], cpu=False, store=False).metallib("macos14")
        made = {mode: smelt.compile(library, store=False, sandbox=mode).digest for mode in ("never", "auto", "always", None)}
        self.assertEqual(len(set(made.values())), 1, made)
        self.assertEqual(
            smelt.compile(ONE, store=False, sandbox="always").digest, smelt.compile(ONE, store=False, sandbox="never").digest
        )
        with self.assertRaises(smelt.InvalidLibraryError):
            smelt.compile(library[:-40], store=False, sandbox="always")
        with self.assertRaisesRegex(smelt.ArgumentError, "auto, always or never"):
            smelt.compile(library, store=False, sandbox="yes")

    def test_an_edit_compiles_what_it_changed(self):
        text = "kernel void a(device float* x) { x[0] = 1; }\nkernel void b(device float* x) { x[0] = 2; }\n"
        store = support.temporary("edits")
        self.assertEqual(smelt.compile(text, store=store).kernels_kept, (0, 2))
        self.assertEqual(smelt.compile(text.replace("= 2", "= 3"), store=store).kernels_kept, (1, 2))

    def test_targets(self):
        package = smelt.compile(ONE, targets=["macos14", "ios17"], cpu="x86-64-v3")
        self.assertEqual(package.targets, ["macos14", "ios17", "cpu-x86-64-v3"])
        self.assertEqual(package.metallib("ios17")[:4], b"MTLB")
        self.assertNotEqual(package.metallib("ios17"), package.metallib("macos14"))
        with self.assertRaises(smelt.Error):
            package.metallib("macos15")
        with self.assertRaises(smelt.ArgumentError):
            package.metallib()  # two to choose from
        self.assertEqual(smelt.compile(ONE, targets="macos26", cpu=False).targets, ["macos26"])
        with self.assertRaises(smelt.ArgumentError) as raised:
            smelt.compile(ONE, targets=["macos99"])
        self.assertIn("macos14", str(raised.exception))  # lists the known ones

    def test_target_from_the_environment(self):
        os.environ["SMELT_TARGET"] = "macos15"
        try:
            self.assertEqual(smelt.compile(ONE, cpu=False).targets, ["macos15"])
        finally:
            del os.environ["SMELT_TARGET"]

    def test_offline(self):
        os.environ["SMELT_OFFLINE"] = "1"
        try:
            with self.assertRaises(smelt.CacheMissError) as raised:
                smelt.compile(ONE.replace("saxpy", "never_made"))
            self.assertEqual(raised.exception.code, "not_cached")
        finally:
            del os.environ["SMELT_OFFLINE"]

    def test_progress(self):
        seen = []
        smelt.compile(ONE.replace("saxpy", "shown"), progress=lambda *step: seen.append(step))
        self.assertIn(("kernels", 1, 1), seen)
        self.assertIn(("cpu code", 1, 1), seen)
        with self.assertRaises(ZeroDivisionError):
            smelt.compile(ONE.replace("saxpy", "stopped"), progress=lambda *step: 1 // 0)

    def test_metadata(self):
        shown = smelt.compile(ONE, metadata={"num_warps": 2, "warp_size": 32, "shared": 0}, store=False)
        self.assertEqual(shown.load().saxpy.max_threads_per_threadgroup, 64)
        path = support.temporary("compile") / "meta.json"
        path.write_text('{"num_warps": 4, "warp_size": 32, "shared": 0}')
        for metadata in (path, path.read_text()):
            package = smelt.compile(ONE, metadata=metadata, store=False)
            self.assertEqual(package.load().saxpy.max_threads_per_threadgroup, 128)

    def test_errors(self):
        with self.assertRaises(smelt.Error) as raised:
            smelt.compile("define void @f( {\n}\n")
        self.assertIn(raised.exception.code, ("compile_failed", "source_type", "corrupt"))
        with self.assertRaises(smelt.LibraryNotFoundError):
            smelt.compile("missing.ll")
        with self.assertRaises(smelt.SourceTypeError):
            smelt.compile(3)
        with self.assertRaises(smelt.ArgumentError):
            smelt.compile(ONE, metadata=3)
        with self.assertRaises(smelt.ArgumentError):
            smelt.compile(ONE, cpu="pentium")

    def test_several_sources(self):
        two = smelt.compile([ONE, ONE.replace("saxpy", "saxpy2")])
        self.assertEqual(two.functions, ["saxpy", "saxpy2"])

    def test_real_triton_kernel(self):
        folder = support.shared("triton-3.6.0/hip-gfx1100")
        try:
            package = smelt.compile(folder / "vector_add.llir", metadata=folder / "vector_add.json", targets=["macos14"])
        except smelt.Error as error:
            if error.code in ("unsupported", "compile_failed", "source_type"):
                self.skipTest(f"SKIPPED: this build does not take Triton's amdgcn IR: {error}")
            raise
        self.assertEqual(package.metallib("macos14")[:4], b"MTLB")


class Packages(unittest.TestCase):
    def test_is_a_mapping(self):
        package = support.package()
        self.assertEqual(list(package), package.libraries)
        self.assertEqual(len(package), 1)
        (name,) = package
        self.assertIn(name, package)
        self.assertIs(package[name], package[name])
        self.assertIn("saxpy", dir(package[name]))
        with self.assertRaises(KeyError):
            package["nope"]

    def test_save_and_open(self):
        path = support.temporary("packages") / "m.smelt"
        support.package().save(path)
        opened = smelt.open(path)
        self.assertEqual(opened, support.package())
        self.assertEqual(bytes(opened), path.read_bytes())
        self.assertEqual(opened.functions, support.package().functions)
        self.assertIn("saxpy", opened.functions)
        self.assertIsNone(opened.key)
        self.assertEqual(pickle.loads(pickle.dumps(opened)), opened)
        with self.assertRaises(smelt.LibraryIOError):
            smelt.open("/nowhere/m.smelt")
        with self.assertRaises(smelt.InvalidLibraryError):
            smelt.open(b"not a package at all")

    @needs_numpy
    def test_store_tag_and_ship(self):
        store = smelt.Store()
        for version, text in (("1.0.0", ONE), ("1.1.0", ONE.replace("fadd", "fsub"))):
            package = smelt.compile(text, name="axpy", version=version)
            store.tag(f"axpy@{version}", package.key)
        self.assertEqual(store.resolve("axpy@1.0.0"), store.resolve("axpy@<1.1"))
        newest = store.resolve("axpy@1")
        self.assertEqual(newest, package.key)
        shipped = smelt.open(store.export(["axpy@1.1.0"]))
        x, y = numpy.ones(3, numpy.float32), numpy.zeros(3, numpy.float32)
        shipped["axpy"].saxpy(x, y, 2.0)
        self.assertEqual(abs(y).tolist(), [2, 2, 2])
        other = smelt.Store(support.temporary("imported"))
        (key,) = other.import_package(bytes(shipped))
        self.assertEqual(other.resolve("axpy"), key)
        # A tag that points elsewhere already is not moved unless that is asked for.
        mine = smelt.compile(text, name="mine", store=other.path).key
        other.tag("axpy@1.1.0", mine, move=True)
        with self.assertWarnsRegex(RuntimeWarning, f"axpy@1.1.0 points at {mine} and stays"):
            other.import_package(bytes(shipped))
        self.assertEqual(other.resolve("axpy"), mine)
        self.assertEqual(other.import_package(bytes(shipped), move=True), [key])
        self.assertEqual(other.resolve("axpy"), key)


class Shaders(unittest.TestCase):
    MSL = """#include <metal_stdlib>
using namespace metal;
kernel void twice(device float* x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] *= 2; }
"""

    @needs_numpy
    def test_compile_shader(self):
        shaders = smelt.compile_shader(self.MSL)
        x = numpy.arange(4, dtype=numpy.float32)
        shaders.twice(x)
        self.assertEqual(x.tolist(), [0, 2, 4, 6])

    @needs_numpy
    def test_compile_takes_msl(self):
        folder = support.temporary("include")
        (folder / "factor.h").write_text("#define FACTOR (BASE + 1)\n")
        text = '#include "factor.h"\n' + self.MSL.replace("*= 2", "*= FACTOR")
        package = smelt.compile(text, include_folders=[folder], definitions={"BASE": 4})
        x = numpy.arange(4, dtype=numpy.float32)
        package.load().twice(x)
        self.assertEqual(x.tolist(), [0, 5, 10, 15])
        self.assertEqual(smelt.compile(text, include_folders=[folder], definitions=["BASE=4"]).digest, package.digest)
        with self.assertRaises(smelt.CompileError):
            smelt.compile(text, include_folders=[folder])

    def test_a_kernel_without_cpu_code_is_told(self):
        text = self.MSL.replace("{ x[i]", "{ float big[20000000]; for (uint k = 0; k < 20000000; ++k) big[k] = x[k]; x[i] += big[uint(x[0])]; x[i]")
        text += self.MSL[self.MSL.index("kernel") :].replace("twice", "small")
        package = smelt.compile(text)
        for made in (package, smelt.compile(text)):  # a hit tells it too
            self.assertEqual(len(made.warnings), 1, made.warnings)
            self.assertIn("kernel 'twice' has no code for cpu-", made.warnings[0])
        with self.assertRaises(smelt.UnsupportedError) as raised:
            smelt.compile(text, cpu="required")
        self.assertIn("twice", str(raised.exception))
        self.assertEqual(smelt.compile(self.MSL, cpu="required").warnings, [])

    def test_filename_is_what_messages_say(self):
        wrong = self.MSL.replace("x[i] *= 2", "x[i] *= undeclared")
        with self.assertRaisesRegex(SyntaxError, "mine.metal:3:"):
            smelt.compile_shader(wrong, filename="mine.metal")
        with self.assertRaisesRegex(smelt.CompileError, "two.metal:3:"):
            smelt.compile([self.MSL, wrong], filename=["one.metal", "two.metal"])
        with self.assertRaises(smelt.ArgumentError):
            smelt.compile([self.MSL, wrong], filename="one.metal")

    def test_the_package_of_a_library(self):
        package = smelt.compile(self.MSL)
        self.assertEqual(smelt.info(smelt.compile_shader(self.MSL)).package.functions, ["twice"])
        self.assertEqual(smelt.info(package.load()).package, package)
        self.assertEqual(smelt.info(smelt.load_metallib(bytes(package))).package, package)
        plain = smelt.load_metallib(package.metallib())
        self.assertIn(smelt.info(plain).target, smelt.info(plain).package.targets)

    def test_a_mistake_is_a_syntax_error(self):
        with self.assertRaises(SyntaxError) as raised:
            smelt.compile_shader(self.MSL.replace("x[i] *= 2", "x[i] *= undeclared"))
        self.assertIn("undeclared identifier 'undeclared'", str(raised.exception))

    def test_what_is_no_source(self):
        with self.assertRaises(smelt.SourceTypeError) as raised:
            smelt.compile_shader("\x00\x01\x02\x03 no text", filename="k.metal")
        self.assertIn("k.metal is not Metal Shading Language text (", str(raised.exception))

    def test_type(self):
        with self.assertRaises(TypeError):
            smelt.compile_shader(b"kernel void f() {}")


class Import(unittest.TestCase):
    def test_store_alone_needs_no_compiler(self):
        code = (
            "import smelt, sys; smelt.Store; import smelt.compat.triton; "
            "assert 'smelt._compiler' not in sys.modules; assert 'numpy' not in sys.modules; "
            "assert not any('LLVM' in line for line in open('/proc/self/maps'))"
        )
        if not os.path.exists("/proc/self/maps"):
            self.skipTest("SKIPPED: no /proc")
        subprocess.run([sys.executable, "-c", code], check=True)

    def test_everything_in_all_is_there(self):
        for name in smelt.__all__:
            self.assertIsNotNone(getattr(smelt, name))
            self.assertIn(name, dir(smelt))
        with self.assertRaises(AttributeError):
            smelt.nothing


if __name__ == "__main__":
    unittest.main()
