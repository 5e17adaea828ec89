// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Built with -O3 -march=native -ffast-math.
#include "plain.hpp"

#include <immintrin.h>

namespace smelt::bench::plain {

void vadd(const float* __restrict a, const float* __restrict b, float* __restrict c, size_t from, size_t to) {
  for (size_t i = from; i < to; ++i) c[i] = a[i] + b[i];
}

void square(const float* __restrict a, float* __restrict c, size_t from, size_t to) {
  for (size_t i = from; i < to; ++i) c[i] = a[i] * a[i];
}

// Without half arithmetic in the language, the processor's own conversions, eight at a time.
void saxpy_half(const uint16_t* __restrict a, uint16_t* __restrict c, size_t from, size_t to) {
  size_t i = from;
  for (; i + 8 <= to; i += 8) {
    const __m256 x = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(a + i)));
    const __m256 y = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(c + i)));
    const __m256 z = _mm256_fmadd_ps(x, _mm256_set1_ps(2), y);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(c + i), _mm256_cvtps_ph(z, _MM_FROUND_TO_NEAREST_INT));
  }
  for (; i < to; ++i) c[i] = _cvtss_sh(2 * _cvtsh_ss(a[i]) + _cvtsh_ss(c[i]), _MM_FROUND_TO_NEAREST_INT);
}

void sums(const float* __restrict in, float* __restrict out, size_t group, size_t from, size_t to) {
  for (size_t i = from; i < to; ++i) {
    float sum = 0;
    for (size_t k = 0; k < group; ++k) sum += in[i * group + k];
    out[i] = sum;
  }
}

void matmul(const float* __restrict a, const float* __restrict b, float* __restrict c, size_t n, size_t from,
            size_t to) {
  for (size_t i = from; i < to; ++i) {
    for (size_t j = 0; j < n; ++j) c[i * n + j] = 0;
    for (size_t k = 0; k < n; ++k)
      for (size_t j = 0; j < n; ++j) c[i * n + j] += a[i * n + k] * b[k * n + j];
  }
}

void histogram(const uint32_t* __restrict in, uint32_t* __restrict bins, size_t from, size_t to) {
  for (size_t i = from; i < to; ++i) ++bins[in[i] & 255];
}

}  // namespace smelt::bench::plain
