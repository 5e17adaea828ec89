// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: two parameters cannot be the same hardware value under its older and its newer name
// error 7:87: attributes 'thread_execution_width' and 'threads_per_simdgroup' name one value
#include <metal_stdlib>
using namespace metal;
// clang-format off
kernel void k(device uint* out [[buffer(0)]], uint a [[thread_execution_width]], uint b [[threads_per_simdgroup]]) { out[0] = a + b; }
