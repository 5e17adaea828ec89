// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a volatile method reads the vectors of its object
// run: 1
// in 1 float: 1 2 3 4
// out float: 10
#include <metal_stdlib>
using namespace metal;
struct Four { float4 v; float sum() const volatile { return v.x + v.y + v.zw.x + v[3]; } };
kernel void k(device float* out, volatile device Four& f [[buffer(1)]]) { out[0] = f.sum(); }
