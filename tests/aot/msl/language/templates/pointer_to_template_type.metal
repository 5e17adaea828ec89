// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a member of an argument buffer points to a template type that nothing else instantiates
// run: 1
// out float: 1
#include <metal_stdlib>
using namespace metal;
template <typename T, int N> struct Box { T cells[N]; };
struct Set { device Box<float, 4>* box; constant float3x3* view; };
kernel void k(device float* out, constant Set& unused [[buffer(1)]]) { out[0] = 1; }
