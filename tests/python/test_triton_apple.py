# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""smelt.compat.triton_apple under a stand-in for the driver of Triton's Apple back end (triton_apple/driver.py), which calls it as that does."""

import os
import pathlib
import shutil
import subprocess
import sys
import types
import unittest
import unittest.mock

import support
from support import needs_numpy, numpy as np

import smelt
from smelt.compat import triton_apple as metal

FOLDER = pathlib.Path(__file__).with_name("triton_apple")
sys.path.insert(0, str(FOLDER))


def tools():
    """A folder of xcrun and its kin, of the smelt beside the package that is tested."""
    folder = support.temporary("tools")
    if not any(folder.iterdir()):
        here = pathlib.Path(smelt.__file__).resolve().parents[2] / "bin" / "smelt"
        command = str(here) if here.exists() else shutil.which("smelt")
        if command is None:
            raise unittest.SkipTest("SKIPPED: no smelt on PATH")
        subprocess.run([command, "toolchain", str(folder)], check=True)
    return folder


class Memory(unittest.TestCase):
    def test_allocated_memory_is_zeroed_and_aligned(self):
        for size in (0, 1, 1000):
            made = metal.alloc(size, "float32")
            self.assertEqual((made.nbytes, len(bytes(made)), made.dtype), (size, size, "float32"))
            self.assertEqual(bytes(made), bytes(size))
            self.assertEqual(made.data_ptr() % 256, 0)
            self.assertEqual(made.gpu_address(), made.data_ptr())
        with self.assertRaises(ValueError):
            metal.alloc(-1)
        with self.assertRaises(ValueError):
            metal.alloc_shared(0)

    def test_wrapped_memory_is_the_callers(self):
        owner = bytearray(b"abcd")
        made = metal.wrap(owner)
        memoryview(made)[0] = 90
        self.assertEqual(owner, b"Zbcd")
        self.assertIs(metal.wrap(made), made)
        with self.assertRaises(BufferError):  # it would move
            owner.append(1)
        del made
        owner.append(1)
        self.assertTrue(memoryview(metal.wrap(b"fixed")).readonly)

    def test_what_is_not_wrapped(self):
        with self.assertRaises(ValueError):
            metal.wrap(b"")
        with self.assertRaises(TypeError):
            metal.wrap(3)
        with self.assertRaises(BufferError):
            metal.wrap(memoryview(bytearray(8))[::2])

    @needs_numpy
    def test_arrays_bring_their_type(self):
        array = np.ones(4, np.float16)
        self.assertEqual(metal.wrap(array).dtype, np.float16)
        self.assertEqual(metal.wrap(array, "fp8").dtype, "fp8")
        np.frombuffer(metal.wrap(array), np.float16)[:] = 2
        self.assertTrue((array == 2).all())

    def test_a_tensor_reaches_to_the_end_of_its_storage(self):
        memory = bytearray(range(64))
        at = metal.wrap(memory).address
        storage = types.SimpleNamespace(data_ptr=lambda: at, nbytes=lambda: 64)
        tensor = types.SimpleNamespace(data_ptr=lambda: at + 16, untyped_storage=lambda: storage, device=types.SimpleNamespace(type="cpu"), dtype="f")
        made = metal.wrap(tensor)
        self.assertEqual((made.nbytes, bytes(made)[0], metal.gpu_address(tensor)), (48, 16, at + 16))
        tensor.device = types.SimpleNamespace(type="cuda")
        with self.assertRaisesRegex(ValueError, "CPU memory"):
            metal.wrap(tensor)


class Launches(unittest.TestCase):
    SOURCE = """
#include <metal_stdlib>
using namespace metal;
kernel void put(device long* out [[buffer(0)]], constant long& a [[buffer(1)]], constant float& b [[buffer(2)]], constant uchar* c [[buffer(3)]],
                uint3 tid [[thread_position_in_grid]]) {
  out[tid.x] = a + (long)b + c[2];
}
kernel void other(device float* x [[buffer(0)]]) { x[0] = 1; }
"""

    @classmethod
    def setUpClass(cls):
        cls.library = metal.load_metallib(metal.compile_source(cls.SOURCE, "safe"))

    def test_names_and_limits(self):
        self.assertEqual(sorted(self.library.function_names), ["other", "put"])
        self.assertGreaterEqual(self.library.get_function("put").max_total_threads_per_threadgroup, 1024)
        with self.assertRaises(KeyError):
            self.library.get_function("none")
        self.assertTrue(metal.is_available())
        self.assertIsInstance(metal.get_device_name(), str)

    def test_numbers_and_bytes(self):
        out = metal.alloc(4 * 8)
        self.library.get_function("put")(out, 2**40, 3.5, b"\1\2\3", threads=[4, 1, 1], group_size=[2, 1, 1])
        self.assertEqual(memoryview(out).cast("q").tolist(), [2**40 + 6] * 4)

    def test_wrong_launches(self):
        put, out = self.library.get_function("put"), metal.alloc(32)
        good = {"threads": [4, 1, 1], "group_size": [2, 1, 1]}
        for wrong, error in (({"threads": [3, 1, 1]}, ValueError), ({"threads": [0, 1, 1]}, ValueError), ({"group_size": [2, 1]}, TypeError),
                             ({"threads": 4}, TypeError), ({"threadgroup_mem": -1}, ValueError)):  # fmt: skip
            with self.assertRaises(error):
                put(out, 1, 1.0, b"123", **{**good, **wrong})
        with self.assertRaisesRegex(TypeError, "argument 1"):
            put(out, "1", 1.0, b"123", **good)

    def test_what_is_no_library(self):
        with self.assertRaises(RuntimeError):
            metal.load_metallib(b"nothing")
        with self.assertRaisesRegex(RuntimeError, "MSL compile failed: .*undeclared"):
            metal.compile_source("kernel void f(device float* x) { undeclared; }", "safe")

    def test_the_mode_of_floats(self):
        source = "kernel void f(device float* x [[buffer(0)]]) { x[1] = (x[0] + 1e8f) - 1e8f; }"
        made = {mode: metal.compile_source(source, mode) for mode in ("safe", "fast")}
        self.assertNotEqual(made["safe"], made["fast"])
        x = metal.alloc(8)
        memoryview(x).cast("f")[0] = 1.0
        metal.load_metallib(made["safe"]).get_function("f")(x, threads=[1, 1, 1], group_size=[1, 1, 1])
        self.assertEqual(memoryview(x).cast("f").tolist(), [1.0, 0.0])


@needs_numpy
class Kernels(unittest.TestCase):
    """Ten kernels in the back end's idioms, by its two commands."""

    @classmethod
    def setUpClass(cls):
        import cases
        import driver

        cls.cases, cls.driver = {case.name: case for case in cases.CASES}, driver
        cls.path = unittest.mock.patch.dict(os.environ, {"PATH": f"{tools()}:{os.environ['PATH']}"})
        cls.path.start()
        cls.addClassCleanup(cls.path.stop)

    def launcher(self, name):
        text = self.driver.text_of(name)
        return self.driver.Launcher(metal, self.cases[name], text, self.driver.library_of(text))

    def test_numbers(self):
        self.assertEqual(len(self.cases), 10)
        for name, case in self.cases.items():
            with self.subTest(name):
                values, out, want = case.make(np.random.default_rng(3))
                self.launcher(name)(out, *values[1:])
                self.assertEqual(self.driver.differs(case, out, want), "")

    def test_arrays_as_they_are(self):
        case = self.cases["add_scaled"]
        values, out, want = case.make(np.random.default_rng(4))
        self.launcher("add_scaled")(out, *values[1:], arrays=lambda array: array)
        self.assertEqual(self.driver.differs(case, out, want), "")

    def test_what_is_printed(self):
        launch = self.launcher("print_values")
        values, out, _ = self.cases["print_values"].make(None)
        launch(out, *values[1:])
        seen = sorted((one["pid"], one["index"], np.uint32(one["value"]).view(np.float32)) for one in launch.printed)
        self.assertEqual(seen, [(at // 32, at % 32, at / 2) for at in range(64)])

    def test_a_failed_assert(self):
        launch = self.launcher("checked_gather")
        values, out, _ = self.cases["checked_gather"].make(np.random.default_rng(5))
        values[2][100] = 50
        with self.assertRaisesRegex(RuntimeError, r"1 threads failed: index is past the end \(gather.py:12\)"):
            launch(out, *values[1:])

    def test_more_threadgroup_memory_than_there_is(self):
        text = self.driver.text_of("too_large")
        library = self.driver.library_of(text)  # with a warning; the pipeline is what fails
        with self.assertRaises(self.driver.OutOfResources) as raised:
            self.driver.load_binary(metal, "too_large", library)
        self.assertEqual((raised.exception.required, raised.exception.limit), (36864, 32768))
        launch = self.launcher("transpose")
        values, out, _ = self.cases["transpose"].make(np.random.default_rng(6))
        with self.assertRaisesRegex(RuntimeError, r"Threadgroup memory size \(40960\) exceeds the maximum threadgroup memory allowed \(32768\)"):
            launch.kernel(out, values[1], self.driver.packed(["i32", "i32"], [64, 96]), threads=[384, 2, 1], group_size=[128, 1, 1], threadgroup_mem=40960)

    def test_a_second_process_compiles_nothing(self):
        store = support.temporary("second")
        environment = {**os.environ, "SMELT_STORE": str(store), "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, str(FOLDER / "run.py")]
        offline = {**environment, "SMELT_OFFLINE": "1"}
        refused = subprocess.run(command, env=offline, capture_output=True, text=True)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("k.metal: not in the store, and nothing is compiled offline", refused.stderr)
        for which in (environment, offline):
            done = subprocess.run(command, env=which, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (0, "10 kernels, 0 wrong\n"), done.stderr)


class Installed(unittest.TestCase):
    """Under a stand-in for the back end's package."""

    def test_the_driver_finds_it(self):
        package, driver = types.ModuleType("triton_apple_backend"), types.ModuleType("triton_apple_backend.driver")
        package.__path__ = []
        checked = []
        driver._RUNTIME, driver._check_pending = None, checked.append
        package.driver = driver
        names = {"triton_apple_backend": package, "triton_apple_backend.driver": driver}
        with unittest.mock.patch.dict(sys.modules, names):
            self.assertIs(metal.install(), driver)
            from triton_apple_backend import metal_native, metal_torch

            self.assertIs(metal_native, metal)
            self.assertIs(metal_torch, metal)
        runtime = driver._RUNTIME
        self.assertTrue(runtime.is_available())
        self.assertGreater(runtime.core_count(), 1)
        self.assertEqual(bytes(runtime.zeros_i32(3)), bytes(12))
        cache = runtime.empty_cache()
        memoryview(cache)[5] = 1
        runtime.clear_cache(cache)
        self.assertEqual(memoryview(cache)[5], 0)
        runtime.device_interface().synchronize()
        self.assertEqual(checked, [runtime])
        if np is not None:
            buffer = runtime.assert_buffer(2)
            memoryview(buffer).cast("I")[1] = 7
            self.assertEqual(runtime.peek_u32(buffer).tolist(), [0, 7])


if __name__ == "__main__":
    unittest.main()
