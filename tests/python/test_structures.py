# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Structures of kernels as dicts and tuples, checked by what the kernel reads of each member."""

import array
import struct
import unittest

import smelt
from smelt.errors import ArgumentError

SOURCE = """#include <metal_stdlib>
using namespace metal;
enum class Mode : uint { off, on = 7 };
struct Inner { half scale; float3 axis; };
struct Params {
  float a; int b; uchar c; bool flag; ushort4 v; packed_float3 p; float2x3 m; Inner inner; Inner more[2]; int list[3]; ulong big; bfloat f; Mode mode; char d;
};
struct Pair { float a; int b; };
kernel void all(constant Params& p, device float* o) {
  int i = 0;
  o[i++] = p.a; o[i++] = p.b; o[i++] = p.c; o[i++] = p.flag;
  for (int k = 0; k < 4; ++k) o[i++] = p.v[k];
  for (int k = 0; k < 3; ++k) o[i++] = p.p[k];
  for (int k = 0; k < 2; ++k) for (int r = 0; r < 3; ++r) o[i++] = p.m[k][r];
  o[i++] = p.inner.scale; o[i++] = p.inner.axis.z;
  for (int k = 0; k < 2; ++k) { o[i++] = p.more[k].scale; o[i++] = p.more[k].axis.x; }
  for (int k = 0; k < 3; ++k) o[i++] = p.list[k];
  o[i++] = float(p.big >> 40); o[i++] = float(p.f); o[i++] = float(uint(p.mode)); o[i++] = p.d;
}
kernel void pairs(constant Pair* p, device float* o, uint i [[thread_position_in_grid]]) { o[i] = p[i].a + p[i].b; }
kernel void memory(device Pair* p, device float* o, uint i [[thread_position_in_grid]]) { o[i] = p[i].a + p[i].b; }
"""
VALUES = {
    "a": 1.5, "b": -2, "c": 200, "flag": True, "v": [1, 2, 3, 65535], "p": (4, 5, 6), "m": [[1, 2, 3], [4, 5, 6]],
    "inner": {"scale": 0.5, "axis": (7, 8, 9)}, "more": [(0.25, [1, 2, 3]), {"axis": (4, 5, 6), "scale": 2}],
    "list": array.array("i", [10, 20, -30]), "big": 1 << 50, "f": 3.0, "mode": 7, "d": -5,
}  # fmt: skip
WANTED = [1.5, -2, 200, 1, 1, 2, 3, 65535, 4, 5, 6, 1, 2, 3, 4, 5, 6, 0.5, 9, 0.25, 1, 2, 4, 10, 20, -30, 1024, 3, 7, -5]


class Structures(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.lib = smelt.compile_shader(SOURCE)

    def all(self, value: object) -> "list[float]":
        out = array.array("f", [0] * len(WANTED))
        self.lib.all(value, out, threads=1)
        return list(out)

    def test_a_dict_and_a_tuple_reach_every_member(self) -> None:
        self.assertEqual(self.all(VALUES), WANTED)
        self.assertEqual(self.all(tuple(VALUES.values())), WANTED)
        self.assertEqual(self.all(dict(reversed(VALUES.items()))), WANTED)

    def test_lists_are_arrays_of_structures(self) -> None:
        out = array.array("f", [0] * 3)
        self.lib.pairs([(1, 2), {"b": 20, "a": 10}, (0.5, -1)], out, threads=3)
        self.assertEqual(list(out), [3, 30, -0.5])
        self.lib.pairs([0.5, 2], out, threads=1)
        self.lib.pairs(p=(4, 3), o=memoryview(out)[1:], threads=1)
        self.assertEqual(list(out), [2.5, 7, -0.5])
        self.lib.pairs(struct.pack("<fi", 9, 1), out, threads=1)
        self.assertEqual(out[0], 10)

    def test_what_does_not_fit_says_what_would(self) -> None:
        out = array.array("f", [0] * 4)
        cases = [
            ({**VALUES, "flg": 1}, "argument 0 'p': Params has no member 'flg'; did you mean 'flag'?"),
            ({k: v for k, v in VALUES.items() if k not in ("a", "mode")}, "leaves out 'a', 'mode'"),
            (tuple(VALUES.values())[:-1], "Params has 14 members, the call passes 13"),
            ({**VALUES, "inner": {"scale": 1}}, "member 'inner': 'inner' has 'scale', 'axis', and the call leaves out 'axis'"),
            ({**VALUES, "c": 256}, "member 'c': 256 is not of type uchar"),
            ({**VALUES, "b": 0.5}, "member 'b': 0.5 is not of type int"),
            ({**VALUES, "v": [1, 2, 3]}, "member 'v': want ushort4, which is 4 numbers; got [1, 2, 3]"),
            ({**VALUES, "v": [1, 2, 3, -1]}, "member 'v': -1 is not of type ushort"),
            ({**VALUES, "list": [1, 2]}, "member 'list': want 3 values of int; got list of 2"),
            ({**VALUES, "more": [1, 2, 3]}, "member 'more': 'more' has 2 members, the call passes 3"),
            ({**VALUES, "more": [(1, (1, 2, 3)), 5]}, "member 'more'[1]: want '1' as a dict or tuple of 'scale', 'axis'; got int"),
        ]
        for value, words in cases:
            with self.assertRaises(ArgumentError, msg=words) as raised:
                self.lib.all(value, out, threads=1)
            self.assertIn(words, str(raised.exception))
        with self.assertRaises(ArgumentError) as raised:
            self.lib.pairs([(1, 2), (3, "x")], out, threads=2)
        self.assertIn("argument 0 'p', element 1, member 'b': 'x' is not of type int", str(raised.exception))
        with self.assertRaises(ArgumentError) as raised:
            self.lib.pairs(5, out, threads=1)
        self.assertIn("a dict or tuple of its members", str(raised.exception))

    def test_memory_that_a_kernel_writes_to_is_not_listed(self) -> None:
        with self.assertRaises(ArgumentError):
            self.lib.memory({"a": 1, "b": 2}, array.array("f", [0]), threads=1)
        with self.assertRaises(ArgumentError):
            self.lib.memory((1.0, 2), array.array("f", [0]), threads=1)

    def test_the_packages_list_them(self) -> None:
        package = smelt.compile(SOURCE, cpu=True)
        out = array.array("f", [0] * len(WANTED))
        smelt.load_metallib(bytes(package)).all(VALUES, out, threads=1)
        self.assertEqual(list(out), WANTED)


if __name__ == "__main__":
    unittest.main()
