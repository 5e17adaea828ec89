# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Textures and samplers from Python: arrays as textures, smelt.Texture, smelt.Sampler."""

import inspect
import math
import struct
import unittest

import smelt

try:
    import numpy as np
except ImportError:
    raise unittest.SkipTest("SKIPPED: no NumPy") from None

SOURCE = """
#include <metal_stdlib>
using namespace metal;
kernel void scale(texture2d<float, access::read> from [[texture(0)]], constant float& by [[buffer(0)]],
                  texture2d<float, access::write> to [[texture(1)]], uint2 at [[thread_position_in_grid]]) {
  to.write(from.read(at) * by, at);
}
kernel void add(texture2d<uint, access::read_write> image [[texture(3)]], constant uint& much [[buffer(2)]],
                uint2 at [[thread_position_in_grid]]) {
  image.write(image.read(at) + much, at);
}
kernel void resize(texture2d<float> from [[texture(0)]], sampler by [[sampler(0)]],
                   texture2d<float, access::write> to [[texture(1)]], uint2 at [[thread_position_in_grid]]) {
  const float2 size = float2(to.get_width(), to.get_height());
  to.write(from.sample(by, (float2(at) + 0.5f) / size, level(1)), at);
}
kernel void sum(texture3d<float, access::read> volume [[texture(0)]], texture2d_array<float, access::read> pages [[texture(1)]],
                depth2d<float, access::read> far [[texture(2)]], texturecube<int, access::read> cube [[texture(3)]],
                device float* out [[buffer(0)]], uint at [[thread_position_in_grid]]) {
  out[0] = volume.read(uint3(1, 0, 1)).x;
  out[1] = pages.read(uint2(1, 0), 1).y;
  out[2] = far.read(uint2(0, 1));
  out[3] = cube.read(uint2(0), 5).x;
}
kernel void depths(texture1d<float, access::write> line [[texture(0)]], uint at [[thread_position_in_grid]]) {
  line.write(float4(at), at);
}
kernel void cells(texture3d<float, access::write> volume [[texture(0)]], uint3 at [[thread_position_in_grid]]) {
  volume.write(float4(at.z * 100 + at.y * 10 + at.x), at);
}
"""


class Picture:
    """Gives out its texels as PIL's images do: bytes, for the asking."""

    def __init__(self, array):
        self.__array_interface__ = {"version": 3, "shape": array.shape, "typestr": array.dtype.str, "data": array.tobytes()}


class Textures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lib = smelt.compile_shader(SOURCE)

    def test_arrays_are_textures(self):
        image = np.arange(2 * 3 * 4, dtype=np.float32).reshape(2, 3, 4)
        into = np.zeros_like(image)
        self.lib.scale(image, 2.0, into)  # in the order of the source; a thread for each texel of what is written
        assert (into == 2 * image).all()
        self.lib.scale(image, to=into, by=0.5)
        assert (into == image / 2).all()

    def test_elements_decide_the_format(self):
        random = np.random.default_rng(1)
        for dtype, most in [("uint8", 255), ("uint16", 65535), ("int8", 127), ("int16", 32767), ("float16", 1), ("float32", 1)]:
            for channels in (None, 1, 2, 4):
                with self.subTest(dtype=dtype, channels=channels):
                    shape = (3, 5) if channels is None else (3, 5, channels)
                    image = (random.random(shape) * most).astype(dtype)
                    exact = np.zeros((3, 5, 4), np.float32)
                    self.lib.scale(image, 1.0, exact)
                    count = channels or 1
                    wanted = np.zeros((3, 5, 4))
                    wanted[..., 3] = 1
                    wanted[..., :count] = image.reshape(3, 5, count).astype(np.float64) / most
                    assert np.allclose(exact, wanted, atol=1e-7)
                    back = np.zeros_like(image)
                    self.lib.scale(exact, 1.0, back)
                    assert (back == image).all()

    def test_integers_stay_integers(self):
        for dtype in (np.uint8, np.uint16, np.uint32):
            image = np.arange(6, dtype=dtype).reshape(2, 3)
            self.lib.add(image, 40)
            assert (image == np.arange(6).reshape(2, 3) + 40).all()

    def test_writes_saturate(self):
        """What a format cannot hold becomes the nearest that it can (Metal's specification, 8.7.6)."""
        values = [0, 1, 5, 127, 128, 200, 255, 256, 300, 1023, 1024, 32767, 32768, 65535, 65536, 70000, 2**31 - 1, 2**31, 2**32 - 1]
        unsigned = np.array(values * 5, np.uint32)
        signed = np.array([v - 2**32 if v >= 2**31 else v for v in values] + [-v for v in values[:17]] * 4, np.int32)
        for kind, numbers in (("uint", unsigned), ("int", signed), ("ushort", unsigned.astype(np.uint16)), ("short", signed.astype(np.int16))):
            lib = smelt.compile_shader(f"""#include <metal_stdlib>
            using namespace metal;
            kernel void put(texture2d<{kind}, access::write> t, device const {kind}* v, uint i [[thread_position_in_grid]]) {{
              t.write({kind}4(v[i]), uint2(i, 0));
            }}
            kernel void add(texture2d<{kind}, access::read_write> t, device const {kind}* v, uint i [[thread_position_in_grid]]) {{
              for (uint k = 0; k < 1; ++k) if (v[i] != 5) t.write(t.read(uint2(i, 0)) + {kind}4(v[i]), uint2(i, 0));
            }}
            """)
            letter = "u" if numbers.dtype.kind == "u" else ""
            for bits in (8, 16, 32):
                limits = np.iinfo(f"{letter}int{bits}")
                for name, channels in (("r", 1), ("rg", 2), ("rgba", 4)):
                    with self.subTest(kind, bits=bits, channels=channels):
                        texels = np.zeros((1, len(numbers), channels)[: 3 if channels > 1 else 2], limits.dtype)
                        texture = smelt.Texture(texels, format=f"{name}{bits}{letter or 's'}int")
                        lib.put(texture, numbers, threads=len(numbers))
                        wanted = np.clip(numbers.astype(np.int64), limits.min, limits.max)
                        assert (texels.reshape(len(numbers), channels) == wanted[:, None]).all()
                        texels[:] = 1
                        lib.add(texture, numbers, threads=len(numbers))
                        sums = (numbers + np.array(1, numbers.dtype)).astype(np.int64)
                        wanted = np.where(numbers == 5, 1, np.clip(sums, limits.min, limits.max))
                        assert (texels.reshape(len(numbers), channels) == wanted[:, None]).all()
            if letter:
                words = np.zeros((1, len(numbers)), np.uint32)
                lib.put(smelt.Texture(words, format="rgb10a2uint"), numbers, threads=len(numbers))
                ten = np.minimum(numbers, 1023).astype(np.uint32)
                assert (words[0] == (ten | ten << 10 | ten << 20 | np.minimum(numbers, 3).astype(np.uint32) << 30)).all()

    def test_views_with_rows_apart(self):
        whole = np.zeros((6, 8, 2), np.float32)
        whole[2:4, 3:6] = 1
        self.lib.scale(whole[2:4, 3:6], 3.0, whole[4:6, 1:4])
        assert whole.sum() == 2 * 3 * 2 * (1 + 3)
        assert (whole[4:6, 1:4] == 3).all()

    def test_types_by_their_shapes(self):
        volume = np.arange(2 * 2 * 2, dtype=np.float32).reshape(2, 2, 2)
        pages = np.arange(2 * 1 * 2 * 2, dtype=np.float32).reshape(2, 1, 2, 2)
        depth = np.array([[1, 2], [3, 4]], np.float32)
        cube = np.arange(6, dtype=np.int32).reshape(6, 1, 1)
        out = np.zeros(4, np.float32)
        self.lib.sum(volume, pages, depth, cube, out, threads=1)
        assert out.tolist() == [volume[1, 0, 1], pages[1, 0, 1, 1], 3, 5]
        line = np.zeros(5, np.float32)
        self.lib.depths(line)
        assert line.tolist() == [0, 1, 2, 3, 4]
        cells = np.zeros((2, 3, 4), np.float32)
        self.lib.cells(cells)
        assert all(cells[z, y, x] == z * 100 + y * 10 + x for z, y, x in np.ndindex(cells.shape))

    def test_a_texture_of_levels(self):
        image = np.array([[0, 100, 10, 10], [50, 50, 10, 13]], np.uint8)
        texture = smelt.Texture(image, mipmaps=True)
        assert (texture.format, texture.type, texture.levels, texture.width, texture.height) == ("r8unorm", "texture2d", 3, 4, 2)
        assert np.asarray(texture.level(1)).tolist() == [[50, 11]]  # to the nearest
        into = np.zeros((1, 2), np.uint8)
        self.lib.resize(texture, smelt.Sampler(mip_filter="nearest"), into)
        assert into.tolist() == [[50, 11]]
        np.asarray(texture.level(1))[0, 0] = 7
        self.lib.resize(texture, smelt.Sampler(mip_filter="nearest"), into)
        assert into.tolist() == [[7, 11]]
        self.lib.resize(texture, smelt.Sampler("mip_filter::none, filter::nearest"), into)
        assert into.tolist() == [[50, 13]]

    def test_a_texture_is_its_array(self):
        image = np.full((2, 2, 4), 188, np.uint8)
        texture = smelt.Texture(image, "rgba8unorm_srgb")
        into = np.zeros((2, 2, 4), np.float32)
        self.lib.scale(texture, 1.0, into)
        self.assertAlmostEqual(into[0, 0, 0], ((188 / 255 + 0.055) / 1.055) ** 2.4, places=5)
        assert into[0, 0, 3] == np.float32(188 / 255)
        self.lib.scale(np.ones((2, 2), np.float32), 1.0, texture)
        assert (image[..., 0] == 255).all() and (image[..., 1] == 0).all()
        packed = np.array([[0x3FF]], np.uint32)  # ten bits of red
        self.lib.scale(smelt.Texture(packed, "rgb10a2unorm"), 1.0, into)
        assert into[0, 0].tolist() == [1, 0, 0, 0]
        assert "rgb10a2unorm" in repr(smelt.Texture(packed, "rgb10a2unorm"))

    def test_blocks_are_a_texture(self):
        rows = b"".join(struct.pack("<HHI", end, 0x001F, 0x50505050) for end in (0xF800, 0x07E0))  # left halves red, green; right ones blue
        texture = smelt.Texture(rows, "bc1_rgba", width=7, height=3)
        assert (texture.format, texture.type, texture.width, texture.height, texture.levels) == ("bc1_rgba", "texture2d", 7, 3, 1)
        into = np.zeros((3, 7, 4), np.uint8)
        self.lib.scale(texture, 1.0, into)
        assert into[2].tolist() == [[255, 0, 0, 255]] * 2 + [[0, 0, 255, 255]] * 2 + [[0, 255, 0, 255]] * 2 + [[0, 0, 255, 255]]
        self.lib.resize(texture, smelt.Sampler(), into)
        assert into[0, 4].tolist() == [0, 255, 0, 255]
        assert np.asarray(texture.level(0)).tobytes() == rows and np.asarray(texture.level(0)).shape == (1, 2, 8)

    def test_blocks_change(self):
        blocks = np.zeros((2, 2, 2, 4), np.uint16)  # slices, rows, columns; BC4: two ends, the first for all texels
        blocks[1, :, :, 0] = 51
        texture = smelt.Texture(blocks, "bc4_runorm", type="texture3d", width=8, height=8, depth=2)
        into = np.zeros((1, 1), np.float32)
        read = smelt.compile_shader("""
            #include <metal_stdlib>
            using namespace metal;
            kernel void read(texture3d<float, access::read> from, texture2d<float, access::write> to) { to.write(from.read(uint3(7, 7, 1)), uint2(0)); }
        """)
        read.read(texture, into)
        assert into[0, 0] == np.float32(0.2)
        blocks[1, 1, 1, 0] = 255
        read.read(texture, into)
        assert into[0, 0] == 1

    def test_levels_of_blocks(self):
        blocks = b"".join(bytes([0, 0xF8, 0, 0, 0, 0, 0, 0]) if level == 1 else bytes(8) for level in (0, 0, 0, 0, 1, 2, 3))  # 8 x 8, 4 x 4, 2 x 2, 1 x 1
        texture = smelt.Texture(blocks, "bc1_rgba_srgb", width=8, height=8, levels=4)
        into = np.zeros((4, 4, 4), np.uint8)
        self.lib.resize(texture, smelt.Sampler("lod_clamp(1, 1), mip_filter::nearest"), into)
        assert (into == [255, 0, 0, 255]).all()

    def test_astc(self):
        block = bytes.fromhex("fcfdffffffffffff") + struct.pack("<4H", 65535, 0, 51 * 257, 65535)  # of one colour
        try:
            texture = smelt.Texture(block * 2, "astc_6x5_ldr", width=12, height=5)
        except smelt.Error as error:
            assert "Debian 13: libastcenc5d, Debian 12: libastcenc3d" in str(error)
            self.skipTest(str(error))
        into = np.zeros((5, 12, 4), np.uint8)
        self.lib.scale(texture, 1.0, into)
        assert (into == [255, 0, 51, 255]).all()

    def test_refused_blocks(self):
        for words, arguments, given in (
            ("want width= and height=", ("bc1_rgba",), {}),
            ("8 x 8 with 1 levels and 1 slices is 32 bytes of blocks, the memory has 8", ("bc1_rgba",), {"width": 8, "height": 8}),
            ("bc7_rgbaunorm .152.: nothing here decodes its blocks on the CPU, and no library of Debian does; want astc_4x4_ldr", ("bc7_rgbaunorm",), {}),
            ("sizes are for compressed formats", ("r8unorm",), {"width": 8, "height": 1}),
            ("mipmaps of the compressed format bc1_rgba", ("bc1_rgba",), {"width": 4, "height": 4, "mipmaps": True}),
            ("a texture1d of the compressed format", ("bc1_rgba",), {"width": 4, "height": 1, "type": "texture1d"}),
        ):
            with self.subTest(words), self.assertRaisesRegex(smelt.Error, words):
                smelt.Texture(bytes(8), *arguments, **given)
        with self.assertRaisesRegex(smelt.Error, "do not lie in order"):
            smelt.Texture(np.zeros((8, 2), np.uint8)[:, 0], "bc1_rgba", width=4, height=4)
        texture = smelt.Texture(bytes(8), "bc1_rgba", width=4, height=4)
        with self.assertRaisesRegex(smelt.Error, "'to'.*has the compressed format bc1_rgba, which kernels read and sample but cannot write"):
            self.lib.scale(np.zeros((4, 4), np.float32), 1.0, texture)

    def test_the_array_stays_while_its_texture_does(self):
        texture = smelt.Texture(np.full((1, 1), 0.5, np.float32))
        np.zeros((1000, 1000), np.float32)  # would reuse what was freed
        into = np.zeros((1, 1), np.float32)
        self.lib.scale(texture, 1.0, into)
        assert into[0, 0] == 0.5

    def test_pictures(self):
        image = np.arange(2 * 2 * 4, dtype=np.uint8).reshape(2, 2, 4)
        into = np.zeros_like(image)
        self.lib.scale(Picture(image), 1.0, into)
        assert (into == image).all()
        with self.assertRaisesRegex(smelt.ArgumentError, "'to'.*is read-only.*numpy.array"):
            self.lib.scale(image, 1.0, Picture(image))
        with self.assertRaisesRegex(smelt.ArgumentError, "three channels; add a fourth"):
            self.lib.scale(Picture(image[..., :3]), 1.0, into)

    def test_samplers(self):
        image = np.array([[0, 4]], np.float32)
        into = np.zeros((1, 4), np.float32)
        self.lib.resize(image, smelt.Sampler(filter="linear", address="repeat"), into)
        assert into.tolist() == [[1, 1, 3, 3]]
        self.lib.resize(image, smelt.Sampler(filter="linear"), into)
        assert into.tolist() == [[0, 1, 3, 4]]
        self.lib.resize(image, smelt.Sampler("address::clamp_to_edge", max_anisotropy=2, lod_clamp=(0, math.inf)), into)
        assert into.tolist() == [[0, 0, 4, 4]]
        with self.assertRaisesRegex(smelt.Error, "'cubic' is not a value of filter; want nearest, linear"):
            smelt.Sampler(filter="cubic")
        with self.assertRaisesRegex(smelt.Error, "from 2 to 1"):
            smelt.Sampler(lod_clamp=(2, 1))

    def test_what_does_not_fit_is_said(self):
        image, into = np.zeros((2, 2), np.float32), np.zeros((2, 2), np.float32)
        wrong = [
            (image.astype(np.float64), "argument 0 'from'.*float64.*astype"),
            (image.astype(np.int64), "2 x 2 of int64: want elements of float32, float16, uint8"),
            (image.astype(bool), "of bool: want elements"),
            (np.zeros((2, 2, 3), np.uint8), "three channels; add a fourth"),
            (np.zeros((2, 2, 5), np.uint8), "1, 2 or 4 channels"),
            (np.zeros((2, 2, 2, 2), np.uint8), "want height x width, or height x width x channels"),
            (np.zeros(4, np.uint8), "for a texture2d: want height x width"),
            (np.zeros((0, 2), np.uint8), "must be from 1"),
            (image[:, ::-1], "negative stride"),
            (np.zeros((4, 4), np.float32)[:, ::2], "does not lie in order"),
            (np.zeros((4, 4), np.float32).T[:2], "does not lie in order"),
            (np.broadcast_to(np.float32(1), (2, 2)), "does not lie in order"),
            (3.0, "want a smelt.Texture or an array"),
            (None, "None is for an argument that a function constant removes"),
            (smelt.Texture(np.zeros((2, 2), np.uint32)), "has the pixel format r32uint"),
            (smelt.Texture(np.zeros((2, 2), np.float32), type="texture1d_array"), "is a texture1d_array"),
        ]
        for value, words in wrong:
            with self.assertRaisesRegex(smelt.Error, words):
                self.lib.scale(value, 1.0, into)
        frozen = np.zeros((2, 2), np.float32)
        frozen.flags.writeable = False
        self.lib.scale(frozen, 1.0, into)
        with self.assertRaisesRegex(smelt.ArgumentError, "'to'.*is read-only"):
            self.lib.scale(image, 1.0, frozen)
        with self.assertRaisesRegex(smelt.ArgumentError, "want a smelt.Sampler, got"):
            self.lib.resize(image, "linear", into)
        with self.assertRaisesRegex(smelt.Error, "texture 1 'to', which is not bound"):
            self.lib.scale(image, 1.0, threads=(2, 2))
        with self.assertRaisesRegex(smelt.Error, "texture 0 'from', which is not bound"):
            self.lib.scale(by=1.0, to=into)
        with self.assertRaisesRegex(smelt.Error, "has 3 arguments, the call passes 4"):
            self.lib.scale(image, 1.0, into, 5)
        with self.assertRaisesRegex(TypeError, "no argument 'into'; it takes from, by, to"):
            self.lib.scale(image, 1.0, into=into)
        with self.assertRaisesRegex(TypeError, "argument 0 'from' by position and by name"):
            self.lib.scale(image, **{"from": image})
        with self.assertRaisesRegex(smelt.Error, "writes to no texture from which to count"):
            one = np.zeros((1, 1, 1), np.float32)
            self.lib.sum(one, one, image, np.zeros((6, 1, 1), np.int32), np.zeros(4, np.float32))
        with self.assertRaisesRegex(smelt.Error, "argument 1 'by'"):
            self.lib.scale(image, [1.0, 2.0, "x"], into)

    def test_checked_code(self):
        lib = smelt.compile_shader(
            """#include <metal_stdlib>
            using namespace metal;
            kernel void next(texture2d<float, access::read> from, texture2d<float, access::write> to, uint2 at [[thread_position_in_grid]]) {
              to.write(from.read(at + uint2(1, 0)), at);
            }
            kernel void before(texture2d<float, access::write> to, uint2 at [[thread_position_in_grid]]) { to.write(1, at - uint2(0, 1)); }
            kernel void slice(texture2d_array<float, access::read> from, texture1d<float, access::write> to, uint at [[thread_position_in_grid]]) {
              to.write(from.read(uint2(at, 0), at), at);
            }
            kernel void rows(texture2d<uint, access::read_write> to, uint2 at [[thread_position_in_grid]]) { to.write(at.x, uint2(0, at.y)); }
            kernel void turned(texture2d<float, access::read_write> to, uint at [[thread_position_in_grid]]) {
              const float4 mine = to.read(uint2(at, 0));
              threadgroup_barrier(mem_flags::mem_texture);
              to.write(mine, uint2(to.get_width() - 1 - at, 0));
            }
            kernel void soft(texture2d<float> from, sampler by, texture2d<float, access::write> to, uint2 at [[thread_position_in_grid]]) {
              to.write(from.sample(by, float2(at) * 5 - 3), at);
            }""",
            checked=True,
        )
        image, into = np.ones((2, 3), np.float32), np.zeros((2, 3), np.float32)
        lib.next(image, into, threads=(2, 2))
        assert into.tolist() == [[1, 1, 0], [1, 1, 0]]
        with self.assertRaisesRegex(smelt.BoundsError, r"thread \(2, 0, 0\) reads a texel at x 3, y 0 outside of texture 0 'from' of 3 x 2 x 1"):
            lib.next(image, into, threads=(3, 1))
        with self.assertRaisesRegex(smelt.BoundsError, r"writes a texel at x 0, y -1 outside of texture 0 'to'"):
            lib.before(into, threads=(1, 1))
        pages = np.arange(2 * 1 * 3, dtype=np.float32).reshape(2, 1, 3)
        line = np.zeros(3, np.float32)
        lib.slice(pages, line, threads=2)
        assert line.tolist() == [0, 4, 0]
        with self.assertRaisesRegex(smelt.BoundsError, r"reads a texel at x 2, y 0 outside of texture 0 'from' of 3 x 1 x 2"):
            lib.slice(pages, line)
        with self.assertRaisesRegex(smelt.RaceError, r"race on texture 0 'to'\[0\]: .* writes at .*:10:"):
            lib.rows(np.zeros((2, 3), np.uint32), threads=(2, 2))
        lib.rows(np.zeros((2, 3), np.uint32), threads=(1, 2))
        line = np.array([[1, 2, 3, 4]], np.float32)
        lib.turned(line, threads=4)
        assert line.tolist() == [[4, 3, 2, 1]]
        lib.soft(image, smelt.Sampler(address="repeat"), into)
        assert (into == 1).all()

    def test_textures_that_cannot_be(self):
        with self.assertRaisesRegex(smelt.UnsupportedError, "the CPU does not support pixel format 'bc1'"):
            smelt.Texture(np.zeros((2, 2), np.uint8), "bc1")
        with self.assertRaisesRegex(smelt.Error, "2 x 2 of uint8 as rgba8unorm: want uint8 with 4 channels"):
            smelt.Texture(np.zeros((2, 2), np.uint8), "rgba8unorm")
        with self.assertRaisesRegex(smelt.Error, "say which type"):
            smelt.Texture(np.zeros((2, 2, 7), np.uint8))
        with self.assertRaisesRegex(smelt.Error, "'image' is not a type"):
            smelt.Texture(np.zeros((2, 2), np.uint8), type="image")
        with self.assertRaisesRegex(smelt.UnsupportedError, "mipmaps of the pixel format r32uint"):
            smelt.Texture(np.zeros((2, 2), np.uint32), mipmaps=True)

    def test_signatures_name_them(self):
        signature = inspect.signature(self.lib.scale)
        assert list(signature.parameters)[:3] == ["texture_0", "by", "to"]  # "from" is a word of Python's
        assert signature.parameters["to"].annotation == "texture2d<float, write>"
        assert "1  by: constant float*" in self.lib.scale.__doc__ and "0  from: texture2d<float, read>" in self.lib.scale.__doc__
        assert list(inspect.signature(self.lib.add).parameters)[:2] == ["image", "much"]

    def test_in_an_argument_buffer(self):
        lib = smelt.compile_shader("""
            #include <metal_stdlib>
            using namespace metal;
            struct Inner { texture2d<float, access::read> image; float gain; };
            struct Images {
              texture2d<float> from [[id(0)]]; sampler by [[id(1)]]; float gain [[id(2)]]; device float4* out [[id(3)]];
              array<texture2d<float>, 2> more [[id(4)]]; texture2d<float, access::write> to [[id(6)]];
              const device float* weights [[id(7)]]; Inner inner [[id(8)]];
            };
            kernel void all(constant Images& images, uint i [[thread_position_in_grid]]) {
              float4 v = images.from.sample(images.by, float2(2.5f, 0.5f)) * images.gain + images.more[i & 1].read(uint2(0, 0));
              v += images.weights[i] + images.inner.image.read(uint2(0, 0)) * images.inner.gain;
              images.out[i] = v;
              if (!is_null_texture(images.to)) images.to.write(v / 100.0f, uint2(i, 0));
            }""")  # fmt: skip
        one, two = (smelt.Texture(np.full((2, 2, 4), value, np.float32)) for value in (1, 2))
        ramp = np.repeat(np.arange(4, dtype=np.float32), 4).reshape(1, 4, 4)
        out, weights, to = np.zeros((4, 4), np.float32), np.arange(4, dtype=np.float32), np.zeros((1, 4, 4), np.float32)
        frozen = weights.copy()
        frozen.setflags(write=False)
        given = {
            "from": smelt.Texture(ramp), "by": smelt.Sampler(address="repeat"), "gain": 10.0, "out": out, "more": [one, two],
            "to": smelt.Texture(to), "weights": frozen, "inner": {"image": two, "gain": 0.5},
        }  # fmt: skip
        lib.all(given, threads=4)
        wanted = 10 * 2 + np.array([1, 2, 1, 2]) + weights + 1  # the texel at 2.5 of 0 to 1 again and again is texel 2
        self.assertEqual(out[:, 0].tolist(), wanted.tolist())
        np.testing.assert_allclose(to[0, :, 1], wanted / 100, rtol=1e-6)
        lib.all(given | {"to": None, "from": None}, threads=4)
        self.assertEqual(out[:, 0].tolist(), (wanted - 20).tolist())
        packed = np.zeros(4, np.float32)
        for name, value, error, says in (
            ("from", ramp, smelt.ArgumentError, r"'from'.*want a smelt.Texture or None, got"),
            ("by", one, smelt.ArgumentError, r"'by'.*want a smelt.Sampler or None"),
            ("from", smelt.Texture(np.zeros((2, 2), np.int32)), smelt.ArgumentError, r"'from'.*texture2d<float, sample>"),
            ("more", [one], smelt.ArgumentError, r"'more': want 2 values"),
            ("more", [one, 3], smelt.ArgumentError, r"'more'\[1\]: want a smelt.Texture"),
            ("out", frozen, smelt.ArgumentError, r"'out'.*may write"),
            ("out", 5, smelt.ArgumentError, r"'out'.*want an array"),
        ):
            with self.subTest(name, says=says), self.assertRaisesRegex(error, says):
                lib.all(given | {name: value}, threads=4)
        with self.assertRaisesRegex(smelt.ArgumentError, "no member 'form'"):
            lib.all(given | {"form": packed}, threads=4)


if __name__ == "__main__":
    unittest.main()
