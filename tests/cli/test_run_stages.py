# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""smelt run of vertex and fragment functions: an array for each input and result."""

import os
import unittest

import npy
from smelt_cli import CliTest, smelt

SOURCE = """#include <metal_stdlib>
using namespace metal;
struct In { float2 place [[attribute(0)]]; };
struct Out { float4 position [[position]]; float size [[point_size]]; };
vertex Out v(In in [[stage_in]], constant float& add [[buffer(0)]], uint id [[vertex_id]]) {
  return {float4(in.place + add, 0, 1), float(id)};
}
struct Shaded { float x; };
fragment float f(Shaded in [[stage_in]]) {
  if (in.x < 0) discard_fragment();
  return dfdx(in.x);
}
"""


class RunStageTest(CliTest):
    def setUp(self):
        super().setUp()
        os.environ["SMELT_STORE"] = str(self.folder / "store")
        (self.folder / "s.metal").write_text(SOURCE)
        self.package = self.folder / "s.smelt"
        self.succeed("compile", self.folder / "s.metal", "-o", self.package)

    def test_vertices(self):
        place = npy.write(self.folder / "place.npy", [float(i) for i in range(10)], shape=(5, 2))
        out, size = self.folder / "out.npy", self.folder / "size.npy"
        self.succeed("run", self.package, "v", "--threads", 5, "--input", f"place={place}", "--output", f"position={out}", "--output",
                     f"size={size}", "f32:10")  # fmt: skip
        self.assertEqual(npy.read(out), ([x for i in range(5) for x in (2.0 * i + 10, 2.0 * i + 11, 0.0, 1.0)], (5, 4)))
        self.assertEqual(npy.read(size), ([0.0, 1.0, 2.0, 3.0, 4.0], (5,)))

    def test_fragments(self):
        x = npy.write(self.folder / "x.npy", [1.0, 3.0, -1.0, 4.0])
        out = self.folder / "out.npy"
        for file in (self.package, self.folder / "s.metallib"):
            if file.suffix == ".metallib":
                self.succeed("compile", self.folder / "s.metal", "-o", file)
            self.succeed("run", file, "f", "--threads", 4, "--input", f"x={x}", "--output", f"color0={out}")
            self.assertEqual(npy.read(out)[0], [2.0, 2.0, 0.0, 5.0])
        again = smelt("run", self.package, "f", "--threads", 4, "--orders", 2, "--repeat", 1, "--input", f"x={x}", "--output", f"color0={out}")
        self.assertEqual(again.returncode, 0)
        self.assertIn(b"2 orders gave the same result", again.stderr)

    def test_for_the_cpu_alone(self):
        self.succeed("compile", self.folder / "s.metal", "--cpu-only", "-o", self.package)
        x, out = npy.write(self.folder / "x.npy", [1.0, 3.0, -1.0, 4.0]), self.folder / "out.npy"
        self.succeed("run", self.package, "f", "--threads", 4, "--input", f"x={x}", "--output", f"discarded={out}")
        self.assertEqual(npy.read(out)[0], [False, False, True, False])

    def test_what_is_refused(self):
        x = npy.write(self.folder / "x.npy", [1.0, 3.0, -1.0, 4.0])
        wide = npy.write(self.folder / "wide.npy", [1.0] * 12, shape=(4, 3))
        out = self.folder / "out.npy"
        for words, said in (
            (("--threads", 4, "--input", f"y={x}"), "fragment function 'f' has no input 'y'; it has x"),
            (("--threads", 4, "--input", f"x={x}", "--output", f"colour={out}"), "has no result 'colour'; it has color0, discarded"),
            (("--threads", 4, "--input", f"x={wide}"), "want an array of shape (n) in C's order"),
            (("--threads", 4, "--input", "x=i32[4]"), "want an array of f32, not of i32"),
            (("--threads", 8, "--input", f"x={x}"), "array 'x' has 16 bytes; 8 threads want float of 4 bytes each"),
            (("--threads", 3, "--input", f"x={x}"), "want multiples of 4"),
            (("--threads", "4,2", "--input", f"x={x}"), "want one dimension"),
            (("--threads", 4), "'x', which is not bound"),
            (("--threads", 4, "--input", "x"), "want NAME=ARG"),
        ):
            with self.subTest(words=words):
                result = smelt("run", self.package, "f", *words)
                self.assertIn(result.returncode, (1, 2))
                self.assertIn(said, result.stderr.decode())


if __name__ == "__main__":
    unittest.main()
