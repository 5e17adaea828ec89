// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Built with -O3 -march=native -fopenmp.
#include "launch_rivals.hpp"

namespace smelt::bench::rivals {

[[gnu::noinline]] void add(const float* __restrict a, const float* __restrict b, float* __restrict c, size_t count) {
  for (size_t i = 0; i < count; ++i) c[i] = a[i] + b[i];
}

void add_parallel(const float* a, const float* b, float* c, size_t count, size_t group, int threads) {
#pragma omp parallel for num_threads(threads)
  for (size_t first = 0; first < count; first += group) add(a + first, b + first, c + first, group);
}

void add_batch_parallel(const float* a, const float* b, float* c, size_t count, size_t times, int threads) {
#pragma omp parallel for num_threads(threads)
  for (size_t i = 0; i < times; ++i) add(a + i * count, b + i * count, c + i * count, count);
}

}  // namespace smelt::bench::rivals
