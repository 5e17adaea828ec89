// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: static constants of a class
// run: 1
// out int: 12
#include <metal_stdlib>
using namespace metal;
struct Limits { static constexpr constant int most = 12; };
kernel void k(device int* out) { out[0] = Limits::most; }
