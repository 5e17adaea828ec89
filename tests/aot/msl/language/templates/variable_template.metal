// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: variable templates in constant memory
// run: 1
// out int: 4 8
#include <metal_stdlib>
using namespace metal;
template <typename T> constant constexpr int kSize = sizeof(T);
kernel void k(device int* out) { out[0] = kSize<float>; out[1] = kSize<float2>; }
