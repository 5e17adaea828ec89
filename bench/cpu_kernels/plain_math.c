/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// The two loops with transcendental functions, on the same functions that CPU slices use, so that loops are compared
// and not libraries. Built with -O3 -march=native -fopenmp-simd; no fast-math, which would fold the functions' rounding
// away.
#include "runtime/exponential.c"
#include "runtime/trigonometric.c"

#include <stddef.h>

void plain_softmax(const float* restrict in, float* restrict out, size_t columns, size_t from, size_t to) {
  for (size_t row = from; row < to; ++row) {
    const float* restrict x = in + row * columns;
    float* restrict y = out + row * columns;
    float largest = -INF;
#pragma omp simd reduction(max : largest)
    for (size_t i = 0; i < columns; ++i) largest = x[i] > largest ? x[i] : largest;
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < columns; ++i) {
      y[i] = smelt_rt_fast_exp(x[i] - largest);
      sum += y[i];
    }
    const float inverse = 1.0f / sum;
#pragma omp simd
    for (size_t i = 0; i < columns; ++i) y[i] *= inverse;
  }
}

void plain_rope(const float* restrict a, float* restrict c, size_t columns, size_t from, size_t to) {
  const size_t half = columns / 2;
  for (size_t row = from; row < to; ++row) {
    const float* restrict x = a + row * columns;
    float* restrict y = c + row * columns;
#pragma omp simd
    for (size_t i = 0; i < half; ++i) {
      const float angle = (float)row * smelt_rt_fast_exp2((float)(int)i * -0.02595256268978119f);
      const float cosine = smelt_rt_fast_cos(angle);
      const float sine = smelt_rt_fast_sin(angle);
      y[i] = x[i] * cosine - x[half + i] * sine;
      y[half + i] = x[i] * sine + x[half + i] * cosine;
    }
  }
}
