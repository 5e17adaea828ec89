# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Texels of 32 threads in one call are those of each thread by itself: checked code goes thread by thread, and must give
the same bits, whatever lanes take part and wherever they look."""

import unittest

import numpy as np
import smelt

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
        cls.fast = smelt.compile_shader(SOURCE)
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
        """What both ways write to `out`, bit for bit; returns it."""
        results = []
        for lib in (self.fast, self.slow):
            into = out.copy()
            getattr(lib, name)(*[into if one is out else one for one in arguments(into)], threads=COUNT)
            results.append(into)
        a, b = (one.view(np.uint8) for one in results)
        different = np.flatnonzero((a != b).reshape(len(results[0]), -1).any(1))
        assert different.size == 0, f"{name}: {different[:5]}: {results[0][different[:5]]} {results[1][different[:5]]}"
        return results[0]

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
        out = np.zeros(((HEIGHT + 4) * 64, 4), np.float32)
        self.fast.rows(array, out, np.array([3, 2], np.uint32), threads=(64, HEIGHT + 4))
        whole[: HEIGHT - 2, : WIDTH - 3] = array[2:, 3:] / np.float32(255)
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


if __name__ == "__main__":
    unittest.main()
