// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: methods and const methods of objects in every address space
// run: 1
// in 1 int: 4
// out int: 4 5 6
#include <metal_stdlib>
using namespace metal;
struct Box { int n; int get() const { return n; } };
kernel void k(device int* out, constant Box& c [[buffer(1)]]) {
  threadgroup Box t;
  t.n = 5;
  const Box own = {6};
  out[0] = c.get();
  out[1] = t.get();
  out[2] = own.get();
}
