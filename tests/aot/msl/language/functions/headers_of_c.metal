// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: C headers that a program shares with its kernels
// run: 1
// out int: 1 255 127 8 4 2147483647
#include <assert.h>
#include <float.h>
#include <iso646.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <metal_stdlib>
struct Shared { uint32_t first; int16_t second; };
kernel void k(device int32_t* out) {
  assert(out != NULL);
  bool found = true;
  out[0] = found and FLT_MAX > 1.0f and not metal::isnan(INFINITY);
  out[1] = UINT8_MAX;
  out[2] = INT8_MAX;
  out[3] = CHAR_BIT;
  out[4] = int(offsetof(Shared, second));
  out[5] = INT32_MAX;
}
