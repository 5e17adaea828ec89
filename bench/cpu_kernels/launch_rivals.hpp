// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernel of bench_cpu_kernels_launch as a CPU programmer would write it.
#pragma once

#include <cstddef>

namespace smelt::bench::rivals {

/// c = a + b.
void add(const float* a, const float* b, float* c, size_t count);
/// The same, in pieces of `group` elements by OpenMP's `parallel for` on so many threads.
void add_parallel(const float* a, const float* b, float* c, size_t count, size_t group, int threads);
/// `times` calls of add() on pieces of `count` elements that follow each other, by OpenMP's `parallel for`.
void add_batch_parallel(const float* a, const float* b, float* c, size_t count, size_t times, int threads);

}  // namespace smelt::bench::rivals
