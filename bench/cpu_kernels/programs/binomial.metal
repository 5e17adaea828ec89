// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <metal_stdlib>
using namespace metal;

// American puts: a threadgroup an option, a thread a node of the tree's last level; back to the root level by level.
// An option: price of the share, strike, up factor, discounted probability of up, and of down.
constant uint kSteps = 255;
struct Option {
  float price, strike, up, to_up, to_down;
};

kernel void binomial(device const Option* options, device float* values, uint node [[thread_position_in_threadgroup]],
                     uint number [[threadgroup_position_in_grid]]) {
  threadgroup float level[2][kSteps + 1];
  const Option option = options[number];
  float price = option.price * pow(option.up, 2.0f * float(node) - float(kSteps));
  level[kSteps & 1][node] = max(option.strike - price, 0.0f);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint step = kSteps; step > 0; --step) {
    const uint from = step & 1;
    if (node < step) {
      price *= option.up;
      const float kept = option.to_up * level[from][node + 1] + option.to_down * level[from][node];
      level[from ^ 1][node] = max(kept, option.strike - price);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  if (node == 0) values[number] = level[0][0];
}
