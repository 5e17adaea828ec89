// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: C++ attributes
// run: 1
// out int: 3
#include <metal_stdlib>
using namespace metal;
[[nodiscard]] int f([[maybe_unused]] int x) { return 3; }
kernel void k(device int* out) { [[maybe_unused]] const int unused = 1; out[0] = f(0); }
