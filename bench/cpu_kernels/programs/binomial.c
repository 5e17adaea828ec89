/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "parts.h"

enum { kSteps = 255 };
typedef struct {
  float price, strike, up, to_up, to_down;
} Option;

void binomial(const Option* restrict options, float* restrict values, uint32_t count, uint32_t part, uint32_t parts) {
  const uint32_t end = first_of(count, part + 1, parts);
  for (uint32_t number = first_of(count, part, parts); number < end; ++number) {
    const Option option = options[number];
    float price[kSteps + 1], value[kSteps + 1];
    for (int node = 0; node <= kSteps; ++node) {
      price[node] = option.price * powf(option.up, (float)(2 * node - kSteps));
      value[node] = fmaxf(option.strike - price[node], 0.0f);
    }
    for (int step = kSteps; step > 0; --step) {
      for (int node = 0; node < step; ++node) {
        price[node] *= option.up;
        const float kept = option.to_up * value[node + 1] + option.to_down * value[node];
        value[node] = fmaxf(kept, option.strike - price[node]);
      }
    }
    values[number] = value[0];
  }
}
