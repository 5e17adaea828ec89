# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arguments tensor<T, ...> from Python: an array, its shape and its strides."""

import inspect
import unittest

import smelt

try:
    import numpy as np
except ModuleNotFoundError:
    raise unittest.SkipTest("SKIPPED: no NumPy") from None

HEAD = """
#include <metal_stdlib>
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;
using namespace mpp::tensor_ops;
"""
PRODUCT = """
kernel void product%s(device float& factor, tensor<device %s, dextents<int, 2>> A, tensor<device %s, dextents<int, 2>> B,
                    tensor<device %s, dextents<int, 2>> C, uint2 tile [[threadgroup_position_in_grid]]) {
  constexpr auto shape = matmul2d_descriptor(32, 32, int(dynamic_extent));
  matmul2d<shape, execution_simdgroup> op;
  auto a = A.slice(0, tile.y * 32);
  auto b = B.slice(tile.x * 32, 0);
  auto c = C.slice(tile.x * 32, tile.y * 32);
  auto sums = op.get_destination_cooperative_tensor<decltype(a), decltype(b), %s>();
  op.run(a, b, sums);
  for (ushort i = 0; i < sums.get_capacity(); ++i) sums[i] *= factor;
  sums.store(c);
}
"""
IMAGE = """
kernel void with_image(texture2d<float, access::read> image, tensor<device float, dextents<int, 2>> A,
                       tensor<device float, dextents<int, 2>> C, constant float& factor) {
  constexpr auto shape = matmul2d_descriptor(16, 16, int(dynamic_extent));
  matmul2d<shape, execution_simdgroup> op;
  auto sums = op.get_destination_cooperative_tensor<decltype(A), decltype(A), float>();
  op.run(A, A, sums);
  for (ushort i = 0; i < sums.get_capacity(); ++i) sums[i] = sums[i] * factor + image.read(uint2(1, 0)).x;
  sums.store(C);
}
"""


def source(*parts):
    return HEAD + "".join(parts)


class Tensors(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lib = smelt.load_metallib(smelt.compile(
            source(PRODUCT % ("_half", "half", "half", "float", "float"), PRODUCT % ("_int", "char", "uchar", "int", "int"),
                   PRODUCT % ("_bfloat", "bfloat", "bfloat", "float", "float"), IMAGE),
            targets=["macos26.2"]))  # fmt: skip

    def launch(self, kernel, a, b, c):
        m, n = c.shape
        kernel(np.float32([2]), a, b, c, threads=(-(-n // 32) * 32, -(-m // 32)), group_size=(32, 1))

    def test_products(self):
        for m, n, k in ((32, 32, 16), (50, 70, 37), (1, 1, 1)):
            a = (np.arange(m * k).reshape(m, k) % 7 - 3).astype(np.float16)
            b = (np.arange(k * n).reshape(k, n) % 5 - 2).astype(np.float16)
            c = np.zeros((m, n), np.float32)
            self.launch(self.lib.product_half, a, b, c)
            assert (c == 2 * (a.astype(np.float64) @ b.astype(np.float64))).all()

    def test_whole_numbers(self):
        a = (np.arange(40 * 20).reshape(40, 20) % 200 - 100).astype(np.int8)
        b = (np.arange(20 * 33).reshape(20, 33) % 200).astype(np.uint8)
        c = np.zeros((40, 33), np.int32)
        self.launch(self.lib.product_int, a, b, c)
        assert (c == 2 * (a.astype(np.int64) @ b.astype(np.int64))).all()

    def test_bits_of_bfloat(self):
        a = (np.arange(32 * 16).reshape(32, 16) % 7 - 3).astype(np.float32)
        bits = (a.view(np.uint32) >> 16).astype(np.uint16)
        c = np.zeros((32, 32), np.float32)
        self.launch(self.lib.product_bfloat, bits, np.ascontiguousarray(bits.T), c)
        assert (c == 2 * (a @ a.T)).all()

    def test_strides(self):
        """Parts of larger arrays: what lies between their rows stays."""
        a = (np.arange(64 * 64).reshape(64, 64) % 7 - 3).astype(np.float16)
        b = (np.arange(64 * 64).reshape(64, 64) % 5 - 2).astype(np.float16)
        c = np.full((64, 64), 9, np.float32)
        wanted = c.copy()
        wanted[5:35, 3:43] = 2 * (a[7:37, 2:21].astype(np.float32) @ b[1:20, 10:50].astype(np.float32))
        self.launch(self.lib.product_half, a[7:37, 2:21], b[1:20, 10:50], c[5:35, 3:43])
        assert (c == wanted).all()

    def test_textures_beside(self):
        a = (np.arange(256).reshape(16, 16) % 7 - 3).astype(np.float32)
        image = np.arange(8, dtype=np.float32).reshape(2, 4)
        c = np.zeros((16, 16), np.float32)
        self.lib.with_image(image, a, c, 3.0, threads=32, group_size=32)
        assert (c == 3 * (a @ a) + 1).all()

    def test_names(self):
        parameters = inspect.signature(self.lib.product_half).parameters
        assert list(parameters)[:4] == ["factor", "A", "B", "C"]
        assert parameters["A"].annotation == "tensor<half, dextents<int, 2>>"
        assert "A: tensor<half, dextents<int, 2>>\n" in self.lib.product_half.__doc__
        a = np.ones((32, 16), np.float16)
        c = np.zeros((32, 32), np.float32)
        self.lib.product_half(C=c, A=a, B=np.ones((16, 32), np.float16), factor=np.float32([1]), threads=32, group_size=32)
        assert (c == 16).all()

    def refused(self, words, **changed):
        given = {"a": np.ones((32, 16), np.float16), "b": np.ones((16, 32), np.float16), "c": np.zeros((32, 32), np.float32)} | changed
        with self.assertRaises((smelt.Error, ValueError)) as caught:
            self.launch(self.lib.product_half, **given)
        self.assertIn(words, str(caught.exception))

    def test_refused(self):
        self.refused("other elements", a=np.ones((32, 16), np.float32))
        self.refused("float64", a=np.ones((32, 16)))
        self.refused("has 3 dimensions", a=np.ones((1, 32, 16), np.float16))
        self.refused("argument 1 'A' (tensor<half, dextents<int, 2>>): want an array", a=2.0)
        self.refused("want an array", a=[1.0, 2.0])
        self.refused("has to be copied", a=np.ones((16, 32), np.float16).T)
        self.refused("copied", a=np.ones((32, 32), np.float16)[:, ::2])
        read_only = np.ones((32, 16), np.float16)
        read_only.flags.writeable = False
        self.refused("read-only", a=read_only)
        self.refused("always there", a=None)


if __name__ == "__main__":
    unittest.main()
