// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: enumerations, scoped and not
// run: 1
// out int: 3 5
#include <metal_stdlib>
using namespace metal;
enum class Colour : uint { red = 3 };
enum { five = 5 };
kernel void k(device int* out) { out[0] = int(Colour::red); out[1] = five; }
