// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: the index of a resource may be any constant expression: an enumerator, a constant, a template argument
// run: 1
// in 2 int: 20
// in 3 int: 30
// in 4 int: 40
// in 5 int: 50
// in 8 int: 80
// out int: 20 30 40 50 80
#include <metal_stdlib>
using namespace metal;
enum Slot { SlotTwo = 2 };
enum class Strict { three = 3 };
constant int kFour = 4;
constexpr constant int kFive = 5;
#define EIGHT SlotEight
enum : uint { SlotEight = sizeof(ulong) };
template <int slot>
[[kernel]] void numbers(device int* out [[buffer(0)]], constant int& a [[buffer(SlotTwo)]],
                        constant int& b [[buffer(int(Strict::three))]], constant int& c [[buffer(kFour)]],
                        constant int& d [[buffer(slot)]], constant int& e [[buffer(EIGHT)]]) {
  out[0] = a; out[1] = b; out[2] = c; out[3] = d; out[4] = e;
}
template [[host_name("k")]] [[kernel]] decltype(numbers<kFive>) numbers<kFive>;
