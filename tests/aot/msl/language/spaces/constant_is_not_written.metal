// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: constant memory cannot be written
// error 6:38: cannot assign to variable 'c' with const-qualified type 'constant float &'
#include <metal_stdlib>
using namespace metal;
kernel void k(constant float& c) { c = 1; }
