// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: structured bindings and `if constexpr`
// run: 1
// out int: 7
#include <metal_stdlib>
using namespace metal;
struct Pair { int a, b; };
template <class T> int sum(T p) {
  if constexpr (sizeof(T) == 8) {
    auto [a, b] = p;
    return a + b;
  }
  return 0;
}
kernel void k(device int* out) { out[0] = sum(Pair{3, 4}); }
