# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of docs/reference/arguments.md: every type of a host's elements against every type that a kernel declares."""

import array
import ctypes
import os
import re
import unittest
import warnings

from support import DLPackOnly, needs_numpy, numpy

import smelt
import smelt.compat.torch

DECLARED = {
    "bool": "?", "char": "b", "uchar": "B", "short": "h", "ushort": "H", "int": "i", "uint": "I", "long": "q", "ulong": "Q",
    "half": "e", "bfloat": None, "float": "f",
}  # fmt: skip
HOST = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "bfloat16", "float32", "float64", "complex64"]
PAGE = os.path.join(os.path.dirname(__file__), "../../docs/reference/arguments.md")
SHAPES = ("{0}", "{0}2", "{0}3", "{0}4", "packed_{0}3", "{0}2x3", "{0}4x4")


def table():
    """{host: the declared types that take it}, of the page."""
    rows = {}
    with open(PAGE, encoding="utf-8") as page:
        for line in page:
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if len(cells) == 2 and cells[0].strip("`") in HOST:
                rows[cells[0].strip("`")] = re.findall(r"`(\w+)`", cells[1])
    return rows


def host_array(name, shape):
    if name == "bfloat16":
        import ml_dtypes

        return numpy.ones(shape, ml_dtypes.bfloat16)
    return numpy.ones(shape, name)


def source():
    text = "#include <metal_stdlib>\nusing namespace metal;\n"
    for kind in DECLARED:
        text += f"kernel void read_{kind}(device const {kind}* in, device {kind}* out) {{ out[0] = in[0]; }}\n"
        text += f"kernel void constant_{kind}(constant {kind}& in, device {kind}* out) {{ out[0] = in; }}\n"
        text += f"struct S_{kind} {{ {kind} a; {kind} b; }};\n"
        text += f"kernel void record_{kind}(device const S_{kind}* in, device {kind}* out) {{ out[0] = in[0].b; }}\n"
    return text


@needs_numpy
class ElementTypes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.library = smelt.compile_shader(source())
        cls.table = table()

    def takes(self, kernel, *args, check=None):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                self.library[kernel](*args, threads=1, **({"check": check} if check else {}))
            except smelt.ArgumentError as refused:
                self.assertIn(refused.code, ("argument_mismatch", "argument_type"))
                return False
        return True

    def hosts(self):
        for name in HOST:
            try:
                yield name, host_array(name, 32)
            except ImportError:
                continue

    def test_the_page_has_every_row(self):
        self.assertEqual(sorted(self.table), sorted(HOST))

    def test_arrays(self):
        for name, value in self.hosts():
            for declared, char in DECLARED.items():
                out = numpy.zeros(32, char or "u2")
                for how in ("read", "constant"):
                    with self.subTest(host=name, declared=declared, how=how):
                        wanted = declared in self.table[name]
                        self.assertEqual(self.takes(f"{how}_{declared}", value, out), wanted)
                        self.assertEqual(self.takes(f"{how}_{declared}", value, out, check="error"), wanted)

    def test_the_same_through_other_protocols(self):
        for name, value in self.hosts():
            for declared, char in DECLARED.items():
                out, wanted = numpy.zeros(32, char or "u2"), declared in self.table[name]
                others = [DLPackOnly(value)] if name not in ("bool", "bfloat16") else []
                if value.dtype.char in "bBhHiIqQfd":
                    others += [memoryview(value), array.array(value.dtype.char, value.tolist())]
                    others += [numpy.ctypeslib.as_ctypes(value)]
                for other in others:
                    with self.subTest(host=name, declared=declared, container=type(other).__name__):
                        self.assertEqual(self.takes(f"read_{declared}", other, out), wanted)

    def test_members_of_records(self):
        for name, value in self.hosts():
            if value.dtype.char not in "?bBhHiIqQefF":
                continue
            for declared, char in DECLARED.items():
                size = numpy.dtype(char or "u2").itemsize
                record = numpy.zeros(32, {"names": ["a", "b"], "formats": [value.dtype] * 2, "offsets": [0, value.dtype.itemsize]})
                if declared == "char":
                    continue  # a byte without a type
                with self.subTest(host=name, declared=declared):
                    wanted = declared in self.table[name] and value.dtype.itemsize == size
                    self.assertEqual(self.takes(f"record_{declared}", record, numpy.zeros(32, char or "u2")), wanted)

    def test_numbers_become_what_is_declared(self):
        for declared, char in DECLARED.items():
            if declared in ("char", "bfloat"):
                continue
            for number in (1, True, 1.0, numpy.int64(1), numpy.float32(1), numpy.array(1), numpy.array(1.0), numpy.array(1, "f2"),
                           numpy.array(True), DLPackOnly(numpy.array(1, "i2")), ctypes.c_int(1), ctypes.c_double(1), ctypes.c_ubyte(1)):  # fmt: skip
                out = numpy.zeros(1, char)
                with self.subTest(declared=declared, number=repr(number)):
                    self.assertTrue(self.takes(f"constant_{declared}", number, out))
                    self.assertEqual(out[0], 1)

    def test_arrays_without_dimensions_that_do_not_fit(self):
        for declared, number in (("uchar", 300), ("uint", -1), ("int", 1 << 40), ("int", 1.5), ("half", 1e6)):
            with self.subTest(declared=declared, number=number):
                self.assertFalse(self.takes(f"constant_{declared}", numpy.array(number), numpy.zeros(1, DECLARED[declared])))

    def test_bytes_without_a_type_are_anything(self):
        raw = numpy.arange(8, dtype="f").tobytes()
        memory = (ctypes.c_float * 8)(*range(8))
        for value in (raw, bytearray(raw), memoryview(raw), memoryview(bytearray(raw))[4:], smelt.Buffer(ctypes.addressof(memory), 32, owner=memory)):
            out = numpy.zeros(1, "f")
            with self.subTest(type(value)):
                self.assertTrue(self.takes("read_float", value, out))

    def test_a_message_says_what_to_pass(self):
        for value, words in (
            (numpy.arange(4), "argument 0 'in': expects float (4 bytes), the call passes int64; pass in.astype(numpy.float32) (of a tensor in.to(torch.float32))"),
            (numpy.ones(16, bool), "in.view(numpy.float32), if these are the bytes of such numbers"),
            (numpy.ones(16, ">f4"), "array.astype(array.dtype.newbyteorder('='))"),
        ):  # fmt: skip
            with self.assertRaises(smelt.ArgumentError) as raised:
                self.library.read_float(value, numpy.zeros(1, "f"), threads=1)
            self.assertIn(words, str(raised.exception))

    def test_warn_and_off_are_asked_for(self):
        out = numpy.zeros(1, "f")
        with self.assertWarns(smelt.ArgumentWarning):
            self.library.read_float(numpy.ones(16, bool), out, threads=1, check="warn")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.library.read_float(numpy.ones(16, bool), out, threads=1, check="off")

    def test_as_upstream_nothing_is_asked(self):
        out = numpy.zeros(1, "f")
        smelt.compat.torch.compile_shader(source()).read_float(numpy.arange(4, dtype="i4"), out, threads=1)


VECTORS = """#include <metal_stdlib>
using namespace metal;
""" + "".join(
    f"""kernel void k_{name}(device const {name}* p, device float* out, uint i [[thread_position_in_grid]]) {{ out[i] = 1; }}
kernel void one_{name}(constant {name}& p, device float* out) {{ out[0] = 1; }}
"""
    for name in ("float2", "float3", "float4", "half3", "int3", "uchar3", "packed_float3", "float2x3", "float3x3", "float4x3", "float2x2", "float3x2", "float4x4")
)


@needs_numpy
class Vectors(unittest.TestCase):
    """A kernel that declares vectors or matrices takes some shapes of an array and refuses the others."""

    TABLE = {
        "float2": ([(8, 2), (8, 4), (16,), (2, 4, 2), (4, 5, 6), (8, 1)], [(8, 3), (2, 4, 3)]),
        "float3": ([(8, 4), (2, 4, 4), (4,)], [(8, 3), (24,), (32,), (2, 4, 3), (12,), (8, 2), (8, 12), (4, 8)]),
        "half3": ([(8, 4)], [(8, 3), (24,)]),
        "int3": ([(8, 4)], [(8, 3), (24,)]),
        "uchar3": ([(8, 4)], [(8, 3), (24,)]),
        "packed_float3": ([(8, 3), (24,), (2, 4, 3), (8, 6)], [(8, 4), (9, 2)]),
        "float4": ([(8, 4), (32,), (8, 8), (8, 2, 2), (7, 6)], [(8, 3), (8, 2)]),
        "float2x3": ([(8, 2, 4), (8, 8), (8,)], [(8, 2, 3), (8, 6), (48,), (64,)]),
        "float3x3": ([(8, 3, 4), (8, 12), (12,)], [(8, 3, 3), (8, 9), (72,)]),
        "float4x3": ([(8, 4, 4), (8, 16)], [(8, 4, 3), (8, 12)]),
        "float2x2": ([(8, 2, 2), (8, 4), (32,)], [(8, 3), (8, 3, 3)]),
        "float3x2": ([(8, 3, 2), (8, 6)], [(8, 3), (8, 2, 3)]),
        "float4x4": ([(8, 4, 4), (128,), (8, 16)], [(16, 3), (16, 2)]),
    }
    TYPES = {"half3": "f2", "int3": "i4", "uchar3": "u1"}

    def test_shapes(self):
        library = smelt.compile_shader(VECTORS)
        for name, (right, wrong) in self.TABLE.items():
            for shape in right + wrong:
                value = numpy.zeros(shape, self.TYPES.get(name, "f4"))
                for kernel in (f"k_{name}", f"one_{name}"):
                    with self.subTest(kernel=kernel, shape=shape):
                        try:
                            library[kernel](value, numpy.zeros(8, "f"), threads=1)
                            taken = True
                        except smelt.ArgumentError as refused:
                            self.assertEqual(refused.code, "argument_mismatch")
                            taken = False
                        self.assertEqual(taken, shape in right)

    def test_points(self):
        library = smelt.compile_shader("kernel void first(device const float3* p, device float* out, uint i [[thread_position_in_grid]]) { out[i] = p[i].x; }")
        points, out = numpy.arange(24, dtype="f").reshape(8, 3), numpy.zeros(8, "f")
        for checked in (points, DLPackOnly(points), points.ravel()):
            with self.assertRaises(smelt.ArgumentError) as raised:
                library.first(checked, out, threads=8)
            for word in ("float3 (16 bytes)", "space of 4", "packed_float3", "smelt.padded(array)"):
                self.assertIn(word, str(raised.exception))
        library.first(smelt.padded(points), out, threads=8)
        self.assertEqual(out.tolist(), points[:, 0].tolist())
        smelt.compat.torch.compile_shader("kernel void first(device const float3* p, device float* out, uint i [[thread_position_in_grid]]) { out[i] = p[i].x; }").first(points, out, threads=6)
        self.assertEqual(out[:6].tolist(), [0, 4, 8, 12, 16, 20])

    def test_padded(self):
        for given in (numpy.ones((2, 5, 3), "i2"), [[1, 1, 1]], numpy.ones(3, "f2")):
            made, want = smelt.padded(given), numpy.asarray(given)
            self.assertEqual((made.shape, made.dtype), ((*want.shape[:-1], 4), want.dtype))
            self.assertTrue((made[..., :3] == 1).all() and (made[..., 3] == 0).all())
        for wrong in (numpy.ones((3, 4)), numpy.ones(()), numpy.ones((2, 2))):
            with self.assertRaises(smelt.ArgumentError):
                smelt.padded(wrong)

    def test_padded_of_a_tensor(self):
        class Tensor:
            def __init__(self, values):
                self.values, self.ndim, self.shape = values, values.ndim, values.shape

            def new_zeros(self, shape):
                return Tensor(numpy.zeros(shape, self.values.dtype))

            def __setitem__(self, at, other):
                self.values[at] = other.values

        self.assertEqual(smelt.padded(Tensor(numpy.ones((2, 3)))).values.tolist(), [[1, 1, 1, 0]] * 2)

    def test_complex_numbers_are_two_floats(self):
        library = smelt.compile_shader("kernel void k(device const float2* z, device float* out, uint i [[thread_position_in_grid]]) { out[i] = z[i].y; }")
        out = numpy.zeros(4, "f")
        library.k(numpy.arange(4, dtype="F") * 1j, out, threads=4)
        self.assertEqual(out.tolist(), [0, 1, 2, 3])


RECORDS = """#include <metal_stdlib>
using namespace metal;
struct P { float3 pos; float mass; };
struct Q { float a; int b; };
struct Inner { half scale; float3 axis; };
struct Outer { uchar tag; Inner inner; Inner more[2]; float list[3]; packed_float3 v; float3x3 m; };
struct Four { float4 at; float2 uv[2]; };
kernel void heavy(device const P* p, device float* out, uint i [[thread_position_in_grid]]) { out[i] = p[i].mass; }
kernel void second(device const Q* p, device float* out, uint i [[thread_position_in_grid]]) { out[i] = p[i].a; }
kernel void change(device Q* p, uint i [[thread_position_in_grid]]) { p[i].b = 2; }
kernel void nested(device const Outer* p, device float* out, uint i [[thread_position_in_grid]]) { out[i] = p[i].more[1].axis.z; }
kernel void four(device const Four* p, device float* out, uint i [[thread_position_in_grid]]) { out[i] = p[i].uv[1].y; }
"""


class Pair(ctypes.Structure):
    _fields_ = [("a", ctypes.c_float), ("b", ctypes.c_int)]


class Swapped(ctypes.Structure):
    _fields_ = [("b", ctypes.c_int), ("a", ctypes.c_float)]


@needs_numpy
class Records(unittest.TestCase):
    """A record array is held to the names, types and places of the structure's members."""

    @classmethod
    def setUpClass(cls):
        cls.library = smelt.compile_shader(RECORDS)
        inner = numpy.dtype({"names": ["scale", "axis"], "formats": ["f2", "3f4"], "offsets": [0, 16], "itemsize": 32})
        cls.outer = numpy.dtype({
            "names": ["tag", "inner", "more", "list", "v", "m"], "formats": ["u1", inner, (inner, 2), "3f4", "3f4", "(3,4)f4"],
            "offsets": [0, 16, 48, 112, 124, 144], "itemsize": 192,
        })  # fmt: skip

    def refused(self, kernel, value, *words):
        with self.assertRaises(smelt.ArgumentError) as raised:
            self.library[kernel](value, numpy.zeros(8, "f"), threads=1)
        self.assertEqual(raised.exception.code, "argument_mismatch")
        for word in words:
            self.assertIn(word, str(raised.exception))

    def test_other_places(self):
        layout = numpy.dtype({"names": ["pos", "mass"], "formats": ["3f4", "f4"], "offsets": [0, 12], "itemsize": 32})
        self.refused("heavy", numpy.zeros(2, layout), "argument 0 'p'", "member 'mass' lies at byte 16, the array has it at 12")
        right, out = numpy.zeros(2, numpy.dtype({"names": ["pos", "mass"], "formats": ["3f4", "f4"], "offsets": [0, 16], "itemsize": 32})), numpy.zeros(2, "f")
        right["mass"] = 7
        for value in (right, right[1:], right[0]):
            self.library.heavy(value, out, threads=1)
            self.assertEqual(out[0], 7)
        wide = numpy.zeros(2, numpy.dtype({"names": ["pos", "mass"], "formats": ["4f4", "f4"], "offsets": [0, 16], "itemsize": 32}))
        self.library.heavy(wide, out, threads=1)

    def test_swapped_names(self):
        self.refused("second", numpy.zeros(2, [("b", "i4"), ("a", "f4")]), "member 'b' lies at byte 4, the array has it at 0")
        self.refused("second", (Swapped * 2)(), "member 'b' lies at byte 4")
        self.library.second((Pair * 2)(Pair(7, 1)), out := numpy.zeros(2, "f"), threads=2)
        self.assertEqual(out.tolist(), [7, 0])

    def test_other_types_and_names(self):
        self.refused("second", numpy.zeros(2, [("a", "i4"), ("b", "i4")]), "member 'a' is float, the array has int32 there")
        self.refused("second", numpy.zeros(2, [("a", "f4"), ("c", "i4")]), "field 'c', which Q does not have: it has 'a', 'b'")
        self.refused("second", numpy.zeros(2, {"names": ["a"], "formats": ["f4"], "itemsize": 8}), "records without 'b'")
        self.library.second(numpy.zeros(2, "f4,i4"), numpy.zeros(2, "f"), threads=2)  # nobody named these
        self.refused("second", numpy.zeros(2, "i4,f4"), "member 'a' is float")

    def test_of_memory_that_is_written(self):
        with self.assertRaises(smelt.ArgumentError):
            self.library.change(numpy.zeros(2, [("b", "i4"), ("a", "f4")]), threads=1)
        self.library.change(values := numpy.zeros(2, [("a", "f4"), ("b", "i4")]), threads=2)
        self.assertEqual(values["b"].tolist(), [2, 2])

    def test_nested(self):
        out = numpy.zeros(2, "f")
        value = numpy.zeros(2, self.outer)
        value["more"]["axis"][:, 1, 2] = [5, 6]
        self.library.nested(value, out, threads=2)
        self.assertEqual(out.tolist(), [5, 6])
        inner = numpy.dtype({"names": ["axis", "scale"], "formats": ["3f4", "f2"], "offsets": [0, 16], "itemsize": 32})
        for name, of, words in (
            ("inner", inner, "member 'inner.axis' lies at byte 32, the array has it at 16"), ("more", (inner, 2), "more[0].axis"),
            ("list", "2f4", "member 'list'"), ("list", "3i4", "member 'list'"), ("m", "(4,3)f4", "member 'm'"), ("v", "3f2", "member 'v'"),
        ):  # fmt: skip
            formats = [of if name == one else self.outer.fields[one][0] for one in self.outer.names]
            offsets = [self.outer.fields[one][1] for one in self.outer.names]
            wrong = numpy.dtype({"names": self.outer.names, "formats": formats, "offsets": offsets, "itemsize": 192})
            self.refused("nested", numpy.zeros(1, wrong), words)

    def test_numbers_for_a_structure(self):
        self.library.four(numpy.zeros((2, 8), "f"), numpy.zeros(2, "f"), threads=2)
        self.refused("second", numpy.zeros((4, 2), "f"), "float32 numbers for Q")
        self.refused("heavy", numpy.zeros((4, 8), "f"), "float32 numbers for P")
        self.refused("four", numpy.zeros((2, 8), "i4"), "int32 numbers for Four")
        self.library.second(numpy.zeros(16, "u1"), numpy.zeros(2, "f"), threads=2)  # its bytes

    def test_a_dict_for_memory_that_is_only_read(self):
        out = numpy.zeros(2, "f")
        self.library.second([{"a": 3, "b": 1}, (4, 1)], out, threads=2)
        self.assertEqual(out.tolist(), [3, 4])


if __name__ == "__main__":
    unittest.main()
