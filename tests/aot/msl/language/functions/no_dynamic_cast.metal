// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: there is no `dynamic_cast`
// error 7:54: 'dynamic_cast' is not supported in Metal
#include <metal_stdlib>
using namespace metal;
struct A { int n; };
kernel void k(device int* out) { A a = {1}; out[0] = dynamic_cast<thread A&>(a).n; }
