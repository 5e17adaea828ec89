/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "parts.h"

#include <stdbool.h>

static inline void halves(uint32_t* restrict low, uint32_t* restrict high, uint32_t count, bool rises) {
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t a = low[i], b = high[i];
    const uint32_t least = a < b ? a : b, most = a < b ? b : a;
    low[i] = rises ? least : most;
    high[i] = rises ? most : least;
  }
}

static inline void step(uint32_t* restrict data, uint32_t count, uint32_t apart, bool rises) {
  for (uint32_t first = 0; first < count; first += 2 * apart) halves(data + first, data + first + apart, apart, rises);
}

static void merge(uint32_t* restrict data, uint32_t count, bool rises) {
  for (uint32_t apart = count / 2; apart > 4; apart /= 2) step(data, count, apart, rises);
  // Numbers that the compiler knows, so that it unrolls the inner loop.
  if (count > 4) step(data, count, 4, rises);
  if (count > 2) step(data, count, 2, rises);
  step(data, count, 1, rises);
}

static void sort(uint32_t* data, uint32_t count, bool rises) {
  for (uint32_t size = 2; size <= count; size *= 2) {
    for (uint32_t first = 0; first < count; first += size) {
      merge(data + first, size, size == count ? rises : (first & size) == 0);
    }
  }
}

// One part or two.
void bitonic(uint32_t* restrict data, uint32_t count, uint32_t part, uint32_t parts) {
  if (parts == 1) {
    sort(data, count, true);
    return;
  }
  const uint32_t half = count / 2, quarter = half / 2;
  sort(data + part * half, half, part == 0);
  wait_for_all(parts);
  halves(data + part * quarter, data + half + part * quarter, quarter, true);
  wait_for_all(parts);
  merge(data + part * half, half, true);
}
