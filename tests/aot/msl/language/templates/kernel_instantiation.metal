// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a kernel template, instantiated under a host name
// run: 2
// out int: 3 4
#include <metal_stdlib>
using namespace metal;
template <typename T, int N> kernel void add(device T* out, uint i [[thread_position_in_grid]]) { out[i] = i + N; }
template [[host_name("k")]] kernel void add<int, 3>(device int*, uint);
