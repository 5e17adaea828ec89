// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: there are no virtual functions
// error 6:12: 'virtual' is not supported in Metal
#include <metal_stdlib>
using namespace metal;
struct S { virtual int f() { return 1; } };
kernel void k(device int* out) { S s; out[0] = s.f(); }
