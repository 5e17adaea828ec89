// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a class template may be specialised on the address space of a pointer
// run: 1
// out int: 1 3 4
#include <metal_stdlib>
using namespace metal;
template <class T> struct space_of { static constexpr int value = 0; };
template <class T> struct space_of<device T*> { static constexpr int value = 1; };
template <class T> struct space_of<threadgroup T*> { static constexpr int value = 3; };
template <class T> struct space_of<thread T*> { static constexpr int value = 4; };
kernel void k(device int* out) {
  threadgroup int t[1];
  int own = 0;
  out[0] = space_of<decltype(out)>::value;
  out[1] = space_of<decltype(&t[0])>::value;
  out[2] = space_of<decltype(&own)>::value;
}
