/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#pragma once
#include <metal_stdlib>

namespace c10 {
namespace metal {

template <typename T>
inline float log1p(T x) {
  const float u = 1.0f + float(x);
  return u == 1.0f ? float(x) : ::metal::precise::log(u) * (float(x) / (u - 1.0f));
}

}  // namespace metal
}  // namespace c10
