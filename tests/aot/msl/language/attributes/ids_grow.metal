// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: the ids of an argument buffer's members must increase
// error 6:47: 'id' attribute of 'n' must be a number that is not below 4
#include <metal_stdlib>
using namespace metal;
struct A { device float* p [[id(3)]]; int n [[id(3)]]; };
kernel void k(constant A& a) {}
