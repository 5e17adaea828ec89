# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Vertex and fragment functions from Python: arrays by name, a dict of arrays back."""

import inspect
import pathlib
import tempfile
import unittest

import smelt

try:
    import numpy as np
except ImportError:
    raise unittest.SkipTest("SKIPPED: no NumPy") from None

SOURCE = """
#include <metal_stdlib>
using namespace metal;
struct Corner { float2 place [[attribute(0)]]; half3 tint [[attribute(1)]]; };
struct Shaded { float4 position [[position]]; half3 tint; uint id [[flat]]; };
vertex Shaded corner(Corner in [[stage_in]], constant float4x4& view [[buffer(1)]], uint id [[vertex_id]], uint instance [[instance_id]]) {
  return {view * float4(in.place, 0, 1), in.tint, id + 100 * instance};
}
struct Out { half4 colour [[color(0)]]; float slope [[color(1)]]; };
fragment Out colour(Shaded in [[stage_in]], bool front [[front_facing]], texture2d<float> image [[texture(0)]], sampler by [[sampler(0)]],
                    device uint* seen [[buffer(0)]]) {
  if (in.id == 3) discard_fragment();
  seen[in.id] = 1;
  return {half4(in.tint, front ? 1 : 0.5h), dfdx(float(in.tint.x)) + image.sample(by, float2(0.5)).x};
}
kernel void twice(device float* x, uint i [[thread_position_in_grid]]) { x[i] *= 2; }
"""


class StageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.library = smelt.compile_shader(SOURCE, store=False)

    def shade(self, **more):
        tint = np.arange(24, dtype=np.float16).reshape(8, 3)
        values = {"tint": tint, "id": np.arange(8, dtype=np.uint32), "seen": np.zeros(8, np.uint32),
                  "image": smelt.Texture(np.full((2, 2), 0.25, np.float32)), "by": smelt.Sampler()}  # fmt: skip
        return values | more, self.library.colour(**(values | more))

    def test_a_vertex_function(self):
        view = np.diag([2, 3, 1, 1]).astype(np.float32)
        place = np.array([[1, 1], [2, 0], [0, 5]], np.float32)
        made = self.library.corner(place=place, tint=np.ones((3, 3), np.float16), view=view)
        self.assertEqual(list(made), ["position", "tint", "id"])
        np.testing.assert_array_equal(made["position"], [[2, 3, 0, 1], [4, 0, 0, 1], [0, 15, 0, 1]])
        self.assertEqual((made["tint"].dtype, made["tint"].shape), (np.float16, (3, 3)))
        np.testing.assert_array_equal(made["id"], [0, 1, 2])
        # One element for all, Python's own numbers, and ids of one's own.
        made = self.library.corner(place=[[1, 1], [2, 0]], tint=[1, 2, 3], view=view, id=np.uint32([7, 8]), instance=2)
        np.testing.assert_array_equal(made["id"], [207, 208])
        np.testing.assert_array_equal(made["tint"], [[1, 2, 3], [1, 2, 3]])

    def test_a_fragment_function(self):
        values, made = self.shade()
        self.assertEqual(list(made), ["colour", "slope", "discarded"])
        np.testing.assert_array_equal(made["discarded"], [False] * 3 + [True] + [False] * 4)
        np.testing.assert_array_equal(values["seen"], [1, 1, 1, 0, 1, 1, 1, 1])
        np.testing.assert_array_equal(made["slope"], [3.25] * 3 + [0] + [3.25] * 4)
        np.testing.assert_array_equal(made["colour"][:, 3], [1, 1, 1, 0, 1, 1, 1, 1])
        _, made = self.shade(front=False)
        self.assertEqual(made["colour"][0, 3], 0.5)

    def test_a_discarded_fragment_changes_no_texture(self):
        library = smelt.compile_shader(
            """
            #include <metal_stdlib>
            using namespace metal;
            struct In { uint id [[user(id)]] [[flat]]; };
            fragment float4 count(In in [[stage_in]], texture2d<uint, access::read_write> counts [[texture(0)]]) {
              if (in.id == 3) discard_fragment();
              counts.atomic_fetch_add(uint2(0), 1u);
              return 1;
            }""",
            store=False,
        )
        counts = np.zeros((1, 1), np.uint32)
        made = library.count(id=np.arange(8, dtype=np.uint32), counts=counts)
        self.assertEqual((counts[0, 0], made["discarded"].sum()), (7, 1))

    def test_from_a_package(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "x.smelt"
            smelt.compile(SOURCE, store=False).save(path)
            library = smelt.load_metallib(path, store=False)
            made = library.corner(place=np.ones((4, 2), np.float32), tint=np.ones((4, 3), np.float16), view=np.eye(4, dtype=np.float32))
            np.testing.assert_array_equal(made["position"], [[1, 1, 0, 1]] * 4)
            self.assertEqual(smelt.function_info(library, "corner").kind, "vertex")
            self.assertTrue(smelt.function_info(library, "colour").usable)
            x = np.ones(4, np.float32)
            library.twice(x)
            np.testing.assert_array_equal(x, [2] * 4)

    def test_checked(self):
        library = smelt.compile_shader(SOURCE, store=False, checked=True)
        with self.assertRaises(smelt.BoundsError) as caught:
            library.colour(tint=[1, 1, 1], id=np.uint32([0, 1, 2, 9]), seen=np.zeros(4, np.uint32), image=smelt.Texture(np.zeros((1, 1), np.float32)),
                           by=smelt.Sampler())  # fmt: skip
        self.assertIn("seen", str(caught.exception))

    def test_what_is_refused(self):
        good = {"place": np.zeros((4, 2), np.float32), "tint": np.zeros((4, 3), np.float16), "view": np.eye(4, dtype=np.float32)}
        for wrong, kind, said in (
            ({"place": np.zeros((4, 3), np.float32)}, smelt.ArgumentError, "'place' is float2: want shape (n, 2), got (4, 3)"),
            ({"place": np.zeros((4, 2), np.int64)}, None, ""),
            ({"id": np.zeros(4, np.float32)}, smelt.ArgumentError, "'id' is uint, and the call passes float32"),
            ({"tint": np.zeros((3, 3), np.float16)}, smelt.ArgumentError, "'tint' has 3 elements, the call has 4"),
            ({"tnt": 1}, TypeError, "no argument 'tnt'; it takes view, place, tint, id, instance, threads"),
        ):
            with self.subTest(wrong=list(wrong)):
                if kind is None:
                    self.library.corner(**(good | wrong))
                    continue
                with self.assertRaises(kind) as caught:
                    self.library.corner(**(good | wrong))
                self.assertIn(said, str(caught.exception))
        with self.assertRaisesRegex(TypeError, "by name"):
            self.library.corner(good["place"])
        with self.assertRaisesRegex(TypeError, "'corner' needs tint"):
            self.library.corner(place=good["place"], view=good["view"])
        with self.assertRaisesRegex(smelt.ArgumentError, "multiples of 4, since 4 threads are a quad"):
            self.shade(tint=[1, 1, 1], id=np.zeros(6, np.uint32))
        with self.assertRaisesRegex(smelt.ArgumentError, "no input has a length"):
            self.library.corner(place=[0, 0], tint=[0, 0, 0], view=good["view"])

    def test_what_editors_are_told(self):
        self.assertEqual(list(inspect.signature(self.library.corner).parameters), ["view", "place", "tint", "id", "instance", "threads"])
        self.assertIn("-> position: float4", self.library.corner.__doc__)
        self.assertEqual(self.library.corner.kind, "vertex")
        self.assertEqual(self.library.twice.kind, "kernel")


if __name__ == "__main__":
    unittest.main()
