// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: `as_type` needs types of equal size
// error 6:45: as_type needs two types of the same size
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out) { out[0] = as_type<float>(half(1)); }
