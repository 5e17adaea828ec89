// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: textures in argument buffers; a missing one reads as zero
// run: 1
// in 1 long: 0
// out float: 1 0
#include <metal_stdlib>
using namespace metal;
struct Images { texture2d<float> image [[id(0)]]; };
kernel void k(device float* out [[buffer(0)]], constant Images& images [[buffer(1)]]) {
  out[0] = is_null_texture(images.image) ? 1 : 0;
  out[1] = images.image.read(uint2(0)).x;
}
