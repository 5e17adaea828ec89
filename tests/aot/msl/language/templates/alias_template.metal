// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: alias templates
// run: 1
// out float: 3
#include <metal_stdlib>
using namespace metal;
template <typename T> using Four = vec<T, 4>;
kernel void k(device float* out) { out[0] = Four<float>(3).w; }
