// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: `max_total_threads_per_threadgroup` must be from 1 to 1024
// error 6:3: 'max_total_threads_per_threadgroup' attribute requires a number from 1 to 1024
#include <metal_stdlib>
using namespace metal;
[[max_total_threads_per_threadgroup(0)]] kernel void k(device int* out) { out[0] = 1; }
