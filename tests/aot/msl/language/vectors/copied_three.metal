// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a vector of three that is copied keeps all its components, however small they are
// run: 32
// in 1 uint: 0 0 67305985 134678021
// out int: 0 0 0 1 0 4 4 6 0 0 8 0 0 12 12 0 16 16 16 2 16 20 4 7 24 8 24 0 8 28 4 0
#include <metal_stdlib>
using namespace metal;
kernel void k(device int* out, device const uint* n [[buffer(1)]], uint i [[thread_position_in_grid]],
              uint lane [[thread_index_in_simdgroup]], uint lid [[thread_position_in_threadgroup]]) {
  const uint own = i + n[0];
  const ulong at = ulong(lane + 7u);
  const uchar place = uchar(lid);
  out[i] = uchar(uchar(place + uchar(32)) &
                 uchar(place & ((at & 3) == 2 ? uchar3(((device const uchar3*)n)[at >> 2 & 3])
                                              : uchar3(uchar(7), uchar(15), uchar(127)) + uchar3(uchar(own)))[own % 3u]));
}
