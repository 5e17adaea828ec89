/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A stand-in: the few names that the kernels of test_kernel_compilers.py use. */
#pragma once
#include <metal_stdlib>

namespace c10 {
namespace metal {

constexpr constant unsigned simdgroup_size = 32;

template <typename T>
inline T max(T a, T b) {
  return a != a ? a : (b != b || b > a ? b : a);
}
template <typename T>
inline T min(T a, T b) {
  return a != a ? a : (b != b || b < a ? b : a);
}

}  // namespace metal
}  // namespace c10
