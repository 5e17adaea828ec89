// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: two kernels cannot have the same name
// error 6:35: two kernels have the name 'f'; give each instantiation a [[host_name("...")]] of its own
#include <metal_stdlib>
using namespace metal;
template <typename T> kernel void f(device T* out) { out[0] = 1; }
template kernel void f<int>(device int*);
template kernel void f<float>(device float*);
