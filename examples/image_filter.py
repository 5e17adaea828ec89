# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Filters for pictures, as Metal kernels on textures: blur, tone curve, resize. Without a Mac, on PNG files by way of PIL.

    PYTHONPATH=build/release/python /usr/bin/python3 examples/image_filter.py [IN.png [OUT.png]]

Without IN.png it draws a picture first, by a kernel too.
"""
import sys

import numpy as np
import smelt
from PIL import Image

lib = smelt.compile_shader("""
#include <metal_stdlib>
using namespace metal;

// The evening in three hills, with a fence that shows what a blur does.
kernel void draw(texture2d<float, access::write> to, uint2 at [[thread_position_in_grid]]) {
  const float2 size = float2(to.get_width(), to.get_height());
  const float2 p = (float2(at) + 0.5f) / size.y;
  float3 colour = mix(float3(0.98f, 0.70f, 0.42f), float3(0.22f, 0.38f, 0.70f), smoothstep(0.75f, 0.0f, p.y));
  const float sun = length(p - float2(1.05f, 0.45f));
  colour = mix(colour, float3(1.0f, 0.93f, 0.70f), smoothstep(0.13f, 0.12f, sun) + 0.4f * exp(-6.0f * sun));
  for (int i = 0; i < 3; ++i) {
    const float hill = 0.55f + 0.12f * i + 0.06f * sin(p.x * (3.0f + i) + 2.0f * i) + 0.02f * sin(p.x * 11.0f + i);
    colour = mix(colour, float3(0.36f, 0.33f, 0.42f) / (1.0f + 0.9f * i), smoothstep(hill, hill + 0.006f, p.y));
  }
  const bool is_post = fract(p.x * 12.0f) < 0.18f && p.y > 0.80f, is_rail = abs(p.y - 0.86f) < 0.012f;
  if (is_post || is_rail) colour = float3(0.80f, 0.72f, 0.60f);
  to.write(float4(colour, 1.0f), at);
}

// One direction of a Gaussian; `along` is (1, 0), then (0, 1).
kernel void blur(texture2d<float> from, sampler edge, constant float2& along, constant float& sigma,
                 texture2d<float, access::write> to, uint2 at [[thread_position_in_grid]]) {
  const float2 size = float2(from.get_width(), from.get_height());
  const int reach = int(ceil(3.0f * sigma));
  float4 sum = 0.0f;
  float weights = 0.0f;
  for (int i = -reach; i <= reach; ++i) {
    const float weight = exp(-float(i * i) / (2.0f * sigma * sigma));
    sum += weight * from.sample(edge, (float2(at) + 0.5f + float(i) * along) / size);
    weights += weight;
  }
  to.write(sum / weights, at);
}

// Darker shadows, brighter lights.
kernel void tone(texture2d<float, access::read> from, constant float& amount, texture2d<float, access::write> to,
                 uint2 at [[thread_position_in_grid]]) {
  const float4 c = from.read(at);
  to.write(float4(mix(c.rgb, c.rgb * c.rgb * (3.0f - 2.0f * c.rgb), amount), c.a), at);
}

// As sharp as the smaller picture can be: between two levels of averages.
kernel void resize(texture2d<float> from, sampler by, texture2d<float, access::write> to,
                   uint2 at [[thread_position_in_grid]]) {
  const float2 size = float2(to.get_width(), to.get_height());
  const float ratio = float(from.get_width()) / size.x;
  to.write(from.sample(by, (float2(at) + 0.5f) / size, level(max(log2(ratio), 0.0f))), at);
}
""")


def filtered(picture):
    """A height x width x 4 array of uint8, blurred and with more contrast."""
    across, blurred, done = (np.zeros_like(picture) for _ in range(3))
    edge = smelt.Sampler(address="clamp_to_edge")
    lib.blur(picture, edge, [1, 0], 2.0, across)  # in the order of the source; a thread for each texel of `across`
    lib.blur(across, edge, [0, 1], 2.0, blurred)
    lib.tone(blurred, 0.8, done)
    return done


def resized(picture, height, width):
    small = np.zeros((height, width, 4), np.uint8)
    lib.resize(smelt.Texture(picture, mipmaps=True), smelt.Sampler(filter="linear", mip_filter="linear"), small)
    return small


if len(sys.argv) > 1:
    before = np.array(Image.open(sys.argv[1]).convert("RGBA"))  # Metal has no format of three channels
else:
    before = np.zeros((240, 384, 4), np.uint8)
    lib.draw(before)

after = filtered(before)
small = resized(after, before.shape[0] // 2, before.shape[1] // 2)

# What NumPy says of the blur, in double precision.
offsets = np.arange(-6, 7)
weights = np.exp(-(offsets**2) / 8.0)
padded = np.pad(before.astype(np.float64), ((0, 0), (6, 6), (0, 0)), mode="edge")
wanted = sum(w * padded[:, 6 + i : 6 + i + before.shape[1]] for i, w in zip(offsets, weights)) / weights.sum()
rows = np.zeros_like(before)
lib.blur(before, smelt.Sampler(), [1, 0], 2.0, rows)
error = np.abs(rows - wanted).max()
print(f"blur: largest error {error:.3f} of 255, where 0.5 is the rounding")
assert error < 0.51

if len(sys.argv) > 2:
    Image.fromarray(after).save(sys.argv[2])
print(f"{before.shape[1]} x {before.shape[0]} filtered, and resized to {small.shape[1]} x {small.shape[0]}")
