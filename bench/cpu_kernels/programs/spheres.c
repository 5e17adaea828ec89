/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "parts.h"

enum { kBounces = 4 };
static const float kFar = 1e9f;
typedef struct {
  float x, y, z;
} Vector;
typedef struct {
  float x, y, z, w;
} Four;

static inline Vector plus(Vector a, float by, Vector b) {
  return (Vector){a.x + by * b.x, a.y + by * b.y, a.z + by * b.z};
}
static inline float dot(Vector a, Vector b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
static inline Vector first_three(Four a) {
  return (Vector){a.x, a.y, a.z};
}

static inline float meets(Four sphere, Vector from, Vector along) {
  const Vector apart = plus(first_three(sphere), -1.0f, from);
  const float middle = dot(apart, along), depth = sphere.w * sphere.w - dot(apart, apart) + middle * middle;
  if (depth <= 0.0f) return kFar;
  const float distance = middle - sqrtf(depth);
  return distance > 1e-3f ? distance : kFar;
}

static Vector trace(const Four* restrict places, const Four* restrict looks, uint32_t count, Vector along) {
  const Vector light = {0.48f, 0.8f, -0.36f}, high = {0.3f, 0.5f, 0.9f}, low = {0.9f, 0.9f, 1.0f};
  Vector from = {0}, sum = {0};
  float weight = 1.0f;
  for (int bounce = 0; bounce < kBounces; ++bounce) {
    float nearest = kFar;
    uint32_t hit = 0;
    for (uint32_t i = 0; i < count; ++i) {
      const float distance = meets(places[i], from, along);
      if (distance < nearest) {
        nearest = distance;
        hit = i;
      }
    }
    if (nearest == kFar) {
      const float blend = along.y > 0.0f ? along.y : 0.0f;
      return plus(plus(sum, weight * (1.0f - blend), low), weight * blend, high);
    }
    const Four place = places[hit], look = looks[hit];
    from = plus(from, nearest, along);
    Vector outwards = plus(from, -1.0f, first_three(place));
    outwards = (Vector){outwards.x / place.w, outwards.y / place.w, outwards.z / place.w};
    float bright = dot(outwards, light);
    if (bright < 0.0f) bright = 0.0f;
    if (bright > 0.0f) {
      for (uint32_t i = 0; i < count; ++i) {
        if (meets(places[i], from, light) < kFar) {
          bright = 0.0f;
          break;
        }
      }
    }
    sum = plus(sum, weight * (1.0f - look.w) * (0.1f + 0.9f * bright), first_three(look));
    weight *= look.w;
    if (weight == 0.0f) break;
    along = plus(along, -2.0f * dot(along, outwards), outwards);
  }
  return sum;
}

void spheres(const Four* restrict places, const Four* restrict looks, uint32_t count, Four* restrict picture,
             uint32_t width, uint32_t height, uint32_t part, uint32_t parts) {
  const uint32_t end = first_of(height, part + 1, parts);
  for (uint32_t row = first_of(height, part, parts); row < end; ++row) {
    for (uint32_t column = 0; column < width; ++column) {
      const Vector through = {((float)column - 0.5f * (float)width) / (float)height,
                              (0.5f * (float)height - (float)row) / (float)height, 1.0f};
      const Vector along = plus((Vector){0}, 1.0f / sqrtf(dot(through, through)), through);
      const Vector colour = trace(places, looks, count, along);
      picture[row * width + column] = (Four){colour.x, colour.y, colour.z, 1.0f};
    }
  }
}
