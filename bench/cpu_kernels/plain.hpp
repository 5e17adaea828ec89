// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The eight kernels as plain loops, over rows or elements [from, to). What a kernel does beyond the loop (edges,
// groups) is left out: this is what a CPU programmer would write.
#pragma once

#include <cstddef>
#include <cstdint>

namespace smelt::bench::plain {

void vadd(const float* a, const float* b, float* c, size_t from, size_t to);
void square(const float* a, float* c, size_t from, size_t to);
void saxpy_half(const uint16_t* a, uint16_t* c, size_t from, size_t to);
void sums(const float* in, float* out, size_t group, size_t from, size_t to);  ///< groups [from, to)
void matmul(const float* a, const float* b, float* c, size_t n, size_t from, size_t to);
void histogram(const uint32_t* in, uint32_t* bins, size_t from, size_t to);

}  // namespace smelt::bench::plain

extern "C" {
void plain_softmax(const float* in, float* out, size_t columns, size_t from, size_t to);
void plain_rope(const float* a, float* c, size_t columns, size_t from, size_t to);
}
