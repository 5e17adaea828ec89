// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <metal_stdlib>
using namespace metal;

constant int kOctaves = 4;

static float fade(float t) { return t * t * t * (t * (t * 6.0f - 15.0f) + 10.0f); }

static float slope(int hash, float x, float y, float z) {
  hash &= 15;
  const float u = hash < 8 ? x : y;
  const float v = hash < 4 ? y : (hash == 12 || hash == 14) ? x : z;
  return ((hash & 1) ? -u : u) + ((hash & 2) ? -v : v);
}

static float noise(device const int* table, float3 at) {
  const float3 corner = floor(at), in = at - corner;
  const int3 cell = int3(corner) & 255;
  const float u = fade(in.x), v = fade(in.y), w = fade(in.z);
  const int a = table[cell.x] + cell.y, aa = table[a] + cell.z, ab = table[a + 1] + cell.z;
  const int b = table[cell.x + 1] + cell.y, ba = table[b] + cell.z, bb = table[b + 1] + cell.z;
  const float3 far = in - 1.0f;
  const float front = mix(mix(slope(table[aa], in.x, in.y, in.z), slope(table[ba], far.x, in.y, in.z), u),
                          mix(slope(table[ab], in.x, far.y, in.z), slope(table[bb], far.x, far.y, in.z), u), v);
  const float back =
      mix(mix(slope(table[aa + 1], in.x, in.y, far.z), slope(table[ba + 1], far.x, in.y, far.z), u),
          mix(slope(table[ab + 1], in.x, far.y, far.z), slope(table[bb + 1], far.x, far.y, far.z), u), v);
  return mix(front, back, w);
}

kernel void perlin(device const int* table, device float* out, constant float& step, constant float& depth,
                   uint2 at [[thread_position_in_grid]], uint2 size [[threads_per_grid]]) {
  float3 place = float3(float2(at) * step, depth);
  float sum = 0.0f, weight = 0.5f;
  for (int octave = 0; octave < kOctaves; ++octave) {
    sum += weight * noise(table, place);
    place *= 2.0f;
    weight *= 0.5f;
  }
  out[at.y * size.x + at.x] = sum;
}
