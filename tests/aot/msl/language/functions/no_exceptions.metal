// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: there are no exceptions
// error 6:34: 'exceptions' is not supported in Metal
#include <metal_stdlib>
using namespace metal;
kernel void k(device int* out) { throw 1; }
