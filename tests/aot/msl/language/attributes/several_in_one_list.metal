// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: several attributes in one list
// run: 1
// out int: 1
#include <metal_stdlib>
using namespace metal;
[[kernel, max_total_threads_per_threadgroup(64)]] void k(device int* out) { out[0] = 1; }
