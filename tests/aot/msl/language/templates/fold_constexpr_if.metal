// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: branches of `if constexpr` that are not taken are not instantiated
// run: 1
// out int: 5
#include <metal_stdlib>
using namespace metal;
template <typename T> int get(T x) {
  if constexpr (is_integral_v<T>) return x;
  else return x.n;
}
kernel void k(device int* out) { out[0] = get(5); }
