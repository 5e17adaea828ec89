# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CPU code grows with the source: no kernel is many times as large as one that is a little shorter."""

import array
import struct
import unittest

import smelt

# N products of 8x8 matrices, unrolled: each has matrices of its own.
PRODUCTS = """#include <metal_stdlib>
using namespace metal;
kernel void k(const device float* a, const device bfloat* b, device float* c, constant uint& ld) {
  simdgroup_float8x8 sums[4];
  for (int i = 0; i < 4; i++) sums[i] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
#pragma clang loop unroll(full)
  for (int s = 0; s < N; s++) {
    simdgroup_float8x8 x;
    simdgroup_bfloat8x8 y;
    simdgroup_load(x, a, ld, ulong2(8 * s, 0));
    simdgroup_load(y, b, ld, ulong2(0, 8 * s), true);
    simdgroup_multiply_accumulate(sums[s & 3], x, y, sums[s & 3]);
  }
  for (int i = 0; i < 4; i++) simdgroup_store(sums[i], c + 64 * i, 8);
}
"""
LD = 512


def bfloat(value):
    return struct.unpack("<I", struct.pack("<f", value))[0] >> 16


# The elements of a matrix read as a pair, which LLVM sees as one number of 64 (of half: 32) bits.
PAIRS = """#include <metal_stdlib>
using namespace metal;
kernel void k(device T2* z, uint lane [[thread_position_in_threadgroup]]) {
  T2 pairs[4];
  for (int i = 0; i < 4; i++) pairs[i] = T2(i + 1);
  simdgroup_matrix<T, 8, 8> m;
  m.thread_elements()[0] = pairs[0][0];
  m.thread_elements()[1] = pairs[0][1] + lane;
  simdgroup_multiply_accumulate(m, m, m, m);
  pairs[0] = T2(m.thread_elements()[0], m.thread_elements()[1]);
  for (int i = 0; i < 4; i++) z[lane + 32 * i] = pairs[i];
}
"""


class GrowthTest(unittest.TestCase):
    def test_unrolled_products(self):
        a = array.array("f", [float((7 * i + 3 * (i // LD)) % 5 - 2) for i in range(8 * LD)])
        b = [float((5 * i + i // LD) % 7 - 3) for i in range(LD * LD)]
        bits = array.array("H", [bfloat(x) for x in b])
        sizes = {}
        for n in (24, 48, 64):
            package = smelt.compile(PRODUCTS, definitions={"N": n}, targets="macos14", cpu="required", store=False)
            sizes[n] = len(bytes(package))
            c = array.array("f", [0.0] * 256)
            package.load().k(a, bits, c, LD, threads=32, group_size=32, check="off")
            wanted = [0.0] * 256
            for s in range(n):
                for row in range(8):
                    for column in range(8):
                        wanted[64 * (s & 3) + 8 * row + column] += sum(
                            a[LD * row + 8 * s + k] * b[LD * (8 * s + column) + k] for k in range(8)
                        )
            self.assertEqual(list(c), wanted)
        self.assertLess(sizes[48], 3 * sizes[24])
        self.assertLess(sizes[64], 4 * sizes[24])

    def test_elements_read_as_a_pair(self):
        for name, letter in (("float", "f"), ("half", "e")):
            package = smelt.compile(PAIRS, definitions={"T": name, "T2": name + "2"}, targets="macos14", cpu="required", store=False)
            z = bytearray(struct.calcsize(letter) * 2 * 128)
            package.load().k(z, threads=32, group_size=32)
            found = struct.unpack(f"<{256}{letter}", z)
            # Lane l holds (row, column) and the one beside it, as on Apple's GPUs.
            matrix = [[0.0] * 8 for _ in range(8)]
            place = {}
            for lane in range(32):
                row = (lane // 16) * 4 + (lane // 2) % 4
                column = (lane % 2) * 2 + ((lane // 8) % 2) * 4
                place[lane] = (row, column)
                matrix[row][column], matrix[row][column + 1] = 1.0, 1.0 + lane
            for lane, (row, column) in place.items():
                for slot in (0, 1):
                    want = matrix[row][column + slot] + sum(matrix[row][k] * matrix[k][column + slot] for k in range(8))
                    want = struct.unpack("<" + letter, struct.pack("<" + letter, want))[0]
                    self.assertAlmostEqual(found[2 * lane + slot], want, delta=abs(want) / 512, msg=(name, lane, slot))
            for i in range(1, 4):
                self.assertEqual(set(found[64 * i : 64 * i + 64]), {float(i + 1)})


if __name__ == "__main__":
    unittest.main()
