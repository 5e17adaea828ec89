// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a member of an aggregate must not use a constructor for an address space other than its own
// error 12:14: 'In' has a constructor of its own for 'constant' memory
#include <metal_stdlib>
using namespace metal;
struct In {
  int v;
  constexpr In(int) thread : v(1) {}
  constexpr In(int) constant : v(3) {}
};
struct Out { In in; int w; };
constant Out kOut = {1, 2};
kernel void k(device int* out [[buffer(0)]]) { out[0] = kOut.in.v; }
