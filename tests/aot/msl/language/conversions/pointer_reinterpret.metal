// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a cast to a pointer to another type in the same address space
// run: 1
// in 1 float: 1 2
// out uint: 1065353216 1073741824
#include <metal_stdlib>
using namespace metal;
kernel void k(device uint* out, device float* x [[buffer(1)]]) {
  device const uint* bits = reinterpret_cast<device const uint*>(x);
  out[0] = bits[0];
  out[1] = ((device uint*)x)[1];
}
