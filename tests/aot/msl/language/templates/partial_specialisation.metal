// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: partial specialisation of class templates
// run: 1
// out int: 1 2
#include <metal_stdlib>
using namespace metal;
template <typename T> struct Kind { static constexpr int value = 1; };
template <typename T, int N> struct Kind<vec<T, N>> { static constexpr int value = 2; };
kernel void k(device int* out) { out[0] = Kind<float>::value; out[1] = Kind<float3>::value; }
