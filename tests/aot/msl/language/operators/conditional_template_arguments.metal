// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: template arguments in the arms of `?:`
// run: 2
// in 1 float: 1 2 3 4
// out float: 11 23
#include <metal_stdlib>
using namespace metal;
template <typename T, int N> vec<T, N> load(device const T* p) { return vec<T, N>(p[0], p[1]); }
int larger(int a, int b) { return a > b ? a : b; }
kernel void k(device float* out, device const float* x [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  const float2 a = i == 0 ? vec<float, 2>(1, 9) : load<float, 2>(x + 2);
  const float2 b = i == 1 ? float2(0) : load<float, sizeof(float2) / 4>(x);
  const int n = larger(i == 0 ? -1 : int(i) < 2, 1);
  out[i] = a.x + b.x * 9 + n * 20 - (i == 0 ? 19 : 0);
}
