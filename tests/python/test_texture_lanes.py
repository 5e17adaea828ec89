# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Texels of 32 threads in one call are those of each thread by itself: checked code goes thread by thread, and must give
the same bits, whatever lanes take part and wherever they look. Code of balanced effort has a copy for RGBA bytes."""

import unittest

import smelt

try:
    import numpy as np
except ImportError:
    raise unittest.SkipTest("SKIPPED: no NumPy") from None

SOURCE = """
#include <metal_stdlib>
using namespace metal;
struct Place { float x, y; int column, row; uint kind; };

kernel void reads(texture2d<float, access::read> from, device const Place* places, device float4* out,
                  uint i [[thread_position_in_grid]]) {
  const Place p = places[i];
  float4 value = -7.0f;
  if (p.kind != 2) value = from.read(uint2(p.column, p.row));
  for (uint k = 0; k < p.kind; ++k) value += from.read(uint2(p.column + int(k), p.row)) * 0.5f;
  out[i] = value;
}
kernel void rows(texture2d<float, access::read> from, device float4* out, constant uint2& begin,
                 uint2 at [[thread_position_in_grid]], uint2 size [[threads_per_grid]]) {
  out[at.y * size.x + at.x] = from.read(at + begin);
}
kernel void writes(texture2d<float, access::write> to, device const Place* places, device const float4* values,
                   uint i [[thread_position_in_grid]]) {
  if (places[i].kind != 2) to.write(values[i], uint2(places[i].column, places[i].row));
}
kernel void samples(texture2d<float> from, sampler by, device const Place* places, device float4* out,
                    uint i [[thread_position_in_grid]]) {
  const Place p = places[i];
  float4 value = -7.0f;
  if (p.kind != 2) value = from.sample(by, float2(p.x, p.y));
  if (p.kind == 1) value += from.sample(by, float2(p.y, p.x), level(0.7f));
  out[i] = value;
}
kernel void pages(texture2d_array<float, access::read> from, device const Place* places, device float4* out,
                  uint i [[thread_position_in_grid]]) {
  const Place p = places[i];
  out[i] = from.read(uint2(p.column, p.row), p.kind) + from.read(uint2(p.column, p.row), 1);
}
kernel void gathers(texture2d<float> from, sampler by, device const Place* places, device float4* out,
                    uint i [[thread_position_in_grid]]) {
  float4 value = from.gather(by, float2(places[i].x, places[i].y), int2(0), component::y);
  if (places[i].kind != 0) value += float(from.get_width()) + from.get_height(places[i].kind);
  out[i] = value;
}
"""
PLACE = np.dtype([("x", "f4"), ("y", "f4"), ("column", "i4"), ("row", "i4"), ("kind", "u4")])
WIDTH, HEIGHT, COUNT = 37, 21, 500  # no multiple of a SIMD group, and groups in part
FORMATS = {
    "rgba8unorm": (np.uint8, 4), "bgra8unorm": (np.uint8, 4), "r8unorm": (np.uint8, 1), "rg8unorm": (np.uint8, 2),
    "rgba8unorm_srgb": (np.uint8, 4), "rgba16float": (np.float16, 4), "r16float": (np.float16, 1), "rgba16unorm": (np.uint16, 4),
    "rgba32float": (np.float32, 4), "r32float": (np.float32, 1), "rg32float": (np.float32, 2), "a8unorm": (np.uint8, 1),
}  # fmt: skip


def picture(kind, channels, random, layers=()):
    shape = (*layers, HEIGHT, WIDTH, channels) if channels > 1 else (*layers, HEIGHT, WIDTH)
    if kind in (np.uint8, np.uint16):
        return random.integers(0, np.iinfo(kind).max + 1, shape).astype(kind)
    values = random.standard_normal(shape).astype(kind)
    values.reshape(-1)[::97] = np.inf
    values.reshape(-1)[5::101] = np.nan
    return values


class TextureLanes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.fast = smelt.compile_shader(SOURCE, cpu_effort="fast")
        cls.balanced = smelt.compile_shader(SOURCE, cpu_effort="balanced")
        cls.slow = smelt.compile_shader(SOURCE, checked="memory")

    def setUp(self):
        self.random = np.random.default_rng(3)
        places = np.zeros(COUNT, PLACE)
        for name in "xy":
            places[name] = self.random.uniform(-1.5, 2.5, COUNT)
            places[name][:3] = np.nan, np.inf, -1e30
        # Inside: an access outside stops checked code.
        places["column"] = self.random.integers(0, WIDTH - 2, COUNT)
        places["column"][64:200] = np.arange(136) % (WIDTH - 2)
        places["row"] = self.random.integers(0, HEIGHT, COUNT)
        places["row"][64:200] = 5
        places["kind"] = self.random.integers(0, 3, COUNT)
        places["kind"][64:128] = 0
        self.places = places

    def both(self, name, arguments, out):
        """What all ways write to `out`, bit for bit; returns it."""
        results = []
        for lib in (self.slow, self.fast, self.balanced):
            into = out.copy()
            getattr(lib, name)(*[into if one is out else one for one in arguments(into)], threads=COUNT)
            results.append(into)
        wanted = results[0]
        for effort, got in zip(("fast", "balanced"), results[1:]):
            different = np.flatnonzero((got.view(np.uint8) != wanted.view(np.uint8)).reshape(len(got), -1).any(1))[:5]
            assert different.size == 0, f"{name}, {effort}: {different}: {got[different]} {wanted[different]}"
        return wanted

    def test_reads_and_writes_of_every_format(self):
        for name, (kind, channels) in FORMATS.items():
            with self.subTest(name):
                array = picture(kind, channels, self.random)
                texture = smelt.Texture(array, format=name)
                got = self.both("reads", lambda into, t=texture: (t, self.places, into), np.zeros((COUNT, 4), np.float32))
                first = got[:, 3 if name == "a8unorm" else 0]
                assert (first[self.places["kind"] == 2] != -7).any() and len(np.unique(first)) > 3, name
                values = self.random.uniform(-0.5, 1.5, (COUNT, 4)).astype(np.float32)
                values[7], values[8], values[9] = np.nan, np.inf, -np.inf
                # Two lanes to one texel: which one is last is nobody's promise.
                apart = self.places.copy()
                cells = self.random.permutation(WIDTH * HEIGHT)[:COUNT]
                cells[64:160] = np.arange(96) + WIDTH  # side by side
                cells = np.unique(cells)
                apart["column"][: len(cells)], apart["row"][: len(cells)] = cells % WIDTH, cells // WIDTH
                apart["kind"][len(cells) :] = 2
                self.both("writes", lambda into, n=name: (smelt.Texture(into, format=n), apart, values), array)

    def test_rows_and_what_lies_outside(self):
        array = picture(np.uint8, 4, self.random)
        whole = np.zeros((HEIGHT + 4, 64, 4), np.float32)
        whole[: HEIGHT - 2, : WIDTH - 3] = array[2:, 3:] / np.float32(255)
        for lib in (self.fast, self.balanced):
            out = np.zeros(((HEIGHT + 4) * 64, 4), np.float32)
            lib.rows(array, out, np.array([3, 2], np.uint32), threads=(64, HEIGHT + 4))
            assert (out.reshape(whole.shape) == whole).all()

    def test_samples_by_every_address_and_filter(self):
        for name in ("rgba8unorm", "r8unorm", "rgba16float", "rgba32float", "rg8unorm"):
            kind, channels = FORMATS[name]
            array = picture(kind, channels, self.random)
            array = np.nan_to_num(array, posinf=2, neginf=-2) if kind != np.uint8 else array
            for mipmaps in (False, True) if name == "rgba8unorm" else (False,):
                texture = smelt.Texture(array, format=name, mipmaps=mipmaps)
                for address in ("clamp_to_edge", "clamp_to_zero", "repeat", "mirrored_repeat"):
                    for how in ({"filter": "linear"}, {"filter": "nearest"}, {"filter": "linear", "mip_filter": "linear"},
                                {"mag_filter": "linear", "min_filter": "nearest"}):  # fmt: skip
                        with self.subTest(name, address=address, how=how, mipmaps=mipmaps):
                            by = smelt.Sampler(address=address, **how)
                            self.both("samples", lambda into, t=texture, b=by: (t, b, self.places, into),
                                      np.zeros((COUNT, 4), np.float32))  # fmt: skip

    def test_samples_side_by_side(self):
        """Groups of 32 lanes along a row, closer than texels and farther, forwards and backwards, over every edge."""
        lane, group = np.arange(COUNT) % 32, np.arange(COUNT) // 32
        self.places["kind"] = 0
        for name in ("rgba8unorm", "bgra8unorm", "r8unorm", "rgba32float", "rgba16float"):
            kind, channels = FORMATS[name]
            for width in (20, 32, 67):
                array = self.random.uniform(0, 255, (HEIGHT, width, 4)[: 3 if channels > 1 else 2]).astype(kind)
                texture = smelt.Texture(array, format=name)
                for address in ("clamp_to_edge", "clamp_to_zero", "repeat", "mirrored_repeat"):
                    for coordinates in ("normalized", "pixel"):
                        if coordinates == "pixel" and "repeat" in address:
                            continue
                        by = smelt.Sampler(filter="linear", address=address, coord=coordinates)
                        size = (width, HEIGHT) if coordinates == "normalized" else (1, 1)
                        for scale in (0.0, 0.3, 1.0, 1.9, 2.0, 2.4, -0.7):
                            with self.subTest(name, width=width, address=address, by=coordinates, scale=scale):
                                begin = self.random.uniform(-40, width, group[-1] + 1)
                                begin[0], begin[1], begin[2] = 0.5, 3e9, -3e9
                                row = self.random.uniform(-2, HEIGHT + 2, group[-1] + 1)
                                self.places["x"] = (begin[group] + scale * lane) / size[0]
                                self.places["y"] = row[group] / size[1]
                                self.places["y"][64:96] = np.nan
                                self.places["x"][100] = np.nan
                                got = self.both("samples", lambda into, t=texture, b=by: (t, b, self.places, into),
                                                np.zeros((COUNT, 4), np.float32))  # fmt: skip
                                assert np.isfinite(got).all()

    def test_layers_and_what_goes_lane_by_lane(self):
        pages = picture(np.uint8, 4, self.random, (3,))
        self.both("pages", lambda into: (pages, self.places, into), np.zeros((COUNT, 4), np.float32))
        texture = picture(np.float32, 4, self.random)
        self.both("gathers", lambda into: (texture, smelt.Sampler(address="repeat"), self.places, into),
                  np.zeros((COUNT, 4), np.float32))  # fmt: skip

    def test_half_the_size(self):
        """The mean of two times two bytes, exactly: mip levels are made so."""
        kernel = """
            #include <metal_stdlib>
            using namespace metal;
            kernel void halve(texture2d<float> from, device float4* out, uint2 at [[thread_position_in_grid]],
                              uint2 size [[threads_per_grid]]) {
              constexpr sampler linear(filter::linear);
              out[at.y * size.x + at.x] = from.sample(linear, (float2(at) + 0.5f) / float2(size));
            }"""
        for width, height in ((128, 64), (64, 32), (1024, 2)):
            array = self.random.integers(0, 256, (height, width, 4)).astype(np.uint8)
            sums = array.astype(np.float64).reshape(height // 2, 2, width // 2, 2, 4).sum((1, 3))
            for effort in ("fast", "balanced"):
                with self.subTest(width=width, effort=effort):
                    out = np.zeros((height // 2, width // 2, 4), np.float32)
                    smelt.compile_shader(kernel, cpu_effort=effort).halve(array, out, threads=(width // 2, height // 2))
                    assert (out == (sums / 1020).astype(np.float32)).all()

    def test_a_kernels_own_comparison(self):
        """Texels side by side are known by the ends of their row; a comparison that the kernel makes is not touched."""
        kernel = """
            #include <metal_stdlib>
            using namespace metal;
            kernel void compare(texture2d<float, access::read> from, device float* out, constant int2& p,
                                uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
              const int v = max(int(i) + p.x, p.y);
              out[i] = 2.0f * float(v != simd_broadcast_first(v) + int(lane)) + from.read(uint2(i, 0)).r;
            }"""
        array = self.random.integers(1, 256, (1, 128, 4)).astype(np.uint8)
        i = np.arange(128)
        for shift in (-90, 0, 2**31 - 140):
            v = np.maximum(i + shift, shift + 10)
            apart = v != v[i // 32 * 32] + i % 32
            wanted = np.float32(2) * apart + array[0, :, 0] / np.float32(255)
            for effort in ("fast", "balanced"):
                with self.subTest(shift=shift, effort=effort):
                    out = np.zeros(128, np.float32)
                    lib = smelt.compile_shader(kernel, cpu_effort=effort)
                    lib.compare(array, out, np.array([shift, shift + 10], np.int32), threads=128, group_size=128)
                    assert (out == wanted).all()


FILTERS = {
    "v": lambda v, a, b: v,
    "1.0f - v": lambda v, a, b: 1 - v,
    "v * 0.5f": lambda v, a, b: v * 0.5,
    "v * 2.0f - 0.5f": lambda v, a, b: v * 2 - 0.5,
    "0.25f - v": lambda v, a, b: 0.25 - v,
    "v * a + b": lambda v, a, b: v * a + b,
    "fma(v, float4(a), v)": lambda v, a, b: v * a + v,
    "a - v * b": lambda v, a, b: a - v * b,
    "v * v": lambda v, a, b: v * v,
    "(v - a) * 255.0f": lambda v, a, b: (v - a) * 255,
    "float4(dot(v.rgb, float3(a, b, 0.3f)), 1.0f - v.g, v.a > 0.5f ? v.r : b, saturate(v.b))": lambda v, a, b: np.stack(
        (v[..., 0] * a + v[..., 1] * b + v[..., 2] * 0.3, 1 - v[..., 1],
         np.where(v[..., 3] > 0.5, v[..., 0], b), v[..., 2]), -1),
    "a / v": lambda v, a, b: np.divide(a, v, out=np.full_like(v, 2), where=v != 0),
}  # fmt: skip


class BytesToBytes(unittest.TestCase):
    """What is computed between texels of bytes may be joined with their conversions: the bytes that are written are
    those next to the real number, in every way of compiling; where it lies in the middle, either of both."""

    def test_filters(self):
        head = "#include <metal_stdlib>\nusing namespace metal;\n"
        args = "texture2d<float, access::read> from, texture2d<float, access::write> to, constant float& a, constant float& b"
        text = head + "".join(
            f"kernel void filter{i}({args}, uint2 at [[thread_position_in_grid]]) {{ float4 v = from.read(at); to.write({f}, at); }}\n"
            for i, f in enumerate(FILTERS)
        )
        array = np.random.default_rng(5).integers(0, 256, (19, 77, 4)).astype(np.uint8)
        array[0, :64] = np.arange(256).reshape(64, 4)
        a, b = np.float32(0.6), np.float32(0.3)
        for fast_math in (False, True):
            for effort in ("fast", "balanced"):
                lib = smelt.compile_shader(text, fast_math=fast_math, cpu_effort=effort)
                for i, (shader, real) in enumerate(FILTERS.items()):
                    for name in ("rgba8unorm", "bgra8unorm"):
                        with self.subTest(shader, fast_math=fast_math, effort=effort, format=name):
                            out = np.zeros_like(array)
                            getattr(lib, f"filter{i}")(smelt.Texture(array, format=name), smelt.Texture(out, format=name),
                                                       a, b, threads=(77, 19))  # fmt: skip
                            order = [2, 1, 0, 3] if name == "bgra8unorm" else [0, 1, 2, 3]
                            v = array[..., order].astype(np.float64) / 255
                            wanted = np.clip(real(v, float(a), float(b)), 0, 1)[..., order] * 255
                            assert np.abs(out - wanted).max() <= 0.5 + 1e-4


if __name__ == "__main__":
    unittest.main()
