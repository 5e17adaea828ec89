// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a kernel must return void
// error 6:8: kernel must have void return type
#include <metal_stdlib>
using namespace metal;
kernel int k(device int* out) { return 1; }
