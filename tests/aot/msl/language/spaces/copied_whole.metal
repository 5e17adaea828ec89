// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: to copy an object from another address space, each member with several copy constructors needs one for that space, with the same body as its `thread` constructor
// error 14:15: no matching function for call to 'Cell': the one that fits the arguments takes a reference to 'thread' memory, and this object is in 'device'
#include <metal_stdlib>
using namespace metal;
struct Cell {
  int v;
  Cell() thread = default;
  Cell(thread const Cell& o) thread { v = o.v + 1; }
  Cell(device const Cell& o) thread { v = o.v + 2; }
};
struct Pair { Cell a, b; };
kernel void k(device int* out [[buffer(0)]], device Pair* in [[buffer(1)]]) {
  Pair copy = *in;
  out[0] = copy.a.v;
}
