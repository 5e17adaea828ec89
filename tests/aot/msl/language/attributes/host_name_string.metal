// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a host name must be a string
// error 6:3: 'host_name' attribute requires a string that is not empty
#include <metal_stdlib>
using namespace metal;
[[host_name(7)]] kernel void k(device int* out) { out[0] = 1; }
