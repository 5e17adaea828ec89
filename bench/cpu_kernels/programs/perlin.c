/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "parts.h"

enum { kOctaves = 4 };

static inline float mix(float a, float b, float t) {
  return a + (b - a) * t;
}

static inline float fade(float t) {
  return t * t * t * (t * (t * 6.0f - 15.0f) + 10.0f);
}

static inline float slope(int hash, float x, float y, float z) {
  hash &= 15;
  const float u = hash < 8 ? x : y;
  const float v = hash < 4 ? y : (hash == 12 || hash == 14) ? x : z;
  return ((hash & 1) ? -u : u) + ((hash & 2) ? -v : v);
}

static inline float noise(const int32_t* restrict table, float x, float y, float z) {
  const float left = floorf(x), top = floorf(y), near = floorf(z);
  const int i = (int)left & 255, j = (int)top & 255, k = (int)near & 255;
  x -= left;
  y -= top;
  z -= near;
  const float u = fade(x), v = fade(y), w = fade(z);
  const int a = table[i] + j, aa = table[a] + k, ab = table[a + 1] + k;
  const int b = table[i + 1] + j, ba = table[b] + k, bb = table[b + 1] + k;
  const float front = mix(mix(slope(table[aa], x, y, z), slope(table[ba], x - 1, y, z), u),
                          mix(slope(table[ab], x, y - 1, z), slope(table[bb], x - 1, y - 1, z), u), v);
  const float back = mix(mix(slope(table[aa + 1], x, y, z - 1), slope(table[ba + 1], x - 1, y, z - 1), u),
                         mix(slope(table[ab + 1], x, y - 1, z - 1), slope(table[bb + 1], x - 1, y - 1, z - 1), u), v);
  return mix(front, back, w);
}

void perlin(const int32_t* restrict table, float* restrict out, float step, float depth, uint32_t width,
            uint32_t height, uint32_t part, uint32_t parts) {
  const uint32_t end = first_of(height, part + 1, parts);
  for (uint32_t row = first_of(height, part, parts); row < end; ++row) {
    for (uint32_t column = 0; column < width; ++column) {
      float x = (float)column * step, y = (float)row * step, z = depth, sum = 0.0f, weight = 0.5f;
      for (int octave = 0; octave < kOctaves; ++octave) {
        sum += weight * noise(table, x, y, z);
        x *= 2.0f;
        y *= 2.0f;
        z *= 2.0f;
        weight *= 0.5f;
      }
      out[row * width + column] = sum;
    }
  }
}
