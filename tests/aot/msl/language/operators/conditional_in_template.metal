// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: `?:` in a template, between objects and between values
// run: 2
// in 1 float: 1 2 3 4
// out float: 1 7
#include <metal_stdlib>
using namespace metal;
template <typename T> T pick(device const vec<T, 2>* p, bool c) { return (c ? p[0] : vec<T, 2>(T(7))).x; }
template <typename T> void set(device T* p, bool c, T x) { (c ? p[0] : p[1]) = x; }
kernel void k(device float* out, device const float2* x [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  set(out, i == 0, pick(x, i == 0));
}
