// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: templates as template parameters
// run: 1
// out int: 8
#include <metal_stdlib>
using namespace metal;
template <typename T> struct Two { T a, b; };
template <template <typename> class C, typename T> int size() { return sizeof(C<T>); }
kernel void k(device int* out) { out[0] = size<Two, int>(); }
