// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: constructors for constant memory construct an object in constant memory, and its members, elements and bases
// run: 1
// out int: 1 10 3 30 3 5 7 3
#include <metal_stdlib>
using namespace metal;
struct Two {
  int v;
  constexpr Two(int x) thread : v(x + 1) {}
  constexpr Two(int x) constant : v(x + 3) {}
};
struct Same {
  int v;
  constexpr Same(int x) thread : v(x) {}
  constexpr Same(int x) constant : v(x) {}
};
struct Whole : Same {
  Same in;
  int w;
  constexpr Whole() thread : Same(5), in(7), w(10) {}
  constexpr Whole() constant : Same(5), in(7), w(30) {}
};
constant Whole kWhole;
constant Two kTwo(0);
constant Two kRow[2] = {0, 0};
kernel void k(device int* out [[buffer(0)]]) {
  Two two(0);
  Whole whole;
  out[0] = two.v;
  out[1] = whole.w;
  out[2] = kTwo.v;
  out[3] = kWhole.w;
  out[4] = kRow[1].v;
  out[5] = kWhole.Same::v;
  out[6] = kWhole.in.v;
  out[7] = kRow[0].v;
}
