// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: the element type and width of a vector are deduced
// run: 1
// out float: 6
#include <metal_stdlib>
using namespace metal;
template <typename T, int N> T sum(vec<T, N> v) { T s = 0; for (int i = 0; i < N; ++i) s += v[i]; return s; }
kernel void k(device float* out) { out[0] = sum(float3(1, 2, 3)); }
