/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "parts.h"

void spmv(const uint32_t* restrict starts, const uint32_t* restrict columns, const float* restrict values,
          const float* restrict x, float* restrict y, uint32_t rows, uint32_t part, uint32_t parts) {
  const uint32_t end = first_of(rows, part + 1, parts);
  for (uint32_t row = first_of(rows, part, parts); row < end; ++row) {
    float sum = 0.0f;
    for (uint32_t i = starts[row]; i < starts[row + 1]; ++i) sum += values[i] * x[columns[i]];
    y[row] = sum;
  }
}
