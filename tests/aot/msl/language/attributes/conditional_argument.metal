// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: an argument that exists only if a function constant is true
// run: 1
// out int: 3
#include <metal_stdlib>
using namespace metal;
constant bool has [[function_constant(0)]];
constant bool really = is_function_constant_defined(has) && has;
kernel void k(device int* out, device int* more [[buffer(1), function_constant(really)]]) {
  out[0] = 3;
  if (really) out[0] = more[0];
}
