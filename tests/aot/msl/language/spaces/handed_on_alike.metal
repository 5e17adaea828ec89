// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: overloads for different address spaces may have the same body
// run: 1
// in 1 int: 7 8
// out int: 16 10 7 8
#include <metal_stdlib>
using namespace metal;
#define FOR(space) \
  int twice() const space { return both(v, v); } \
  int both(int a, int b) const space { int sum = a; for (int i = 0; i < b; ++i) sum += 1; return sum; }
struct Tag {
  int v;
  FOR(thread)
  FOR(device)
  int plain() const { return twice(); }
};
struct Cell {
  int v;
  Cell() thread = default;
  Cell(thread const Cell& o) thread { v = o.v; }
  Cell(device const Cell& o) thread { v = o.v; }
};
struct Pair { Cell a, b; };
int first(thread const Tag& x) { return x.twice(); }
int second(thread const Tag& x) { return first(x); }
kernel void k(device int* out [[buffer(0)]], device Pair* in [[buffer(1)]]) {
  Tag tag = {5};
  const Pair copy = *in;
  out[0] = second(*(device Tag*)&in->b);
  out[1] = tag.plain();
  out[2] = copy.a.v;
  out[3] = copy.b.v;
}
