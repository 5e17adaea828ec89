// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a vector of three that is copied keeps all its components, however small they are
// run: 4
// in 1 uint: 4 9
// out int: 36 330 5 25
#include <metal_stdlib>
using namespace metal;
kernel void k(device int* out, device const uint* n [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  const uint own = i + n[0];
  const uchar3 bytes = (own & 3) == 2 ? uchar3(((device const uchar3*)n)[own & 1]) : uchar3(7, 18, 165) + uchar3(own);
  const short3 numbers = (own & 3) == 3 ? short3(((device const short3*)n)[0]) : short3(7, 18, 165) - short3(own);
  out[i] = bytes[own % 3u] + numbers[own % 3u];
}
