// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: explicit specialisation of function templates
// run: 1
// out int: 1 2
#include <metal_stdlib>
using namespace metal;
template <typename T> int kind() { return 1; }
template <> int kind<float>() { return 2; }
kernel void k(device int* out) { out[0] = kind<int>(); out[1] = kind<float>(); }
