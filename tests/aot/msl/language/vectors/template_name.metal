// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: `vec<T, N>` is the same type as `TN`
// run: 1
// out int: 1 1
#include <metal_stdlib>
using namespace metal;
kernel void k(device int* out) {
  out[0] = is_same_v<vec<float, 4>, float4>;
  out[1] = is_same_v<packed_vec<half, 3>, packed_half3>;
}
