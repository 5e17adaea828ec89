# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors of Metal 4 in checked code: right numbers, and accesses, races and lanes that are reported."""

import unittest

import npy
from smelt_cli import smelt
from tensor_programs import COOPERATIVE, INLINE, INLINE_COOPERATIVE, SIMPLE, TensorTest


class CheckedTensorsTest(TensorTest):
    # ---- Memory

    def checked(self, text, function, *arguments):
        package = self.compile(text, "--checked=memory")
        return smelt("run", "--checked=memory", package, function, *arguments)

    def test_checked_products_are_right(self):
        package = self.compile(INLINE_COOPERATIVE, "--checked=memory")
        self.checked_option = ("--checked=memory",)
        self.product(package, "twice", 100, 70, 37, factor=2)

    def test_checked_bound_tensors(self):
        package = self.compile(SIMPLE + COOPERATIVE, "--checked=memory")
        self.checked_option = ("--checked=memory",)
        self.product(package, "simple_matmul", 100, 70, 37)
        self.product(package, "coop_matmul", 100, 70, 37, factor=2)

    def test_checked_apples_modules(self):
        self.checked_option = ("--checked=memory",)
        for name, factor in (("simple_matmul", 1), ("coop_matmul", 2)):
            package = self.folder / f"{name}-apple.smelt"
            self.succeed("compile", self.apple_library(name), "--target", "macos26", "--checked=memory", "-o", package)
            self.product(package, name, 100, 70, 37, factor=factor)

    def test_checked_parts_of_bound_tensors(self):
        """A part that begins before its tensor; a store of what threads hold has its own way there."""
        text = """kernel void %s(tensor<device half, dextents<int, 2>> A, tensor<device half, dextents<int, 2>> B,
          tensor<device float, dextents<int, 2>> C) {
          constexpr auto d = matmul2d_descriptor(16, 16, int(dynamic_extent)); matmul2d<d, execution_simdgroup> op;
          auto a = A.slice(0, %d);
          auto t = op.get_destination_cooperative_tensor<decltype(a), decltype(B), float>();
          op.run(a, B, t);
          auto c = C.slice(%d, 0); t.store(c); }"""
        sizes = ("--threads", 32, "--group", 32, "f16[16,8]", "f16[8,16]", "f32[16,16]")
        for name, row, column, wanted in (("fine", 0, 0, None), ("right", 4, 4, None),
                                          ("above", -1, 0, r"reads 1 bytes at offset -2 of buffer 0 'A'"),
                                          ("before", 0, -1, r"writes 1 bytes at offset -4 of buffer 2 'C'")):  # fmt: skip
            result = self.checked(text % (name, row, column), name, *sizes)
            self.assertEqual(result.returncode, 0 if wanted is None else 1, result.stderr)
            if wanted is not None:
                self.assertRegex(result.stderr.decode(), wanted + r", which has \d+ bytes")

    def test_checked_handle_that_nobody_wrote(self):
        text = """kernel void none(tensor<device half, dextents<int, 2>> A, tensor<device float, dextents<int, 2>> C,
          device int* n) {
          constexpr auto d = matmul2d_descriptor(16, 16, int(dynamic_extent)); matmul2d<d, execution_simdgroup> op;
          tensor<device half, dextents<int, 2>> held[2];
          for (int i = 0; i < n[0]; ++i) held[i] = A;
          op.run(held[0], held[n[1]], C); }"""
        sizes = ("--threads", 32, "--group", 32, "f16[16,16]", "f32[16,16]")
        pair = npy.write(self.folder / "n.npy", [2, 1], "<i4")
        self.assertEqual(self.checked(text, "none", *sizes, pair).returncode, 0)
        pair = npy.write(self.folder / "n.npy", [1, 1], "<i4")
        result = self.checked(text, "none", *sizes, pair)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr.decode(), "null|no object|no buffer")

    def test_checked_extents(self):
        """The right operand says more rows than its buffer has."""
        result = self.checked(INLINE, "inline_matmul", "--threads", 128, "--group", 128, "f16[64,48]", "f16[47,32]",
                              "f32[64,32]", "u32:64", "u32:32", "u32:48")  # fmt: skip
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr.decode(), r"reads 1 bytes at offset 3070 .* of buffer 1 .* which has 3008 bytes")

    def test_checked_store(self):
        result = self.checked(INLINE, "inline_matmul", "--threads", 128, "--group", 128, "f16[64,48]", "f16[48,32]",
                              "f32[63,32]", "u32:64", "u32:32", "u32:48")  # fmt: skip
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr.decode(), r"writes 1 bytes at offset 8188 .* of buffer 2 .* which has 8064 bytes")

    def test_checked_static_depth(self):
        """A depth that is known when it is compiled is read whole: llama.cpp#27064."""
        text = """kernel void deep(device half* a, device half* b, device float* c) {
          constexpr auto d = matmul2d_descriptor(16, 16, %s); matmul2d<d, execution_simdgroup> op;
          op.run(tensor(a, dextents<int, 2>(24, 16)), tensor(b, dextents<int, 2>(16, 24)),
                 tensor(c, dextents<int, 2>(16, 16))); }"""
        sizes = ("--threads", 32, "--group", 32, "f16[384]", "f16[384]", "f32[256]")
        self.assertEqual(self.checked(text % "int(dynamic_extent)", "deep", *sizes).returncode, 0)
        result = self.checked(text % "32", "deep", *sizes)
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"reads 1 bytes at offset 782", result.stderr)

    def test_checked_capacity(self):
        """16 x 16 elements of one SIMD-group are 8 a thread: what writes 16 of them, writes past the operand."""
        text = """kernel void past(device half* a) {
          constexpr auto d = matmul2d_descriptor(16, 32, 16); matmul2d<d, execution_simdgroup> op;
          auto l = op.get_left_input_cooperative_tensor<half, half, float>();
          for (ushort i = 0; i < 8; ++i) { l[i] = a[i]; l[%d + i] = a[i]; }
          a[0] = l[3]; }"""
        self.assertEqual(self.checked(text % 0, "past", "--threads", 32, "--group", 32, "f16[8]").returncode, 0)
        result = self.checked(text % 8, "past", "--threads", 32, "--group", 32, "f16[8]")
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"writes 2 bytes at offset 16 of an array of its own, outside of it", result.stderr)

    # ---- Watched

    TILE_BY_FOUR = """kernel void tile(device half* a, device half* b, device float* c,
          ushort t [[thread_index_in_threadgroup]]) {
          threadgroup half s[32 * 16];
          for (int i = t; i < 512; i += 128) s[i] = a[i];
          %s
          constexpr auto d = matmul2d_descriptor(32, 32, 16); matmul2d<d, execution_simdgroups<4>> op;
          op.run(tensor(s, dextents<int, 2>(16, 32)), tensor(b, dextents<int, 2>(32, 16)),
                 tensor(c, dextents<int, 2>(32, 32)));
          %s
          if (t == 0) c[1] += c[1023]; }"""
    WATCH = "--checked=memory,races,sync"

    def watched(self, text, function, *arguments, threads=(128, 128)):
        package = self.compile(text, self.WATCH, name="watched")
        return smelt("run", self.WATCH, package, function, "--threads", threads[0], "--group", threads[1], *arguments)

    def test_races_of_products(self):
        before, after = "threadgroup_barrier(mem_flags::mem_threadgroup);", "threadgroup_barrier(mem_flags::mem_device);"
        sizes = ("f16[512]", "f16[512]", "f32[1024]")
        for first, second, wanted in ((before, after, ()), ("", after, ("reads", "writes", "'s'")), (before, "", ("'c'",))):
            result = self.watched(self.TILE_BY_FOUR % (first, second), "tile", *sizes)
            self.assertEqual(result.returncode, 1 if wanted else 0, result.stderr)
            for word in wanted:
                self.assertIn(word, result.stderr.decode())

    def test_races_of_stores(self):
        """Two groups store the same tile; a thread reads what another one of its SIMD-group loads."""
        text = """kernel void twice(device half* a, device float* c, uint g [[threadgroup_position_in_grid]]) {
          constexpr auto d = matmul2d_descriptor(16, 32, 16); matmul2d<d, execution_simdgroup> op;
          auto A = tensor(a + 512 * g, dextents<int, 2>(16, 16)); auto B = tensor(a, dextents<int, 2>(32, 16));
          auto t = op.get_destination_cooperative_tensor<decltype(A), decltype(B), float>();
          op.run(A, B, t);
          auto C = tensor(c + %d * g, dextents<int, 2>(32, 16)); t.store(C); }"""
        values = npy.write(self.folder / "a.npy", [float(i % 7 - 3) for i in range(1024)], "<f2")
        sizes = (values, "f32[1024]")
        self.assertEqual(self.watched(text % 512, "twice", *sizes, threads=(64, 32)).returncode, 0)
        result = self.watched(text % 256, "twice", *sizes, threads=(64, 32))
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"no barrier orders threads of different groups", result.stderr)
        text = """kernel void load(device half* a, device float* c, ushort lane [[thread_index_in_simdgroup]]) {
          constexpr auto d = matmul2d_descriptor(16, 16, 16); matmul2d<d, execution_simdgroup> op;
          auto l = op.get_left_input_cooperative_tensor<half, half, float>();
          if (lane == 31) a[0] = 5;
          %s
          l.load(tensor(a, dextents<int, 2>(16, 16)));
          op.run(l, tensor(a + 256, dextents<int, 2>(16, 16)), tensor(c, dextents<int, 2>(16, 16))); }"""
        barrier = "simdgroup_barrier(mem_flags::mem_device);"
        self.assertEqual(self.watched(text % barrier, "load", *sizes, threads=(32, 32)).returncode, 0)
        result = self.watched(text % "", "load", *sizes, threads=(32, 32))
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"simdgroup_barrier(mem_flags::mem_device) between them", result.stderr)

    def test_races_of_bound_tensors(self):
        package = self.compile(SIMPLE + COOPERATIVE, self.WATCH)
        self.checked_option = (self.WATCH,)
        self.product(package, "simple_matmul", 100, 70, 37)
        self.product(package, "coop_matmul", 100, 70, 37, factor=2)
        text = SIMPLE.replace("g.x * 32, g.y * 64); op.run", "0, g.y * 64); op.run")
        result = self.watched(text, "simple_matmul", "f16[64,16]", "f16[16,64]", "f32[64,64]", threads=(256, 128))
        self.assertNotEqual(text, SIMPLE)
        self.assertEqual(result.returncode, 0, result.stderr)  # all write zeros: the same value
        a = npy.write(self.folder / "a.npy", [1.0] * 1024, "<f2", (64, 16))
        b = npy.write(self.folder / "b.npy", [float(i % 64 // 32) for i in range(1024)], "<f2", (16, 64))
        result = self.watched(text, "simple_matmul", a, b, "f32[64,64]", threads=(256, 128))
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr.decode(), "buffer 2 'C'")

    def test_products_that_not_all_lanes_reach(self):
        text = """kernel void some(device half* a, device float* c, ushort lane [[thread_index_in_simdgroup]]) {
          constexpr auto d = matmul2d_descriptor(16, 16, 16); matmul2d<d, execution_simdgroup> op;
          auto A = tensor(a, dextents<int, 2>(16, 16));
          if (lane < %d) op.run(A, A, tensor(c, dextents<int, 2>(16, 16))); }"""
        sizes = ("f16[256]", "f32[256]")
        self.assertEqual(self.watched(text % 32, "some", *sizes, threads=(32, 32)).returncode, 0)
        result = self.watched(text % 20, "some", *sizes, threads=(32, 32))
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"all threads of a SIMD group must reach it", result.stderr)

    def test_elements_are_not_followed(self):
        result = smelt("compile", self.source(INLINE), "--target", "macos26.2", "--checked=init",
                       "-o", self.folder / "k.smelt")  # fmt: skip
        self.assertIn(b"uses tensors, whose elements --checked=init does not track", result.stderr)


if __name__ == "__main__":
    unittest.main()
