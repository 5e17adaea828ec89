// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a kernel's argument of a template type that nothing else instantiates
// run: 1
// out float: 1
#include <metal_stdlib>
using namespace metal;
template <typename T, int N> struct Box { T cells[N]; };
kernel void k(device float* out, device Box<float, 4>* unused [[buffer(1)]], constant float4x4& view [[buffer(2)]]) {
  out[0] = 1;
}
