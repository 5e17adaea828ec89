# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One case for each row of the argument table and of arg_casts in docs/design/loader.md 1.3, and the checks of 3.6."""

import array
import ctypes
import gc
import struct
import unittest
import warnings
import weakref

import support
from support import DLPackOnly, library, needs_numpy, numpy

import smelt


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

    def test_int_for_a_float_is_integer_bits(self):
        # Silent upstream; here the check says so, and off means upstream.
        x, y = array.array("f", [1, 2]), array.array("f", [5, 5])
        library().saxpy(x, y, 2, threads=2, check="off")
        self.assertEqual(list(y), [5, 5])  # 2 as integer bits is a denormal float
        with self.assertWarns(smelt.ArgumentWarning):
            library().saxpy(x, y, 2, threads=2)
        with self.assertRaises(smelt.ArgumentError) as raised:
            library().saxpy(x, y, 2, threads=2, check="error")
        self.assertEqual(raised.exception.code, "argument_mismatch")
        library().saxpy(x, y, 2, threads=2, check="error", arg_casts="fp32")
        self.assertEqual(list(y), [7, 9])


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
        for bad in (numpy.float32(1), numpy.int32(1), numpy.bool_(True)):
            with self.assertRaises(smelt.ArgumentError):
                bound(bad, 4)


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
        library().saxpy(matrix[:, 1], y, 1.0, threads=2)
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
    """check=: against what the kernel declares. The vadd of ../shared/data has types, written by Apple's compiler."""

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
            self.vadd(*args, check="error", threads=4)
        self.assertEqual(raised.exception.code, "argument_mismatch")
        with self.assertWarns(smelt.ArgumentWarning):
            try:
                self.vadd(*args, threads=4)
            except smelt.ArgumentError:
                pass
        return str(raised.exception)

    def test_count(self):
        self.assertIn("3 buffer arguments", self.mismatch(*self.arrays, 1.0))

    def test_kind_and_size(self):
        a, b, c = self.arrays
        self.assertIn("argument 0", self.mismatch(a.astype(numpy.float16), b, c))
        self.assertIn("argument 1", self.mismatch(a, b.astype(numpy.int32), c))
        self.assertIn("scalar", self.mismatch(a, b, 1.0))

    def test_raw_bytes_pass(self):
        self.vadd(self.arrays[0].view(numpy.uint8), *self.arrays[1:], check="error", threads=4)

    def test_unbound_argument_is_an_error_always(self):
        for how in ("off", "warn", "error"):
            with self.assertRaises(smelt.ArgumentError) as raised:
                self.vadd(self.arrays[0], check=how)
            self.assertEqual(raised.exception.code, "argument_mismatch")

    def test_unknown_word(self):
        with self.assertRaises(smelt.ArgumentError):
            self.vadd(*self.arrays, check="maybe")


if __name__ == "__main__":
    unittest.main()
