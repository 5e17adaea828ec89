// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A sample for each point. IMAGE is the sampler's type, AT(p) its coordinates.
#version 450
layout(local_size_x = 64) in;

struct Point {
  float x, y, z, lod;
  uvec4 element;
};
layout(binding = 0) uniform IMAGE image;
layout(std430, binding = 1) readonly buffer Points {
  Point points[];
};
layout(std430, binding = 2) writeonly buffer Results {
  vec4 results[];
};

void main() {
  const uint i = gl_GlobalInvocationID.x;
  if (i >= points.length()) return;
  const Point p = points[i];
  results[i] = textureLod(image, AT(p), p.lod);
}
