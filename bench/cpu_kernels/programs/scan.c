/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "parts.h"

// One part is one pass. More parts sum their elements first. `totals` has an element for each part.
void scan(const uint32_t* restrict from, uint32_t* restrict to, uint32_t* restrict totals, uint32_t count,
          uint32_t part, uint32_t parts) {
  const uint32_t begin = first_of(count, part, parts), end = first_of(count, part + 1, parts);
  uint32_t sum = 0;
  if (parts > 1) {
    for (uint32_t i = begin; i < end; ++i) sum += from[i];
    totals[part] = sum;
    wait_for_all(parts);
    sum = 0;
    for (uint32_t i = 0; i < part; ++i) sum += totals[i];
  }
  for (uint32_t i = begin; i < end; ++i) {
    sum += from[i];
    to[i] = sum;
  }
}
