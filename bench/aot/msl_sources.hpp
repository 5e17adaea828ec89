// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same kernels in three languages: y = a * x + y + k, bounds checked, for k from 0.
#pragma once

#include <fmt/format.h>

#include <string>

namespace smelt::bench {

inline std::string numbered(size_t kernels, fmt::format_string<size_t&> kernel) {
  std::string text;
  for (size_t i = 0; i < kernels; ++i) text += fmt::format(kernel, i);
  return text;
}

inline std::string metal_source(size_t kernels) {
  return "#include <metal_stdlib>\nusing namespace metal;\n" +
         numbered(kernels,
                  "kernel void axpy_{0}(device const float* x [[buffer(0)]], device float* y [[buffer(1)]], constant "
                  "float& a [[buffer(2)]], constant uint& n [[buffer(3)]], uint i [[thread_position_in_grid]]) {{\n"
                  "  if (i < n) y[i] = fma(a, x[i], y[i]) + {0}.0f;\n}}\n");
}

inline std::string opencl_source(size_t kernels) {
  return numbered(kernels,
                  "__kernel void axpy_{0}(__global const float* x, __global float* y, float a, uint n) {{\n"
                  "  size_t i = get_global_id(0);\n  if (i < n) y[i] = fma(a, x[i], y[i]) + {0}.0f;\n}}\n");
}

/// No header: the easier job.
inline std::string cpp_source(size_t kernels) {
  return numbered(kernels,
                  "extern \"C\" void axpy_{0}(const float* x, float* y, const float& a, const unsigned& n, unsigned i) "
                  "{{\n  if (i < n) y[i] = __builtin_fmaf(a, x[i], y[i]) + {0}.0f;\n}}\n");
}

}  // namespace smelt::bench
