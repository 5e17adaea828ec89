// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: overloads chosen by `enable_if_t`
// run: 1
// out int: 1 2
#include <metal_stdlib>
using namespace metal;
template <typename T, typename = enable_if_t<is_integral_v<T>>> int kind(T, int = 0) { return 1; }
template <typename T, typename = enable_if_t<is_floating_point_v<T>>> int kind(T, float = 0) { return 2; }
kernel void k(device int* out) { out[0] = kind(1); out[1] = kind(1.0f); }
