// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a vector can be shifted by a vector of another signedness and width; the result has the left operand's type
// run: 1
// in 1 int: -8 5
// in 2 uint: 1 33
// out int: -16 10 -4 2 8 -2 20 -16
#include <metal_stdlib>
using namespace metal;
kernel void k(device int* out, device int2* x [[buffer(1)]], device uint2* n [[buffer(2)]]) {
  const int2 left = x[0] << n[0], right = x[0] >> n[0];
  const short2 narrow = short2(2, 3) << ushort2(2);
  out[0] = left.x;
  out[1] = left.y;
  out[2] = right.x;
  out[3] = right.y;
  out[4] = narrow.x;
  int2 both = x[0];
  both >>= ulong2(2);
  out[5] = both.x;
  both = x[0];
  both <<= uchar2(2);
  out[6] = both.y;
  out[7] = (x[0] << 1u).x;
}
