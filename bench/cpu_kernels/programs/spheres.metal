// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <metal_stdlib>
using namespace metal;

// Rays from a camera at the origin along z; a light far away, shadows, and mirrors. A sphere: `place` is its centre and
// radius, `look` its colour and how much it mirrors.
constant int kBounces = 4;
constant float kFar = 1e9f;

// The distance at which the ray enters the sphere, else kFar.
static float meets(float4 sphere, float3 from, float3 along) {
  const float3 apart = sphere.xyz - from;
  const float middle = dot(apart, along), depth = sphere.w * sphere.w - dot(apart, apart) + middle * middle;
  if (depth <= 0.0f) return kFar;
  const float distance = middle - sqrt(depth);
  return distance > 1e-3f ? distance : kFar;
}

kernel void spheres(constant float4* places, constant float4* looks, constant uint& count, device float4* picture,
                    uint2 at [[thread_position_in_grid]], uint2 size [[threads_per_grid]]) {
  const float3 light = float3(0.48f, 0.8f, -0.36f);
  float3 from = float3(0.0f);
  float3 along = normalize(float3((float2(at) - 0.5f * float2(size)) / float(size.y) * float2(1, -1), 1.0f));
  float3 sum = float3(0.0f);
  float weight = 1.0f;
  for (int bounce = 0; bounce < kBounces; ++bounce) {
    float nearest = kFar;
    uint hit = 0;
    for (uint i = 0; i < count; ++i) {
      const float distance = meets(places[i], from, along);
      if (distance < nearest) {
        nearest = distance;
        hit = i;
      }
    }
    if (nearest == kFar) {
      sum += weight * mix(float3(0.9f, 0.9f, 1.0f), float3(0.3f, 0.5f, 0.9f), max(along.y, 0.0f));
      break;
    }
    const float4 place = places[hit], look = looks[hit];
    from += nearest * along;
    const float3 outwards = (from - place.xyz) / place.w;
    float bright = max(dot(outwards, light), 0.0f);
    if (bright > 0.0f) {
      for (uint i = 0; i < count; ++i) {
        if (meets(places[i], from, light) < kFar) {
          bright = 0.0f;
          break;
        }
      }
    }
    sum += weight * (1.0f - look.w) * (0.1f + 0.9f * bright) * look.xyz;
    weight *= look.w;
    if (weight == 0.0f) break;
    along = reflect(along, outwards);
  }
  picture[at.y * size.x + at.x] = float4(sum, 1.0f);
}
