// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#define STEPS 255
typedef struct {
  float price, strike, up, to_up, to_down;
} Option;

kernel void binomial(global const Option* restrict options, global float* restrict values) {
  local float level[2][STEPS + 1];
  const uint node = get_local_id(0), number = get_group_id(0);
  const Option option = options[number];
  float price = option.price * pow(option.up, 2.0f * (float)node - (float)STEPS);
  level[STEPS & 1][node] = max(option.strike - price, 0.0f);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint step = STEPS; step > 0; --step) {
    const uint from = step & 1;
    if (node < step) {
      price *= option.up;
      const float kept = option.to_up * level[from][node + 1] + option.to_down * level[from][node];
      level[from ^ 1][node] = max(kept, option.strike - price);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (node == 0) values[number] = level[0][0];
}
