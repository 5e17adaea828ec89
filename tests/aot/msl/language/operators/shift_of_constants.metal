// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a constant shift count is taken modulo the width too, in every kind of constant expression
// run: 1
// out int: 8 768 2 8 -4 4 1 2 4 6 3 1 16 8 2 -2 4 5
#include <metal_stdlib>
using namespace metal;
constant uint kLeft = 1u << 35;
constant int kRight = -16 >> 34;
enum Bits { kBit = 1 << 33 };
template <uint N> static int of_argument() { return N; }
template <uint N> static int of_count() { return int(1u << N); }
constexpr int shifted(int value, int count) { return value << count; }
struct Fields { uint low : (1 << 34); };
static int by_default(int x = 1 << 36) { return x; }
kernel void k(device int* out) {
  out[0] = int(1u << 35);
  const uint n = 40;
  out[1] = 3 << n;
  out[2] = int(8ul >> 66);
  out[3] = int(kLeft);
  out[4] = kRight;
  constexpr uint m = 33;
  uint table[2] = {1u << m, 2u << m};
  out[5] = int(table[1]);
  out[6] = (1u << m) ? 1 : 2;
  out[7] = kBit;
  int sized[1 << 34] = {0, 1, 2, 3};
  out[8] = sizeof(sized) / sizeof(int);
  if (1u << 33) out[9] = 6; else out[9] = 7;
  out[10] = of_argument<(24u >> 35)>();
  out[11] = of_count<32>();
  uchar narrow = 1;
  narrow <<= 36;
  out[12] = narrow;
  static_assert((1 << 35) == 8, "");
  constexpr int folded = shifted(1, 35);
  out[13] = folded;
  switch (table[0]) { case 1 << 33: out[14] = 2; break; default: out[14] = 3; }
  constexpr char2 both = char2(-8) >> char2(10);
  out[15] = both.x;
  Fields fields = {7};
  fields.low >>= 33;
  out[16] = int(fields.low) + 1;
  out[17] = by_default() == 16 ? 5 : 0;
}
