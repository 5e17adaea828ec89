/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// Shared by the C programs: each runs as `parts` threads, which call the same function with `part` 0, 1, ...
#pragma once
#include <math.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

/// The first element of a part; the next part's first is its end.
static inline uint32_t first_of(uint32_t count, uint32_t part, uint32_t parts) {
  return (uint32_t)((uint64_t)count * part / parts);
}

/// Returns once all parts have called it.
static inline void wait_for_all(uint32_t parts) {
  static atomic_uint arrived, round;
  if (parts == 1) return;
  const uint32_t now = atomic_load(&round);
  if (atomic_fetch_add(&arrived, 1) + 1 == parts) {
    atomic_store(&arrived, 0);
    atomic_fetch_add(&round, 1);
  } else {
    while (atomic_load(&round) == now) sched_yield();
  }
}
