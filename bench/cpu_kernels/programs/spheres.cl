// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#define BOUNCES 4
#define FAR 1e9f

float meets(float4 sphere, float3 from, float3 along) {
  const float3 apart = sphere.xyz - from;
  const float middle = dot(apart, along), depth = sphere.w * sphere.w - dot(apart, apart) + middle * middle;
  if (depth <= 0.0f) return FAR;
  const float distance = middle - sqrt(depth);
  return distance > 1e-3f ? distance : FAR;
}

kernel void spheres(constant float4* restrict places, constant float4* restrict looks, uint count,
                    global float4* restrict picture) {
  const uint column = get_global_id(0), row = get_global_id(1), width = get_global_size(0), height = get_global_size(1);
  const float3 light = (float3)(0.48f, 0.8f, -0.36f);
  float3 from = (float3)(0.0f), sum = (float3)(0.0f);
  float3 along = normalize((float3)((column - 0.5f * width) / height, (0.5f * height - row) / height, 1.0f));
  float weight = 1.0f;
  for (int bounce = 0; bounce < BOUNCES; ++bounce) {
    float nearest = FAR;
    uint hit = 0;
    for (uint i = 0; i < count; ++i) {
      const float distance = meets(places[i], from, along);
      if (distance < nearest) {
        nearest = distance;
        hit = i;
      }
    }
    if (nearest == FAR) {
      sum += weight * mix((float3)(0.9f, 0.9f, 1.0f), (float3)(0.3f, 0.5f, 0.9f), max(along.y, 0.0f));
      break;
    }
    const float4 place = places[hit], look = looks[hit];
    from += nearest * along;
    const float3 outwards = (from - place.xyz) / place.w;
    float bright = max(dot(outwards, light), 0.0f);
    if (bright > 0.0f) {
      for (uint i = 0; i < count; ++i) {
        if (meets(places[i], from, light) < FAR) {
          bright = 0.0f;
          break;
        }
      }
    }
    sum += weight * (1.0f - look.w) * (0.1f + 0.9f * bright) * look.xyz;
    weight *= look.w;
    if (weight == 0.0f) break;
    along -= 2.0f * dot(along, outwards) * outwards;
  }
  picture[row * width + column] = (float4)(sum, 1.0f);
}
