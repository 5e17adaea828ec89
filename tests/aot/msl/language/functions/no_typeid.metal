// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: there is no `typeid`
// error 6:43: 'typeid' is not supported in Metal
#include <metal_stdlib>
using namespace metal;
kernel void k(device int* out) { out[0] = typeid(int) == typeid(int); }
