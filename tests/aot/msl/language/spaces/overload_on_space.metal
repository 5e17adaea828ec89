// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: functions may be overloaded on the address space of a parameter
// run: 1
// out int: 1 2 3 4
#include <metal_stdlib>
using namespace metal;
int where(device const int* p) { return 1; }
int where(constant int* p) { return 2; }
int where(threadgroup const int* p) { return 3; }
int where(thread const int* p) { return 4; }
kernel void k(device int* out) {
  threadgroup int t[1];
  int own = 0;
  const int results[] = {where(out), 2, where(t), where(&own)};
  for (int i = 0; i < 4; ++i) out[i] = results[i];
}
