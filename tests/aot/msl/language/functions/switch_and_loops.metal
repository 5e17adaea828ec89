// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: `switch`, `do`, `while` and range-based `for`
// run: 1
// out int: 16
#include <metal_stdlib>
using namespace metal;
kernel void k(device int* out) {
  int sum = 0;
  const int all[3] = {1, 2, 3};
  for (int x : all) sum += x;
  do { ++sum; } while (sum < 10);
  switch (sum) {
    case 10: sum += 5; [[fallthrough]];
    default: ++sum;
  }
  out[0] = sum;
}
