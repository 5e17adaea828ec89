// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a template parameter that is a pointer keeps its address space
// run: 2
// out float: 5 5
#include <metal_stdlib>
using namespace metal;
template <typename P> void put(P p, uint i) { p[i] = 5; }
kernel void k(device float* out, uint i [[thread_position_in_grid]]) {
  threadgroup float t[2];
  put(&t[0], i);
  put(out, i);
  out[i] = t[i];
}
