// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One operation of ggml, twice: as a graph for its CPU back end, and as the launches that its Metal back end makes of
// it (grid, threads, constants, threadgroup memory as in ggml-metal-ops.cpp of the release whose library is run).
#pragma once

#include "smelt/loader/encoder.hpp"

#include "ggml.h"

#include <cstdint>
#include <string>
#include <vector>

namespace smelt::bench {

struct Binding {
  uint32_t slot = 0;
  void* data = nullptr;  ///< borrowed from the case
  size_t bytes = 0;
};

/// One kernel of the library with everything that it is given.
struct KernelLaunch {
  std::string kernel;
  std::vector<std::byte> arguments;  ///< buffer 0
  loader::ConstantValues constants;
  std::vector<Binding> buffers;
  uint64_t threadgroup_bytes = 0;  ///< argument 0; none: 0
  loader::Size3 groups;
  loader::Size3 threads;
};

/// A product for OpenBLAS: row-major c (m x n) = b (m x k) times a (n x k) transposed, all of it float.
struct Product {
  int m = 0, n = 0, k = 0;
  std::vector<float> a, b, c;
};

struct GgmlCase {
  std::string name;
  std::string shape;
  lm_ggml_context* context = nullptr;
  lm_ggml_tensor* result = nullptr;  ///< what the graph computes
  std::vector<KernelLaunch> launches;
  std::vector<float> ours;  ///< the same elements, written by the last launch
  std::vector<std::vector<std::byte>> memory;
  Product product;      ///< m is 0 where there is none
  double bound = 1e-6;  ///< of the normalised mean square error between the two
};

/// Uniform in [-1, 1), converted to the type as ggml does it.
lm_ggml_tensor* filled(lm_ggml_context* context, lm_ggml_type type, std::vector<int64_t> shape, uint32_t seed);
lm_ggml_context* new_context(size_t megabytes);

template <class T>
std::vector<std::byte> bytes_of(const T& value) {
  const auto* at = reinterpret_cast<const std::byte*>(&value);
  return {at, at + sizeof(T)};
}
inline Binding bind(uint32_t slot, const lm_ggml_tensor* tensor) {
  return {slot, tensor->data, lm_ggml_nbytes(tensor)};
}
inline Binding bind(uint32_t slot, std::vector<float>& values) {
  return {slot, values.data(), values.size() * sizeof(float)};
}

/// Shapes of a model with 7 billion weights: width 4096, 32 heads of 128.
GgmlCase mat_vec_q4_0();
GgmlCase mat_mat_f16();
GgmlCase soft_max();
GgmlCase rms_norm();
GgmlCase attention_of_prompt();
GgmlCase attention_of_token();

}  // namespace smelt::bench
