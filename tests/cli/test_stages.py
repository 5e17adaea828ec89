# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of other stages through the commands: .metal to .air to .metallib, and a library read again."""

import unittest

from smelt_cli import CliTest

SOURCE = """#include <metal_stdlib>
#include <SwiftUI/SwiftUI_Metal.h>
using namespace metal;
[[stitchable]] half4 shift(float2 p, SwiftUI::Layer layer, float by) { return layer.sample(p + by); }
[[stitchable]] float2 move(float2 p, float by) { return p + by; }
[[visible]] float square(float x) { return x * x; }
struct V { float4 p [[position]]; };
[[mesh]] void m(mesh<V, void, 3, 1, topology::triangle> out) { out.set_primitive_count(0); }
[[object]] void o(mesh_grid_properties grid) { grid.set_threadgroups_per_grid(uint3(1)); }
struct C { float4 p [[attribute(0)]]; };
[[patch(quad, 4)]] vertex float4 v(patch_control_point<C> c [[stage_in]]) { return c[0].p; }
kernel void k(device float* x [[buffer(0)]]) { x[0] = square(x[1]); }
"""
KINDS = {"k": "kernel", "m": "mesh", "move": "visible", "o": "object", "shift": "visible", "square": "visible", "v": "vertex"}
# Of each type that a function has: load, store, destroy, copy.
STITCHING = {"shift": 16, "move": 8}


class StagesTest(CliTest):
    def setUp(self):
        super().setUp()
        self.source = self.folder / "s.metal"
        self.source.write_text(SOURCE)

    def kinds(self, library):
        lines = self.succeed("inspect", library).decode().splitlines()
        return {line.split()[1].rstrip(":"): line.split()[0] for line in lines if ": AIR " in line}

    def check(self, library):
        self.assertEqual(self.kinds(library), KINDS)
        self.succeed("verify", library)
        for name in KINDS:
            text = self.succeed("disasm", library, name).decode()
            self.assertEqual(text.count("\ndefine internal "), STITCHING.get(name, 0), name)

    def test_at_once(self):
        self.succeed("compile", self.source, "-o", self.folder / "s.metallib")
        self.check(self.folder / "s.metallib")

    def test_what_inspect_says_of_a_patch(self):
        self.succeed("compile", self.source, "-o", self.folder / "s.metallib")
        lines = self.succeed("inspect", self.folder / "s.metallib").decode().splitlines()
        at = lines.index(next(line for line in lines if line.startswith("vertex v: ")))
        self.assertEqual(
            [line.rstrip() for line in lines[at + 1 : at + 5]],
            [
                "  0  patch_control_point_input",
                "  -> position         float4",
                "  attribute 0         p: float4, of control points",
                "  patch of a quad, 4 control points",
            ],
        )

    def test_through_an_object(self):
        self.succeed("toolchain-tool", "metal", "-c", self.source, "-o", self.folder / "s.air")
        self.succeed("toolchain-tool", "metallib", self.folder / "s.air", "-o", self.folder / "s.metallib")
        self.check(self.folder / "s.metallib")

    def test_a_library_again(self):
        self.succeed("compile", self.source, "-o", self.folder / "s.metallib")
        self.succeed("compile", self.folder / "s.metallib", "-o", self.folder / "t.metallib")
        self.check(self.folder / "t.metallib")


if __name__ == "__main__":
    unittest.main()
