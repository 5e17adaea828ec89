// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a constant float that an integer cannot hold becomes the nearest value that it can hold; NaN becomes 0
// run: 1
// out int: 0 0 255 127 -2147483648 0 2147483647 255 1 -1 32767 3
#include <metal_stdlib>
using namespace metal;
constant uint kNegative = uint(-31.0f);
constant int kLarge = int(1e20f);
static int converted(float x) { return int(x); }
kernel void k(device int* out) {
  out[0] = int(uint(-31.0f));
  out[1] = int(ushort(half(-31.0h)));
  out[2] = int(uchar(300.0f));
  out[3] = int(char(1000.0f));
  out[4] = converted(-1e30f);
  out[5] = int(kNegative) + int(NAN);
  out[6] = kLarge;
  out[7] = uchar4(float4(1e9f)).z;
  out[8] = uint(-1.5f) == 0 ? 1 : 2;
  const float most = 1e30f;
  out[9] = int(uint(most));
  out[10] = short(bfloat(1e9f));
  if (uchar(-1.0f)) out[11] = 2; else out[11] = 3;
}
