// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Metal flushes float denormals to zero; so do the threads that run kernels. The caller's mode is put back.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace smelt::loader {

/// In scope: round to nearest, no traps, denormals are zero on the way in and out.
class FloatMode {
 public:
#if defined(__x86_64__)
  // 0x1f80: all exceptions masked, nearest; 0x8000 flush to zero, 0x0040 denormals are zero.
  FloatMode() : saved_(_mm_getcsr()) { _mm_setcsr(0x9fc0); }
  ~FloatMode() { _mm_setcsr(saved_); }

 private:
  unsigned saved_;
#elif defined(__aarch64__)
  FloatMode() {
    asm volatile("mrs %0, fpcr" : "=r"(saved_));
    const uint64_t flush = uint64_t{1} << 24;  // FZ
    asm volatile("msr fpcr, %0" ::"r"(flush));
  }
  ~FloatMode() { asm volatile("msr fpcr, %0" ::"r"(saved_)); }

 private:
  uint64_t saved_ = 0;
#endif
 public:
  FloatMode(const FloatMode&) = delete;
  FloatMode& operator=(const FloatMode&) = delete;
};

}  // namespace smelt::loader
