// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: textures in argument buffers
#include <metal_stdlib>
using namespace metal;
struct Images { texture2d<float> image [[id(0)]]; };
kernel void k(constant Images& images, device float* out) { out[0] = images.image.read(uint2(0)).x; }
