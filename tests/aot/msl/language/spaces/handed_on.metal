// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: an overloaded method called through a `thread` reference on an object in another address space needs an overload for that space, with the same body as the `thread` overload
// error 16:23: no matching member function for call to 'where': the one that fits the arguments takes an object in 'thread' memory, and this one is in 'device'
#include <metal_stdlib>
using namespace metal;
struct Tag {
  int v;
  int where() const thread { return 1; }
  int where() const device { return 2; }
};
int first(thread const Tag& x) { return x.where(); }
template <typename T> int second(thread const T& x) { return first(x); }
thread const Tag& given(thread const Tag& x) { return x; }
int third(thread const Tag& x) { return [&] { return second(given(x)); }(); }
kernel void k(device int* out [[buffer(0)]], device Tag* tag [[buffer(1)]]) {
  out[0] = 10 + third(*tag);
}
