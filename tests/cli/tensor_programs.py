# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs with tensors of Metal 4, and what the tests of them share."""

import os
import shutil
import subprocess
import tempfile

import npy
from smelt_cli import CliTest

HEAD = """
#include <metal_stdlib>
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;
using namespace mpp::tensor_ops;
"""

# The programs that the listings were made of, in our words: a product of 64 x 32 tiles by four SIMD-groups.
TILE = "constexpr auto d = matmul2d_descriptor(64, 32, int(dynamic_extent)); matmul2d<d, execution_simdgroups<4>> op;"
PARTS = "auto a = A.slice(0, g.y * 64); auto b = B.slice(g.x * 32, 0); auto c = C.slice(g.x * 32, g.y * 64);"
BOUND = """(tensor<device half, dextents<int32_t, 2>> A, tensor<device half, dextents<int32_t, 2>> B,
  tensor<device float, dextents<int32_t, 2>> C, uint2 tgid [[threadgroup_position_in_grid]]) { uint2 g = tgid; """
TWICE = """auto t = op.get_destination_cooperative_tensor<decltype(a), decltype(b), float>();
  for (ushort i = 0; i < t.get_capacity(); ++i) if (t.is_valid_element(i)) t[i] = 0;
  op.run(a, b, t);
  for (ushort i = 0; i < t.get_capacity(); ++i) if (t.is_valid_element(i)) t[i] *= 2.0f;
  t.store(c);"""
MADE = """(device half* Abuf, device half* Bbuf, device float* Cbuf, constant uint& M, constant uint& N, constant uint& K,
  uint2 tgid [[threadgroup_position_in_grid]]) { uint2 g = tgid;
  auto A = tensor<device half, dextents<int32_t, 2>, tensor_inline>(Abuf, dextents<int32_t, 2>{int32_t(K), int32_t(M)});
  auto B = tensor<device half, dextents<int32_t, 2>, tensor_inline>(Bbuf, dextents<int32_t, 2>{int32_t(N), int32_t(K)});
  auto C = tensor(Cbuf, dextents<int32_t, 2>(N, M), array<int, 2>({1, int(N)})); """
SIMPLE = f"kernel void simple_matmul{BOUND}{TILE}{PARTS} op.run(a, b, c); }}"
COOPERATIVE = f"kernel void coop_matmul{BOUND}{TILE}{PARTS}{TWICE} }}"
INLINE = f"kernel void inline_matmul{MADE}{TILE}{PARTS} op.run(a, b, c); }}"
INLINE_COOPERATIVE = f"kernel void twice{MADE}{TILE}{PARTS}{TWICE} }}"


class TensorTest(CliTest):
    checked_option = ()  # of smelt run

    @classmethod
    def setUpClass(cls):
        # One store for all: the headers of Metal 4 are precompiled once, not in each test.
        store = tempfile.TemporaryDirectory(prefix="smelt-cli-")
        cls.addClassCleanup(store.cleanup)
        os.environ["SMELT_STORE"] = store.name

    def source(self, text, name="k"):
        path = self.folder / f"{name}.metal"
        path.write_text(HEAD + text)
        return path

    def compile(self, text, *options, name="k", suffix=".smelt", target="macos26.2"):
        out = self.folder / f"{name}{suffix}"
        self.succeed("compile", self.source(text, name), "--target", target, *options, "-o", out)
        return out

    def apple_library(self, name):
        listing = self.shared("data/tensors") / f"{name}.ll"
        assembler = shutil.which("llvm-as-14")
        if assembler is None:
            self.skipTest("there is no llvm-as-14")
        module = self.folder / f"{name}.air"
        subprocess.run([assembler, listing, "-o", module], check=True)
        return module

    def product(self, package, function, m, n, k, factor=1):
        """Halves that are small whole numbers: every sum is exact."""
        left = [float((i * 7 + i // k) % 11 - 5) for i in range(m * k)]
        right = [float((i * 5 + i // n) % 9 - 4) for i in range(k * n)]
        a = npy.write(self.folder / "a.npy", left, "<f2", (m, k))
        b = npy.write(self.folder / "b.npy", right, "<f2", (k, n))
        out = self.folder / "c.npy"
        threads = (-(-n // 32) * 128, -(-m // 64))
        self.succeed("run", *self.checked_option, package, function, "--threads", f"{threads[0]},{threads[1]}", "--group",
                     "128,1", a, b,
                     f"f32[{m},{n}]={out}", *([] if "inline" not in function and function != "twice" else
                                              [f"u32:{m}", f"u32:{n}", f"u32:{k}"]))  # fmt: skip
        wanted = [factor * sum(left[i * k + l] * right[l * n + j] for l in range(k)) for i in range(m) for j in range(n)]
        self.assertEqual(npy.read(out)[0], wanted)
