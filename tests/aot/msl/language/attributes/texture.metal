// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: textures
// gap: textures are not supported
#include <metal_stdlib>
using namespace metal;
kernel void k(texture2d<float> image [[texture(0)]], device float* out) { out[0] = image.read(uint2(0)).x; }
