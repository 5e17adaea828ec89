# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loading, libraries and kernels: docs/design/loader.md 1.1, 1.2, 1.4, 3.6, and the errors of docs/reference/errors.md."""

import array
import copy
import os
import pathlib
import re
import unittest

import support
from support import library, needs_numpy, numpy

import smelt


class Sources(unittest.TestCase):
    def test_every_type(self):
        path = support.temporary("sources") / "k.smelt"
        support.package().save(path)
        data = path.read_bytes()
        sources = [data, bytearray(data), memoryview(data), memoryview(bytearray(data)), str(path), path,
                   support.package(), smelt.open(path), smelt.open(data)]  # fmt: skip
        for source in sources:
            loaded = smelt.load_metallib(source)
            self.assertEqual(dir(loaded), dir(library()), type(source))
            x = bytearray(4)
            loaded.info(x, threads=1)
            self.assertEqual(x[0], 7)

    def test_key(self):
        key = smelt.Key("ab" * 32)
        smelt.Store().put(key, {"k.smelt": bytes(support.package()), "k.json": b"{}"})
        self.assertIn("saxpy", dir(smelt.load_metallib(key)))
        with self.assertRaises(smelt.CacheMissError) as raised:
            smelt.load_metallib(smelt.Key("cd" * 32))
        self.assertIsInstance(raised.exception, KeyError)
        self.assertEqual(raised.exception.code, "not_cached")

    def test_bytes_may_go_at_once(self):
        data = bytearray(bytes(support.package()))
        loaded = smelt.load_metallib(data)
        data[:] = bytes(len(data))
        x = bytearray(4)
        loaded.info(x, threads=1)
        self.assertEqual(x[0], 7)

    def test_plain_metallib_runs_on_the_cpu(self):
        data = support.package().metallib("macos14")
        for source in (data, memoryview(data)):
            loaded = smelt.load_metallib(source)
            x = bytearray(4)
            loaded.info(x, threads=1)
            self.assertEqual(x[0], 7)

    def test_a_model_is_prepared_in_one_call(self):
        model = smelt.open(bytes(support.package()))
        seen = []
        ready = model.prepare(progress=lambda done, total: seen.append((done, total)))
        self.assertEqual(seen[-1], (ready, ready))
        self.assertGreater(ready, 1)
        name = model.libraries[0]
        x = bytearray(4)
        model[name].info(x, threads=1)
        self.assertEqual(x[0], 7)
        self.assertEqual(model.prepare([name]), ready)
        self.assertEqual(smelt.open(bytes(support.package())).prepare(progress=lambda done, total: False) <= ready, True)
        with self.assertRaises(smelt.ArgumentError):
            model.prepare(["nothing"])
        with self.assertRaises(ZeroDivisionError):
            model.prepare(progress=lambda done, total: 1 / 0)

    def test_wrong_type_is_a_type_error_naming_it(self):
        for bad in (3, None, 1.5, object(), ["k.smelt"]):
            with self.assertRaises(smelt.SourceTypeError) as raised:
                smelt.load_metallib(bad)
            self.assertIsInstance(raised.exception, TypeError)
            self.assertIn(type(bad).__name__, str(raised.exception))
            self.assertEqual(raised.exception.code, "source_type")

    def test_missing_file(self):
        with self.assertRaises(smelt.LibraryIOError) as raised:
            smelt.load_metallib("/nowhere/k.metallib")
        self.assertIsInstance(raised.exception, OSError)
        self.assertIsInstance(raised.exception, FileNotFoundError)
        self.assertEqual(raised.exception.code, "file_not_found")
        self.assertIn("/nowhere/k.metallib", str(raised.exception))
        with self.assertRaises(smelt.LibraryIOError) as raised:
            smelt.load_metallib(support.temporary("sources"))  # a folder
        self.assertIn(raised.exception.code, ("io", "file_not_found"))

    def test_what_it_looks_like_instead(self):
        looks = {
            b"": "",
            b"MT": "",
            b"#include <metal_stdlib>\nkernel void f() {}": "metal shading language",
            b"BC\xc0\xde" + bytes(32): "bitcode",
            b"\x7fELF" + bytes(64): "ELF",
            b'{"a": 1}' + b" " * 16: "JSON",
            b"version https://git-lfs.github.com/spec/v1\n": "LFS",
            b"<!DOCTYPE html><html></html>": "HTML",
        }
        for data, word in looks.items():
            with self.assertRaises(smelt.InvalidLibraryError) as raised:
                smelt.load_metallib(data)
            self.assertIn(raised.exception.code, ("not_metallib", "truncated"), data)
            self.assertIn(word.lower(), str(raised.exception).lower())

    def test_no_prefix_loads(self):
        whole = support.shared("metallibs/kernels.14.metallib").read_bytes()
        self.assertEqual(smelt.info(smelt.load_metallib(whole)).functions, ("foo", "bar", "baz"))
        package = bytes(support.package())
        for data in (whole, package):
            for size in [*range(0, 256), *range(256, len(data), max(1, len(data) // 40))]:
                with self.assertRaises(smelt.InvalidLibraryError):
                    smelt.load_metallib(data[:size])

    def test_damage_is_named(self):
        data = bytearray(bytes(support.package()))
        data[-20] ^= 1
        with self.assertRaises(smelt.Error) as raised:
            smelt.load_metallib(bytes(data), verify="full")
        self.assertIn(raised.exception.code, ("digest_mismatch", "corrupt"))

    def test_options(self):
        data = bytes(support.package())
        for verify in ("none", "structure", "digest", "full"):
            smelt.load_metallib(data, verify=verify)
        for bad in ({"verify": "yes"}, {"trust": "me"}, {"metal": "x"}, {"metal": 3}, {"device": "gpu"}, {"device": 3}):
            with self.assertRaises(smelt.ArgumentError, msg=bad) as raised:
                smelt.load_metallib(data, **bad)
            self.assertEqual(raised.exception.code, "invalid_argument")

    def test_no_slice_for_this_device(self):
        only_metal = smelt.compile(support.FOLDER / "kernels.ll", targets=["macos14"], cpu=False)
        with self.assertRaises(smelt.UnsupportedTargetError) as raised:
            smelt.load_metallib(only_metal, device="cpu")
        self.assertIn("macos14", str(raised.exception))

    def test_without_cpu_code_it_is_made_where_that_is_asked_for(self):
        only_metal = smelt.compile("kernel void twice(device float* x, uint i [[thread_position_in_grid]]) { x[i] *= 2; }", cpu=False)
        folder = support.temporary(self.id())
        (folder / "only.smelt").write_bytes(bytes(only_metal))
        for source in (bytes(only_metal), folder / "only.smelt"):
            values = array.array("f", [1, 2, 3])
            smelt.load_metallib(source, native=False).twice(values)
            self.assertEqual(list(values), [2, 4, 6])

    def test_offline_device(self):
        loaded = smelt.load_metallib(support.package(), device="offline")
        self.assertEqual(smelt.info(loaded).target, "macos14")
        self.assertTrue(loaded.info.limits_estimated)
        with self.assertRaises(smelt.DeviceError) as raised:
            loaded.info(bytearray(4), threads=1)
        self.assertEqual(raised.exception.code, "device_unavailable")

    @unittest.skipIf(os.uname().sysname == "Darwin", "Metal is there")
    def test_no_metal_here(self):
        with self.assertRaises(smelt.DeviceError):
            smelt.load_metallib(support.package(), device="metal")


class Libraries(unittest.TestCase):
    NAMES = ["saxpy", "peek", "close", "visit", "gather", "reverse", "spin", "info"]

    def test_dir_is_the_functions_and_nothing_else(self):
        self.assertEqual(sorted(dir(library())), sorted(self.NAMES))
        public = [name for name in vars(type(library())) if not name.startswith("_")]
        self.assertEqual(public, [])

    def test_one_handle_for_a_name(self):
        self.assertIs(library().saxpy, library().saxpy)
        self.assertIs(library()["saxpy"], library().saxpy)

    def test_names_that_are_words_elsewhere(self):
        self.assertIsInstance(library().info, smelt.Kernel)
        self.assertIsInstance(library().close, smelt.Kernel)

    def test_unknown_name(self):
        with self.assertRaises(smelt.FunctionNotFoundError) as raised:
            library().saxpi
        self.assertIsInstance(raised.exception, RuntimeError)
        self.assertIsInstance(raised.exception, AttributeError)
        self.assertEqual(raised.exception.code, "function_not_found")
        self.assertIn("saxpy", str(raised.exception))  # a near name
        self.assertFalse(hasattr(library(), "nope"))
        self.assertEqual(getattr(library(), "nope", 5), 5)
        self.assertNotIn("nope", library())
        self.assertIn("saxpy", library())
        with self.assertRaises(smelt.FunctionNotFoundError):
            library()["__class__"]

    def test_dunder_names_never_reach_it(self):
        with self.assertRaises(AttributeError) as raised:
            library().__nothing__
        self.assertNotIsInstance(raised.exception, smelt.Error)
        self.assertIs(copy.deepcopy(library()), library())
        self.assertIs(copy.copy(library()), library())

    def test_loads_share_nothing_visible(self):
        first, second = smelt.load_metallib(support.package()), smelt.load_metallib(support.package())
        self.assertIsNot(first, second)
        self.assertIsNot(first.info, second.info)

    def test_kernel_outlives_library(self):
        import gc

        kernel = smelt.load_metallib(bytes(support.package())).info
        gc.collect()
        x = bytearray(4)
        kernel(x, threads=1)
        self.assertEqual(x[0], 7)

    def test_kernel_properties(self):
        kernel = library().reverse
        self.assertEqual(kernel.name, "reverse")
        self.assertLessEqual(kernel.max_threads_per_threadgroup, 1024)
        self.assertEqual(kernel.max_total_threads_per_threadgroup, kernel.max_threads_per_threadgroup)
        self.assertEqual(kernel.thread_execution_width, 32)
        self.assertEqual(kernel.static_thread_group_memory_length, 0)
        self.assertEqual(kernel.static_threadgroup_memory_length, 0)
        self.assertEqual([(a["index"], a["kind"]) for a in kernel.args], [(0, "buffer"), (0, "threadgroup")])
        self.assertEqual(kernel.constants, [])
        with self.assertRaises(AttributeError):
            kernel.name = "other"

    def test_info(self):
        facts = smelt.info(library())
        self.assertEqual(sorted(facts.functions), sorted(self.NAMES))
        self.assertTrue(facts.target.startswith("cpu-"))
        self.assertEqual(len(facts.digest), 64)
        self.assertEqual([s["target"] for s in facts.slices if not s["chosen"]], ["macos14"])
        self.assertIn("macos14", facts.slice_report)
        self.assertTrue(smelt.function_info(library(), "saxpy").usable)

    def test_prepare(self):
        seen = []
        fresh = smelt.load_metallib(support.package())
        self.assertEqual(smelt.prepare(fresh, progress=lambda done, total: seen.append((done, total))), len(self.NAMES))
        self.assertIn((len(self.NAMES), len(self.NAMES)), seen)
        self.assertEqual(smelt.prepare(fresh, ["saxpy"]), 1)
        with self.assertRaises(smelt.FunctionNotFoundError):
            smelt.prepare(fresh, ["nope"])
        with self.assertRaises(ZeroDivisionError):
            smelt.prepare(fresh, progress=lambda done, total: 1 // 0)


class Constants(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.library = smelt.load_metallib(support.shared("metallibs/constants.14.metallib"))

    def test_needed(self):
        with self.assertRaises(smelt.ConstantError) as raised:
            self.library.vadd  # upstream's way has none to give
        self.assertIsInstance(raised.exception, ValueError)
        self.assertEqual(raised.exception.code, "constant_missing")

    @needs_numpy
    def test_by_name_and_index(self):
        for constants in ({"foo": 2.0, "bar": 10}, {0: 2, 2: 10.0}, {"foo": 2, 2: 10}):
            kernel = smelt.specialize(self.library, "vadd", constants)
            a, b, c = (numpy.arange(3, dtype=numpy.float32) for _ in range(3))
            kernel(a, b, c)
            self.assertEqual(c.tolist(), [10, 13, 16])
        names = [(c["name"], c["index"]) for c in kernel.constants]
        self.assertEqual(names, [("foo", 0), ("bar", 2)])

    def test_wrong(self):
        wrong = [
            ({"foo": 1.0}, "constant_missing"),
            ({"foo": 1.0, "baz": 1}, "constant_missing"),
            ({1.5: 1.0}, "constant_unknown"),
            ({"foo": "a", "bar": 1}, "constant_type"),
            ({"foo": [1.0, 2.0], "bar": 1}, "constant_type"),
        ]
        for constants, code in wrong:
            with self.assertRaises(smelt.ConstantError, msg=constants) as raised:
                smelt.specialize(self.library, "vadd", constants)
            self.assertEqual(raised.exception.code, code)

    def test_no_kernel(self):
        """As Metal has it: a library without functions."""
        self.assertEqual(list(smelt.info(smelt.compile_shader("float f(float x) { return x; }")).functions), [])

    @needs_numpy
    def test_of_another_kernel(self):
        """As in Metal: one set of values for all kernels of a library."""
        library = smelt.compile_shader(
            """
constant int used [[function_constant(0)]];
constant bool idle [[function_constant(1)]];
kernel void k(device int* o) { o[0] = used; }
"""
        )
        for constants in ({0: 3, 1: True}, {"used": 3, "idle": True}, {0: 3, 7: 1.5}):
            out = numpy.zeros(1, numpy.int32)
            smelt.specialize(library, "k", constants)(out)
            self.assertEqual(out[0], 3)

    @needs_numpy
    def test_two_of_one_index(self):
        library = smelt.compile_shader(
            """
constant uint a [[function_constant(0)]];
constant uint b [[function_constant(0)]];
kernel void k(device uint* o) { o[0] = a + 10 * b; }
"""
        )
        for constants in ({0: 3}, {"a": 3}, {"b": 3}):
            out = numpy.zeros(1, numpy.uint32)
            smelt.specialize(library, "k", constants)(out)
            self.assertEqual(out[0], 33, constants)

    @needs_numpy
    def test_argument_that_is_taken_away(self):
        library = smelt.compile_shader(
            """
constant bool scaled [[function_constant(0)]];
kernel void k(device float* o [[buffer(0)]], device const float* scale [[buffer(1), function_constant(scaled)]],
              device const float* x [[buffer(2)]]) {
  o[0] = scaled ? x[0] * scale[0] : x[0];
}
"""
        )
        out, two, seven = (numpy.array([value], numpy.float32) for value in (0, 2, 7))
        with_scale = smelt.specialize(library, "k", {0: True})
        with_scale(out, two, seven)
        self.assertEqual(out[0], 14)
        without = smelt.specialize(library, "k", {0: False})
        without(out, None, seven, threads=1)
        self.assertEqual(out[0], 7)
        with_scale(out, two, seven)
        without(out, two, seven)
        with self.assertRaises(smelt.ArgumentError) as raised:
            without(None, two, seven, threads=1)
        self.assertIn("argument 0 'o': None is for an argument that a function constant removes", str(raised.exception))


class Classes(unittest.TestCase):
    """Section 4: every code has its class, and every class is caught as upstream's errors are."""

    TABLE = {
        "invalid_argument": (smelt.ArgumentError, ()),
        "source_type": (smelt.SourceTypeError, (TypeError,)),
        "file_not_found": (smelt.LibraryIOError, (OSError,)),
        "io": (smelt.LibraryIOError, (OSError,)),
        "not_metallib": (smelt.InvalidLibraryError, ()),
        "truncated": (smelt.InvalidLibraryError, ()),
        "corrupt": (smelt.InvalidLibraryError, ()),
        "format_newer": (smelt.InvalidLibraryError, ()),
        "empty_library": (smelt.InvalidLibraryError, ()),
        "unsupported_platform": (smelt.UnsupportedTargetError, ()),
        "unsupported_os": (smelt.UnsupportedTargetError, ()),
        "unsupported_language": (smelt.UnsupportedTargetError, ()),
        "unsupported_family": (smelt.UnsupportedTargetError, ()),
        "untrusted": (smelt.TrustError, ()),
        "digest_mismatch": (smelt.IntegrityError, ()),
        "function_not_found": (smelt.FunctionNotFoundError, (AttributeError,)),
        "function_kind": (smelt.FunctionKindError, ()),
        "constant_missing": (smelt.ConstantError, (ValueError,)),
        "constant_unknown": (smelt.ConstantError, (ValueError,)),
        "constant_type": (smelt.ConstantError, (ValueError,)),
        "pipeline_failed": (smelt.PipelineError, ()),
        "threads_missing": (smelt.ArgumentError, ()),
        "rank_mismatch": (smelt.ArgumentError, ()),
        "group_zero": (smelt.ArgumentError, (ValueError,)),
        "group_too_large": (smelt.GroupSizeError, (ValueError,)),
        "threadgroup_memory_too_large": (smelt.ResourceError, ()),
        "buffer_index": (smelt.ArgumentError, ()),
        "argument_empty": (smelt.ArgumentError, ()),
        "argument_type": (smelt.ArgumentError, ()),
        "argument_device": (smelt.ArgumentError, ()),
        "argument_mismatch": (smelt.ArgumentError, ()),
        "cast_unknown": (smelt.ArgumentError, ()),
        "device_unavailable": (smelt.DeviceError, ()),
        "not_cached": (smelt.CacheMissError, (KeyError,)),
        "store_locked": (smelt.StoreError, ()),
        "store_corrupt": (smelt.StoreError, ()),
        "store_newer": (smelt.StoreError, ()),
        "compile_failed": (smelt.CompileError, ()),
        "toolchain_missing": (smelt.ToolchainError, ()),
        "unsupported": (smelt.UnsupportedError, ()),
        "buffer_bounds": (smelt.BoundsError, (IndexError,)),
        "cancelled": (smelt.CancelledError, (TimeoutError,)),
        "out_of_memory": (smelt.OutOfMemoryError, (MemoryError,)),
    }

    def test_table(self):
        import pickle

        from smelt.errors import from_code

        for code, (kind, extra) in self.TABLE.items():
            error = from_code(code, "what; found; want", "subject")
            self.assertIsInstance(error, kind, code)
            self.assertIsInstance(error, (smelt.Error, RuntimeError))
            for base in extra:
                self.assertIsInstance(error, base, code)
            self.assertEqual((str(error), error.code, error.subject), ("what; found; want", code, "subject"))
            again = pickle.loads(pickle.dumps(error))
            self.assertEqual((type(again), str(again), again.code), (type(error), str(error), code))
        self.assertTrue(issubclass(smelt.ShaderSyntaxError, (smelt.CompileError)))
        self.assertTrue(issubclass(smelt.ShaderSyntaxError, SyntaxError))

    def test_the_table_is_whole(self):
        table = pathlib.Path(support.FOLDER.parent.parent, "base/include/smelt/base/errc.def").read_text()
        codes = re.findall(r"^SMELT_ERRC\((\w+),", table, re.MULTILINE)
        self.assertEqual(set(codes), set(self.TABLE))


class CheckedCode(unittest.TestCase):
    def test_a_thread_outside_a_buffer(self):
        checked = smelt.compile(support.FOLDER / "kernels.ll", targets=["macos14"], checked=True)
        loaded = smelt.load_metallib(checked, checked=True)
        out = bytearray(8)
        loaded.peek(out, b"12345678", threads=8)
        with self.assertRaises(smelt.BoundsError) as raised:
            loaded.peek(out, b"1234", threads=8)
        self.assertEqual(raised.exception.code, "buffer_bounds")


class Recursion(unittest.TestCase):
    SOURCE = """
        uint on(uint n) { return n == 0 ? 1 : (on(n * 2 + 1) * 3 ^ on(n | 1)) * 5; }
        kernel void f(device uint* x, uint i [[thread_position_in_grid]]) { x[i] = on(x[i]); }"""

    def test_without_end_is_an_error_and_the_process_lives(self):
        library = smelt.compile(self.SOURCE, targets=["macos14"]).load()
        for count in (1, 100_000):  # on the calling thread, and on all
            library.f(memoryview(bytearray(4 * count)).cast("I"), threads=count)
            with self.assertRaises(smelt.PipelineError) as raised:
                library.f(memoryview(bytearray(b"\1" * 4 * count)).cast("I"), threads=count)
            self.assertIn("kernel 'f' recurses deeper", str(raised.exception))


if __name__ == "__main__":
    unittest.main()
