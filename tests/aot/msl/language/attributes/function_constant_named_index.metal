// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: the index of a function constant may be any constant expression, such as an enumerator
// run: 1
// out int: 0
#include <metal_stdlib>
using namespace metal;
enum { kFirst, kSecond };
constant int a [[function_constant(kFirst)]];
constant int b [[function_constant(kSecond)]];
constant int c [[function_constant(kSecond + 1)]];
kernel void k(device int* out) {
  out[0] = is_function_constant_defined(a) + is_function_constant_defined(b) + is_function_constant_defined(c);
}
