# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One case for each row of the argument table and of arg_casts in docs/design/loader.md 1.3, and the checks of 3.6."""

import array
import ctypes
import gc
import struct
import sys
import unittest
import warnings
import weakref

import support
from support import DLPackOnly, library, needs_numpy, numpy

import smelt
import smelt.compat.torch


def bound(value, size, **options):
    """The first bytes of what a value is bound as."""
    out = bytearray(size)
    library().peek(out, value, threads=size, **options)
    return bytes(out)


class Scalars(unittest.TestCase):
    def test_float_is_four_bytes(self):
        self.assertEqual(bound(1.5, 4), struct.pack("<f", 1.5))

    def test_int_is_eight_signed_bytes(self):
        self.assertEqual(bound(-3, 8), struct.pack("<q", -3))

    def test_bool_is_an_int(self):
        self.assertEqual(bound(True, 8), struct.pack("<q", 1))

    def test_int_out_of_range(self):
        for value in (1 << 63, -(1 << 63) - 1, 1 << 70):
            with self.assertRaises(smelt.ArgumentError) as raised:
                bound(value, 8)
            self.assertEqual(raised.exception.code, "argument_type")
        self.assertEqual(bound((1 << 64) - 1, 8, arg_casts="uint64"), b"\xff" * 8)

    def test_int_for_a_float_is_a_float(self):
        x, y = array.array("f", [1, 2]), array.array("f", [5, 5])
        for options in ({}, {"check": "error"}, {"check": "off"}, {"arg_casts": "declared"}, {"arg_casts": "fp32"}):
            y[:] = array.array("f", [5, 5])
            library().saxpy(x, y, 2, threads=2, **options)
            self.assertEqual(list(y), [7, 9], options)
        # Upstream passes eight bytes of an integer, and so does who asks for it.
        upstream = smelt.compat.torch.load_metallib(support.package().metallib())
        for kernel, options in ((upstream.saxpy, {}), (library().saxpy, {"arg_casts": "int64", "check": "off"})):
            y[:] = array.array("f", [5, 5])
            kernel(x, y, 2, threads=2, **options)
            self.assertEqual(list(y), [5, 5])  # 2 as integer bits is a denormal float
        with self.assertRaises(smelt.ArgumentError) as raised:
            library().saxpy(x, y, 2, threads=2, arg_casts="int64")
        self.assertIn("arg_casts={2: 'declared'}", str(raised.exception))


class Lists(unittest.TestCase):
    def test_ints(self):
        self.assertEqual(bound([1, -2], 16), struct.pack("<2q", 1, -2))
        self.assertEqual(bound((1, True), 16), struct.pack("<2q", 1, 1))

    def test_floats(self):
        self.assertEqual(bound([1.0, 2.5], 8), struct.pack("<2f", 1.0, 2.5))
        self.assertEqual(bound((1.0, 2), 8), struct.pack("<2f", 1.0, 2.0))

    def test_arrays_are_addresses(self):
        a, b = array.array("f", [1, 2, 3]), array.array("f", [10, 20, 30])
        out = array.array("f", [0, 0, 0])
        library().gather([a, b], out, threads=3)
        self.assertEqual(list(out), [11, 22, 33])

    @needs_numpy
    def test_addresses_hold_the_offset(self):
        base = numpy.arange(8, dtype=numpy.float32)
        out = numpy.zeros(2, numpy.float32)
        library().gather([base[4:], base], out)
        self.assertEqual(out.tolist(), [4, 6])

    def test_empty(self):
        for empty in ([], ()):
            with self.assertRaises(smelt.ArgumentError) as raised:
                bound(empty, 8)
            self.assertEqual(raised.exception.code, "argument_empty")

    def test_judged_by_the_first(self):
        with self.assertRaises(smelt.ArgumentError) as raised:
            bound([1, 2.5], 16)
        self.assertEqual(raised.exception.code, "argument_type")
        self.assertIn("element 1", str(raised.exception))

    def test_of_anything_else(self):
        for bad in (["a"], [None], [[1]], [{}], [array.array("f", [1]), 3]):
            with self.assertRaises(smelt.ArgumentError) as raised:
                bound(bad, 8)
            self.assertEqual(raised.exception.code, "argument_type", bad)


class Others(unittest.TestCase):
    def test_unsupported(self):
        for bad in ("text", None, {}, object(), 1j):
            with self.assertRaises(smelt.ArgumentError) as raised:
                bound(bad, 4)
            self.assertEqual(raised.exception.code, "argument_type", bad)
            self.assertIn("argument 1", str(raised.exception))

    @needs_numpy
    def test_numpy_scalars(self):
        self.assertEqual(bound(numpy.float64(1.5), 4), struct.pack("<f", 1.5))  # a float subclass
        # As Python's own numbers here; not so upstream.
        self.assertEqual(bound(numpy.float32(1.5), 4), struct.pack("<f", 1.5))
        self.assertEqual(bound(numpy.int32(-3), 8), struct.pack("<q", -3))
        upstream = smelt.compat.torch.load_metallib(support.package().metallib())
        for bad in (numpy.float32(1), numpy.int32(1), numpy.bool_(True), numpy.complex64(1)):
            with self.assertRaises(smelt.ArgumentError):
                upstream.peek(bytearray(4), bad, threads=4)
        with self.assertRaises(smelt.ArgumentError):
            bound(numpy.complex64(1), 8)


class Arrays(unittest.TestCase):
    def test_buffer_protocol(self):
        data = bytearray(b"abcdefgh")
        for value in (data, bytes(data), memoryview(data)[2:], array.array("B", data)):
            self.assertEqual(bound(value, 4), bytes(memoryview(value))[:4])

    @needs_numpy
    def test_zero_rank_is_its_bytes_inline(self):
        self.assertEqual(bound(numpy.array(2.5, numpy.float32), 4), struct.pack("<f", 2.5))
        self.assertEqual(bound(DLPackOnly(numpy.array(7, numpy.int16)), 2), struct.pack("<h", 7))

    @needs_numpy
    def test_offset_and_no_copy(self):
        y = numpy.zeros(10, numpy.float32)
        library().saxpy(numpy.ones(4, numpy.float32), y[3:7], 2.0)
        self.assertEqual(y.tolist(), [0, 0, 0, 2, 2, 2, 2, 0, 0, 0])

    @needs_numpy
    def test_bound_as_they_lie(self):
        # Columns of a matrix: the kernel sees the memory, not the view's strides.
        matrix = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)
        y = numpy.zeros(2, numpy.float32)
        with self.assertRaises(smelt.ArgumentError):
            library().saxpy(matrix[:, 1], y, 1.0, threads=2)
        library().saxpy(matrix[:, 1], y, 1.0, threads=2, check="off")
        self.assertEqual(y.tolist(), [1, 2])
        with self.assertRaises(smelt.ArgumentError) as raised:
            library().saxpy(y[::-1], y, 1.0)
        self.assertEqual(raised.exception.code, "argument_type")

    @needs_numpy
    def test_dlpack(self):
        x, y = numpy.arange(4, dtype=numpy.float32), numpy.ones(4, numpy.float32)
        library().saxpy(DLPackOnly(x), DLPackOnly(y), 3.0)
        self.assertEqual(y.tolist(), [1, 4, 7, 10])
        library().saxpy(DLPackOnly(x, grad=True), DLPackOnly(y), -3.0)
        self.assertEqual(y.tolist(), [1, 1, 1, 1])

    @needs_numpy
    def test_dlpack_gives_back(self):
        import sys

        y = numpy.ones(4, numpy.float32)
        before = sys.getrefcount(y)
        for _ in range(50):
            library().saxpy(DLPackOnly(y), DLPackOnly(y), 0.0)
        self.assertEqual(sys.getrefcount(y), before)

    @needs_numpy
    def test_other_device(self):
        x = numpy.ones(4, numpy.float32)
        for value in (DLPackOnly(x, device=(2, 0)), [DLPackOnly(x, device=(8, 0)), x]):
            with self.assertRaises(smelt.ArgumentError) as raised:
                library().gather(value, x, threads=4)
            self.assertEqual(raised.exception.code, "argument_device")

    def test_read_only(self):
        x = array.array("f", [1, 2])
        frozen = memoryview(x).toreadonly()
        y = array.array("f", [0, 0])
        library().saxpy(frozen, y, 1.0)  # only read
        with self.assertRaises(smelt.ArgumentError) as raised:
            library().saxpy(x, frozen, 1.0)
        self.assertIn("read-only", str(raised.exception))

    @needs_numpy
    def test_bfloat_bytes_through_a_view(self):
        bits = numpy.array([0x3F80, 0x4000], numpy.uint16)
        self.assertEqual(bound(bits, 4), bits.tobytes())


class Addresses(unittest.TestCase):
    """smelt.Buffer: memory by its address."""

    def setUp(self):
        self.memory = (ctypes.c_float * 8)(*range(8))
        self.buffer = smelt.Buffer(ctypes.addressof(self.memory), 32, owner=self.memory)

    def test_is_bound_in_place(self):
        out = array.array("f", [0] * 2)
        library().gather([self.buffer, self.buffer[8:]], out)
        self.assertEqual(list(out), [2, 4])
        library().saxpy(out, self.buffer[24:], 1.0, threads=2)
        self.assertEqual(list(self.memory), [0, 1, 2, 3, 4, 5, 8, 11])

    def test_parts(self):
        part = self.buffer[4:12]
        self.assertEqual((part.address, part.size, len(part)), (self.buffer.address + 4, 8, 8))
        self.assertEqual(bytes(part[4:]), struct.pack("<f", 2))
        self.assertEqual(len(self.buffer[40:]), 0)
        self.assertIs(part.owner, self.memory)
        with self.assertRaises(smelt.ArgumentError):
            self.buffer[::2]

    def test_owner_lives_as_long_as_a_part(self):
        address = ctypes.addressof(self.memory)
        part = smelt.Buffer(address, 32, owner=self.memory)[4:8]
        lives = weakref.ref(self.memory)
        del self.memory, self.buffer
        gc.collect()
        self.assertIsNotNone(lives())
        del part
        gc.collect()
        self.assertIsNone(lives())

    def test_has_no_elements_to_count(self):
        with self.assertRaises(smelt.ArgumentError) as raised:
            library().info(self.buffer)
        self.assertEqual(raised.exception.code, "threads_missing")

    def test_read_only(self):
        buffer = smelt.Buffer(self.buffer.address, 32, writable=False)
        with self.assertRaises(smelt.ArgumentError) as raised:
            library().info(buffer, threads=1)
        self.assertEqual(raised.exception.code, "argument_type")
        self.assertTrue(memoryview(buffer).readonly)
        self.assertEqual(self.memory[0], 0)

    def test_what_is_no_memory(self):
        for address, size in ((0, 1), (-1, 1), (1, -1), (2**64 - 1, 2), (2**64, 1), (1, 2**63)):
            with self.assertRaises(smelt.ArgumentError, msg=(address, size)) as raised:
                smelt.Buffer(address, size)
            self.assertEqual(raised.exception.code, "invalid_argument")
        self.assertEqual(len(smelt.Buffer(0, 0)), 0)


class Casts(unittest.TestCase):
    WORDS = {
        "fp16": "<e",
        "int32": "<i",
        "int16": "<h",
        "int8": "<b",
        "uint8": "<B",
        "fp32": "<f",
        "int64": "<q",
        "uint16": "<H",
        "uint32": "<I",
        "uint64": "<Q",
    }

    def test_every_word_for_scalars_and_lists(self):
        for word, code in self.WORDS.items():
            value = 3.0 if code in ("<e", "<f") else 3
            packed = struct.pack(code, value)
            size = len(packed)
            with self.subTest(word):
                self.assertEqual(bound(3, size, arg_casts=word), packed)
                self.assertEqual(bound(3.0, size, arg_casts=word), packed)
                self.assertEqual(bound([3, 3], 2 * size, arg_casts=word), 2 * packed)
                self.assertEqual(bound([3.0, 3.0], 2 * size, arg_casts={1: word}), 2 * packed)
        self.assertEqual(bound(1.0, 2, arg_casts="bf16"), b"\x80\x3f")
        self.assertEqual(bound(7, 1, arg_casts="bool"), b"\x01")

    def test_plain_conversion(self):
        self.assertEqual(bound(-2.9, 4, arg_casts="int32"), struct.pack("<i", -2))  # toward zero
        self.assertEqual(bound(0x1_FF, 1, arg_casts="uint8"), b"\xff")  # wraps
        self.assertEqual(bound(200, 1, arg_casts="int8"), b"\xc8")
        self.assertEqual(bound(-1, 2, arg_casts="uint16"), b"\xff\xff")

    def test_half_and_bfloat_round_to_nearest_even(self):
        halves = [0.0, -0.0, 1.0, 65504.0, 65519.9, 65520.0, 1e9, 6e-8, 2.9e-8, 2.0**-25]
        halves += [1 + 2.0**-11, 1 + 3 * 2.0**-11, -1 / 3]
        for value in halves:
            rounded = struct.unpack("<f", struct.pack("<f", value))[0]
            try:
                wanted = struct.pack("<e", rounded)
            except OverflowError:
                wanted = b"\x00\x7c"
            self.assertEqual(bound(value, 2, arg_casts="fp16"), wanted, value)
        self.assertEqual(bound(float("nan"), 2, arg_casts="fp16")[1] & 0x7E, 0x7E)
        self.assertEqual(bound(1 + 2.0**-8, 2, arg_casts="bf16"), b"\x80\x3f")  # tie, to even
        self.assertEqual(bound(1 + 3 * 2.0**-8, 2, arg_casts="bf16"), b"\x82\x3f")

    def test_per_index_others_uncast(self):
        self.assertEqual(bound(3, 8, arg_casts={0: "int8"}), struct.pack("<q", 3))

    def test_arrays_are_never_cast(self):
        self.assertEqual(bound(b"\x01\x02\x03\x04", 4, arg_casts="fp16"), b"\x01\x02\x03\x04")

    def test_declared_is_what_the_kernel_says(self):
        types = ("half", "float", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "bool")
        parameters = ", ".join(f"constant {name}& p{i}" for i, name in enumerate(types))
        shaders = smelt.compile_shader(
            "#include <metal_stdlib>\nusing namespace metal;\n"
            f"kernel void all({parameters}, constant bfloat& b, constant float2& two, device float* out) {{ "
            + " ".join(f"out[{i}] = float(p{i});" for i in range(len(types)))
            + f" out[{len(types)}] = float(b); out[{len(types) + 1}] = two.x + two.y; }}"
        )
        out = array.array("f", [0] * (len(types) + 2))
        shaders.all(*[1] * (len(types) + 1), [2, 3], out, threads=1, arg_casts="declared", check="error")
        self.assertEqual(list(out), [1] * (len(types) + 1) + [5])
        shaders.all(*[1.0] * (len(types) + 1), [2.5, 3.5], out, threads=1, arg_casts="declared", check="error")
        self.assertEqual(list(out), [1] * (len(types) + 1) + [6])

    def test_declared_of_ir_without_types_changes_nothing(self):
        self.assertEqual(bound(3, 8, arg_casts="declared"), bound(3, 8))

    def test_unknown_word_names_itself_and_its_index(self):
        for casts, index in (("float", ""), ({1: "fp64"}, "argument 1")):
            with self.assertRaises(smelt.ArgumentError) as raised:
                bound(3, 8, arg_casts=casts)
            self.assertEqual(raised.exception.code, "cast_unknown")
            self.assertIn(casts if isinstance(casts, str) else "fp64", str(raised.exception))
            self.assertIn(index, str(raised.exception))

    def test_other_types(self):
        for casts in (3, ["fp16"], {"a": "fp16"}, {0: 3}, {-1: "fp16"}):
            with self.assertRaises(smelt.ArgumentError) as raised:
                bound(3, 8, arg_casts=casts)
            self.assertEqual(raised.exception.code, "invalid_argument", casts)


class Checks(unittest.TestCase):
    """check=: against what the kernel declares. The vadd of tests/data has types, written by Apple's compiler."""

    @classmethod
    def setUpClass(cls):
        if numpy is None:
            raise unittest.SkipTest("SKIPPED: no NumPy")
        path = support.shared("metallibs/constants.14.metallib")
        cls.library = smelt.load_metallib(path)
        cls.vadd = smelt.specialize(cls.library, "vadd", {"foo": 2.0, 2: 1.0})
        cls.arrays = [numpy.arange(4, dtype=numpy.float32) for _ in range(3)]

    def test_right_call_is_silent(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.vadd(*self.arrays)
        self.assertEqual(self.arrays[2].tolist(), [1, 4, 7, 10])

    def mismatch(self, *args):
        with self.assertRaises(smelt.ArgumentError) as raised:
            self.vadd(*args, threads=4)
        self.assertEqual(raised.exception.code, "argument_mismatch")
        with self.assertWarns(smelt.ArgumentWarning):
            try:
                self.vadd(*args, check="warn", threads=4)
            except smelt.ArgumentError:
                pass
        return str(raised.exception)

    def test_count(self):
        self.assertIn("3 buffer arguments", self.mismatch(*self.arrays, 1.0))

    def test_kind_and_size(self):
        a, b, c = self.arrays
        self.assertIn("argument 0", self.mismatch(numpy.zeros(8, numpy.float16), b, c))
        self.assertIn("argument 1", self.mismatch(a, b.astype(numpy.int32), c))

    def test_raw_bytes_pass(self):
        self.vadd(self.arrays[0].tobytes(), *self.arrays[1:], check="error", threads=4)

    def test_unbound_argument_is_an_error_always(self):
        for how in ("off", "warn", "error"):
            with self.assertRaises(smelt.ArgumentError) as raised:
                self.vadd(self.arrays[0], check=how)
            self.assertEqual(raised.exception.code, "argument_mismatch")

    def test_unknown_word(self):
        with self.assertRaises(smelt.ArgumentError):
            self.vadd(*self.arrays, check="maybe")


MISTAKES = """#include <metal_stdlib>
using namespace metal;
struct P { float a; int b; };
struct V { float3 p; float w; };
enum Mode : uint { off, on };
kernel void structure(constant P& p, device float* out) { out[0] = p.a + float(p.b); }
kernel void structures(device const P* p, device float* out, uint i [[thread_position_in_grid]]) { out[i] = p[i].a + float(p[i].b); }
kernel void wide(constant V& v, device float* out) { out[0] = v.p.z + v.w; }
kernel void mode(constant Mode& m, device float* out) { out[0] = m == on ? 1 : 0; }
kernel void three(constant float3& v, device float* out) { out[0] = v.x + 10 * v.y + 100 * v.z; }
kernel void packed(constant packed_float3& v, device float* out) { out[0] = v[0] + 10 * v[1] + 100 * v[2]; }
kernel void rows(device const float3* v, device float* out, uint i [[thread_position_in_grid]]) { out[i] = v[i].x + 10 * v[i].y + 100 * v[i].z; }
kernel void matrix(constant float2x3& m, device float* out) { out[0] = m[0].z + 10 * m[1].z; }
kernel void numbers(constant uchar& u, constant int& i, constant half& h, constant bfloat& b, constant bool& t, device float* out) {
  out[0] = u; out[1] = i; out[2] = h; out[3] = float(b); out[4] = t;
}
kernel void table(constant float* t, device float* out, uint i [[thread_position_in_grid]]) { out[i] = t[i]; }
kernel void brain(device const bfloat* x, device float* out, uint i [[thread_position_in_grid]]) { out[i] = float(x[i]); }
kernel void twice(device float* x, uint i [[thread_position_in_grid]]) { x[i] *= 2; }
kernel void copy(device const float* x, device float* y, uint i [[thread_position_in_grid]]) { y[i] = x[i]; }
"""


class Keywords(unittest.TestCase):
    SOURCE = """kernel void row_softmax(device float* x, threadgroup float* t [[threadgroup(0)]], uint i [[thread_position_in_grid]]) {
  t[i] = x[i]; x[i] = 2 * t[i];
}"""

    def refused(self, call, *words):
        with self.assertRaises(smelt.Error) as raised:
            call()
        for word in words:
            self.assertIn(word, str(raised.exception))
        for word in ("C++", "PYBIND11", "Unable to cast"):
            self.assertNotIn(word, str(raised.exception))

    def test_of_the_wrong_type(self):
        data = bytes(support.package())
        for keyword, value, want in (
            ("verify", 3, "a str"), ("trust", 3, "a str"), ("expect", 3, "a str"), ("library", 3, "a str"),
        ):  # fmt: skip
            self.refused(lambda: smelt.load_metallib(data, **{keyword: value}), f"{keyword}: want {want}, got 3")
        for keyword, value, want in (
            ("timeout", "soon", "a number"), ("threadgroup_memory", -1, "a whole number"), ("name", 3, "a str"),
            ("kernels", [3], "a sequence of str"), ("cpu_effort", 3, "a str"), ("language", (3, "x"), "a pair"),
        ):  # fmt: skip
            self.refused(lambda: smelt.compile(self.SOURCE, **{keyword: value}), f"want {want}")

    def test_one_name_is_no_list_of_letters(self):
        package = smelt.compile(self.SOURCE + "kernel void other() {}", functions="row_softmax")
        self.assertEqual(package.functions, ["row_softmax"])

    def test_what_is_there_is_named(self):
        library = smelt.compile_shader(self.SOURCE)
        self.refused(lambda: library.softmx, "'softmx'", "it has 'row_softmax'")

    @needs_numpy
    def test_threadgroup_memory_by_the_name_that_python_has_for_it(self):
        library = smelt.compile_shader(self.SOURCE)
        self.refused(lambda: library.row_softmax(numpy.zeros(4, "f")), "threadgroup 0 't'", "threadgroup_memory=")
        library.row_softmax(numpy.zeros(4, "f"), threadgroup_memory=16)


class ByName(unittest.TestCase):
    """Arguments by the names of the kernel's parameters, and what tools are told of them."""

    SAXPY = """kernel void saxpy(device const float* x, device float* y, constant float& a, uint i [[thread_position_in_grid]]) {
  y[i] += a * x[i];
}"""

    def setUp(self):
        self.saxpy = smelt.compile_shader(self.SAXPY).saxpy
        self.x, self.y = array.array("f", [1, 2]), array.array("f", [5, 5])

    def test_named_arguments(self):
        for args, named in (
            ((), {"a": 2, "y": self.y, "x": self.x}),
            ((self.x,), {"a": 2, "y": self.y}),
            ((self.x, self.y), {"a": 2, "check": "error"}),
        ):
            self.y[:] = array.array("f", [5, 5])
            self.saxpy(*args, **named)
            self.assertEqual(list(self.y), [7, 9])

    def test_what_is_left_out_or_not_there(self):
        self.saxpy(self.x, self.y, 2)
        for _ in range(2):  # what an earlier call bound does not stand in for it
            with self.assertRaises(smelt.ArgumentError) as raised:
                self.saxpy(x=self.x, a=2)
            self.assertIn("'y', which is not bound", str(raised.exception))
        for args, named, words in (
            ((self.x, self.y), {"b": 2}, ("no argument 'b'", "x, y, a", "threads")),
            ((self.x, self.y), {"x": self.x, "a": 2}, ("'x'", "by position and by name")),
        ):
            with self.assertRaises(TypeError) as raised:
                self.saxpy(*args, **named)
            for word in words:
                self.assertIn(word, str(raised.exception))

    def test_signature_and_documentation(self):
        import inspect

        signature = inspect.signature(self.saxpy)
        self.assertEqual(list(signature.parameters)[:4], ["x", "y", "a", "threads"])
        self.assertEqual(signature.parameters["x"].annotation, "device const float*")
        self.assertEqual(signature.parameters["a"].annotation, "constant float*")
        signature.bind(self.x, self.y, a=2, threads=2)
        with self.assertRaises(TypeError):
            signature.bind(self.x, b=2)
        for word in ("kernel void saxpy", "1  y: device float* (4 bytes each)", "threads"):
            self.assertIn(word, self.saxpy.__doc__)
        strange = smelt.compile_shader("kernel void k(device float* lambda, device float* threads) { *lambda = *threads; }").k
        self.assertEqual(list(inspect.signature(strange).parameters)[:2], ["buffer_0", "buffer_1"])

    def test_tab_completion(self):
        import rlcompleter

        library = smelt.compile_shader(self.SAXPY)
        completer = rlcompleter.Completer({"library": library})
        self.assertIn("library.saxpy(", [completer.complete("library.sa", state) for state in range(2)])


class Record(ctypes.Structure):
    _fields_ = [("a", ctypes.c_float), ("b", ctypes.c_int)]


class Mistakes(unittest.TestCase):
    """What would be read as something else, read past its end, or lost is an error that says what to pass."""

    @classmethod
    def setUpClass(cls):
        if numpy is None:
            raise unittest.SkipTest("SKIPPED: no NumPy")
        cls.library = smelt.compile_shader(MISTAKES)

    def setUp(self):
        self.out = numpy.zeros(8, "f")

    def refused(self, kernel, *args, words=(), code="argument_mismatch", **options):
        with self.assertRaises(smelt.ArgumentError) as raised:
            self.library[kernel](*args, **{"threads": 1, **options})
        self.assertEqual(raised.exception.code, code, str(raised.exception))
        for word in words:
            self.assertIn(word, str(raised.exception))

    def silent(self, kernel, *args, **options):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.library[kernel](*args, **{"threads": 1, **options})
        return self.out[0]

    def test_fewer_bytes_than_the_structure_has(self):
        for short in (b"abc", numpy.zeros(1, "f"), numpy.float32(1), bytearray(7), numpy.zeros(0, "f"), b""):
            for how in ("off", "warn", "error"):
                self.refused("structure", short, self.out, check=how, words=["argument 0 'p'", "P (8 bytes)", "ctypes.Structure"])
        self.refused("three", numpy.zeros(3, "f"), self.out, words=["float3 (16 bytes)", "12 bytes", "list of 3 numbers"])
        self.refused("structures", numpy.zeros(1, "f"), self.out, words=["P (8 bytes)"])

    def test_nothing_is_enough_for_an_empty_grid(self):
        self.silent("table", numpy.zeros(0, "f"), self.out, threads=0)
        self.silent("structures", numpy.zeros(0, "f"), self.out, threads=0)
        self.refused("table", numpy.zeros(0, "f"), self.out, words=["passes nothing"])

    def test_structures(self):
        layout = [("a", "f4"), ("b", "i4")]
        records = numpy.array([(1.5, 2), (3.0, 4)], layout)
        for right in (records, records[0], records[:1], Record(1.5, 2), struct.pack("<fi", 1.5, 2), bytearray(records.tobytes())):
            self.assertEqual(self.silent("structure", right, self.out), 3.5, type(right))
        self.silent("structures", records, self.out, threads=2)
        self.assertEqual(self.out[:2].tolist(), [3.5, 7])
        unpadded = numpy.array([((1, 2, 3), 4)], [("p", "f4", 3), ("w", "f4")])
        self.refused("wide", numpy.concatenate([unpadded, unpadded]), self.out, words=["V (32 bytes)", "structures of 16 bytes", "float3"])
        self.refused("structures", numpy.zeros(4, [("a", "f8"), ("b", "i4")]), self.out, words=["12 bytes", "P (8 bytes)"])

    def test_a_number_is_no_structure(self):
        for guess in (3, 1.5):
            self.refused("structure", guess, self.out, words=["which members", "record array"])
        self.refused("structure", [1, 2, 3], self.out, words=["2 members", "passes 3"])
        self.assertEqual(self.silent("structure", (1.5, 2.0), self.out), 3.5)  # more in test_structures.py
        self.assertEqual(self.silent("mode", 1, self.out), 1)

    def test_a_dict_for_memory_that_is_written(self):
        library = smelt.compile_shader("struct P { float a; int b; }; kernel void k(device P* p) { p[0].b = 2; }")
        for lost, what in (({"a": 1, "b": 2}, "passes a dict"), ([{"a": 1, "b": 2}], "passes a list")):
            with self.assertRaises(smelt.ArgumentError) as raised:
                library.k(lost, threads=1)
            for words in (what, "would be lost", "numpy.array of records"):
                self.assertIn(words, str(raised.exception))

    def test_a_short_array_is_told_with_its_type_and_shape(self):
        self.refused("three", numpy.zeros(3, "f"), self.out, words=["an array of float32 of shape (3,), which has 12 bytes"])
        self.refused("structure", numpy.zeros((1, 1), "f"), self.out, words=["an array of float32 of shape (1, 1), which has 4 bytes"])

    def test_a_list_of_arrays_is_no_array(self):
        x = numpy.ones(4, "f")
        self.refused("twice", [x], words=["list of arrays", "Pass one array"])
        self.refused("copy", [x, x], self.out, words=["argument 0 'x'"])
        self.assertEqual(x.tolist(), [1, 1, 1, 1])

    def test_a_result_that_nobody_keeps(self):
        for lost in ([1.0, 2.0], (1.0,), 1.0, numpy.float32(1)):
            self.refused("twice", lost, words=["argument 0 'x'", "would be lost", "array"])

    def test_what_a_kernel_may_write_is_what_it_declares_without_const(self):
        text = "kernel void k({} uint* n, device float* o, uint i [[thread_position_in_grid]]) {{ o[i] = n[0]; }}"
        with self.assertRaisesRegex(smelt.ArgumentError, "'n'.*declared without const.*declare the parameter const"):
            smelt.compile_shader(text.format("device")).k(5, self.out, threads=1)
        smelt.compile_shader(text.format("device const")).k(5, self.out, threads=1)
        self.assertEqual(self.out[0], 5)

    def test_views_that_do_not_lie_in_order(self):
        x = numpy.arange(16, dtype="f").reshape(4, 4)
        for view in (x.ravel()[::2], x[:, :2], x.T, DLPackOnly(x.T), numpy.broadcast_to(x[0], (4, 4))):
            self.refused("copy", view, self.out, words=["argument 0 'x'", "contiguous copy", "the memory, not the view"])
        self.refused("twice", x.ravel()[::2], words=["copy the result back"])
        self.library.copy(x.ravel()[::2], self.out, threads=2, check="off")  # as it lies
        self.assertEqual(self.out[:2].tolist(), [0, 1])
        for right in (x[1:], x.ravel()[4:], x[:1, :], x[1, None]):
            self.silent("copy", right, self.out)
            self.assertEqual(self.out[0], numpy.ascontiguousarray(right).ravel()[0])

    def test_vectors_and_matrices_from_lists(self):
        self.assertEqual(self.silent("three", [1, 2, 3], self.out), 321)
        self.assertEqual(self.silent("packed", (1, 2.0, 3), self.out), 321)
        self.silent("rows", [1, 2, 3, 4, 5, 6], self.out, threads=2)
        self.assertEqual(self.out[:2].tolist(), [321, 654])
        self.assertEqual(self.silent("matrix", [0, 0, 1, 0, 0, 2], self.out), 21)
        self.refused("three", [1, 2], self.out, words=["float3", "3 numbers", "list of 2"])
        self.refused("three", 1.0, self.out, words=["list of 3"])

    def test_numbers_become_what_the_kernel_declares(self):
        for values in ((3, 4, 5, 6, 1), (3.0, 4.0, 5.0, 6.0, True), tuple(numpy.int16(n) for n in (3, 4, 5, 6, 1)),
                       tuple(numpy.float16(n) for n in (3, 4, 5, 6, 1))):  # fmt: skip
            self.silent("numbers", *values, self.out)
            self.assertEqual(self.out[:5].tolist(), [3, 4, 5, 6, 1])
        right = [1, 1, 1, 1, 1]
        for at, bad, words in (
            (0, 256, "uchar, which holds 0 to 255: 256 does not fit"), (0, -1, "-1 does not fit"), (0, 1.5, "1.5 is not a whole number; pass int(1.5)"),
            (1, 1 << 31, "int, which holds -2147483648 to 2147483647: 2147483648 does not fit"), (1, float("nan"), "nan does not fit"),
            (1, float("inf"), "inf does not fit"), (2, 1e6, "half, which holds -65504 to 65504"), (3, 1e39, "1e+39 does not fit"),
        ):  # fmt: skip
            values = [*right[:at], bad, *right[at + 1 :]]
            self.refused("numbers", *values, self.out, code="argument_type", words=[f"argument {at} '", words])
        self.silent("numbers", *right[:2], float("inf"), *right[3:], self.out)
        self.silent("table", [1, 2.5], self.out, threads=2)
        self.assertEqual(self.out[:2].tolist(), [1, 2.5])

    def test_bfloat_is_bits_for_numpy(self):
        self.assertEqual(self.silent("brain", numpy.array([0x3FC0], "u2"), self.out), 1.5)

    def test_bfloat_of_ml_dtypes(self):
        try:
            import ml_dtypes
        except ImportError:
            self.skipTest("SKIPPED: no ml_dtypes")
        self.assertEqual(self.silent("brain", numpy.array([1.5, 2], ml_dtypes.bfloat16), self.out), 1.5)
        self.silent("numbers", 1, 1, 1, ml_dtypes.bfloat16(1.5), 1, self.out)
        self.assertEqual(self.out[3], 1.5)
        self.refused("copy", numpy.zeros(2, ml_dtypes.bfloat16), self.out, words=["passes bfloat16"])

    def test_what_differs_is_named(self):
        self.refused("copy", numpy.zeros(1, "i4"), self.out, words=["argument 0 'x'", "expects float", "passes int32", "x.astype(numpy.float32)"])

    def test_as_upstream_nothing_is_asked(self):
        upstream = smelt.compat.torch.compile_shader(MISTAKES)
        x = numpy.arange(4, dtype="f")
        upstream.copy(x[::2], self.out, threads=2)
        self.assertEqual(self.out[:2].tolist(), [0, 1])
        upstream.twice([1.0], threads=1)


if __name__ == "__main__":
    unittest.main()
