// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: an object can be copied and assigned in every address space, whatever other constructors and operators its class has
// run: 1
// in 1 int: 4 5
// out int: 4 110 205 4 9 6
#include <metal_stdlib>
using namespace metal;
struct Num {
  int v;
  Num() = default;
  Num(int x) : v(x) {}
  Num(device const float& x) : v(int(x)) {}
  void operator=(int x) { v = x + 100; }
  void operator=(int x) device { v = x + 200; }
  Num operator+(Num o) const { return Num(v + o.v); }
  Num operator+(Num o) const device { return Num(v + o.v); }
};
kernel void k(device int* out [[buffer(0)]], device Num* in [[buffer(1)]]) {
  device Num* to = (device Num*)out;
  Num t = in[0];
  to[0] = t;
  t = 10;
  to[1] = t;
  to[2] = 5;
  to[3] = in[0];
  to[4] = in[0] + in[1];
  threadgroup Num g;
  g = Num(6);
  to[5] = g;
}
