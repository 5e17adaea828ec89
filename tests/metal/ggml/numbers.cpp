// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "numbers.hpp"

#include <cstring>

namespace judge {

float uniform(std::mt19937& random, float low, float high) {
  return low + (high - low) * static_cast<float>(random() >> 8) * 0x1p-24f;
}

std::vector<float> uniform(std::mt19937& random, size_t count, float low, float high) {
  std::vector<float> values(count);
  for (float& value : values) value = uniform(random, low, high);
  return values;
}

uint32_t seed_of(const std::string& text) {
  uint32_t hash = 2166136261u;
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 16777619u;
  return hash;
}

std::vector<uint8_t> converted(lm_ggml_type type, const std::vector<float>& values, int64_t row) {
  const auto count = static_cast<int64_t>(values.size());
  std::vector<uint8_t> bytes(lm_ggml_row_size(type, row) * static_cast<size_t>(count / row));
  if (type == LM_GGML_TYPE_F32) {
    memcpy(bytes.data(), values.data(), bytes.size());
  } else if (type == LM_GGML_TYPE_F16) {
    lm_ggml_fp32_to_fp16_row(values.data(), reinterpret_cast<lm_ggml_fp16_t*>(bytes.data()), count);
  } else if (type == LM_GGML_TYPE_BF16) {
    lm_ggml_fp32_to_bf16_row(values.data(), reinterpret_cast<lm_ggml_bf16_t*>(bytes.data()), count);
  } else {
    const std::vector<float> importance(static_cast<size_t>(row), 1.0f);
    lm_ggml_quantize_chunk(type, values.data(), bytes.data(), 0, count / row, row,
                           lm_ggml_quantize_requires_imatrix(type) ? importance.data() : nullptr);
  }
  return bytes;
}

std::vector<float> as_floats(lm_ggml_type type, const std::vector<uint8_t>& bytes, size_t count) {
  std::vector<float> values(count);
  if (type == LM_GGML_TYPE_F32)
    memcpy(values.data(), bytes.data(), count * sizeof(float));
  else
    lm_ggml_get_type_traits(type)->to_float(bytes.data(), values.data(), static_cast<int64_t>(count));
  return values;
}

}  // namespace judge
