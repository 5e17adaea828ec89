// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cases.hpp"
#include "ggml-backend.h"
#include "numbers.hpp"

#include <algorithm>
#include <cmath>

namespace judge {

namespace {

void store(Tensor tensor, const std::vector<float>& values) {
  const std::vector<uint8_t> bytes = converted(tensor->type, values, tensor->ne[0]);
  lm_ggml_backend_tensor_set(tensor, bytes.data(), 0, bytes.size());
}

}  // namespace

Tensor Graph::input(Type type, const Shape& shape, float low, float high) {
  Tensor tensor = lm_ggml_new_tensor(context, type, static_cast<int>(shape.size()), shape.data());
  inputs_.emplace_back(tensor, [low, high](Tensor to, std::mt19937& random) {
    store(to, uniform(random, static_cast<size_t>(lm_ggml_nelements(to)), low, high));
  });
  return tensor;
}

Tensor Graph::distinct(const Shape& shape) {
  Tensor tensor = lm_ggml_new_tensor(context, LM_GGML_TYPE_F32, static_cast<int>(shape.size()), shape.data());
  inputs_.emplace_back(tensor, [](Tensor to, std::mt19937& random) {
    std::vector<float> values(static_cast<size_t>(lm_ggml_nelements(to)));
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>(i) - static_cast<float>(values.size()) / 2;
      std::swap(values[i], values[random() % (i + 1)]);
    }
    store(to, values);
  });
  return tensor;
}

Tensor Graph::integers(const Shape& shape, int low, int high) {
  Tensor tensor = lm_ggml_new_tensor(context, LM_GGML_TYPE_I32, static_cast<int>(shape.size()), shape.data());
  inputs_.emplace_back(tensor, [low, high](Tensor to, std::mt19937& random) {
    std::vector<int32_t> values(static_cast<size_t>(lm_ggml_nelements(to)));
    for (int32_t& value : values) value = low + static_cast<int32_t>(random() % static_cast<unsigned>(high - low));
    lm_ggml_backend_tensor_set(to, values.data(), 0, values.size() * sizeof(int32_t));
  });
  return tensor;
}

Tensor Graph::integers(const Shape& shape, std::vector<int32_t> values) {
  Tensor tensor = lm_ggml_new_tensor(context, LM_GGML_TYPE_I32, static_cast<int>(shape.size()), shape.data());
  inputs_.emplace_back(tensor, [values = std::move(values)](Tensor to, std::mt19937&) {
    lm_ggml_backend_tensor_set(to, values.data(), 0, values.size() * sizeof(int32_t));
  });
  return tensor;
}

Tensor Graph::mask(Type type, const Shape& shape, bool causal) {
  Tensor tensor = lm_ggml_new_tensor(context, type, static_cast<int>(shape.size()), shape.data());
  inputs_.emplace_back(tensor, [causal](Tensor to, std::mt19937& random) {
    std::vector<float> values(static_cast<size_t>(lm_ggml_nelements(to)));
    const int64_t keys = to->ne[0], rows = to->ne[1];
    for (size_t i = 0; i < values.size(); ++i) {
      const int64_t key = static_cast<int64_t>(i) % keys, row = static_cast<int64_t>(i) / keys % rows;
      const bool hidden = causal ? key > row + std::max<int64_t>(keys - rows, 0) : key != 0 && random() % 4 == 0;
      values[i] = hidden ? -INFINITY : 0.0f;
    }
    store(to, values);
  });
  return tensor;
}

void Graph::fill(std::mt19937& random) {
  for (const auto& [tensor, how] : inputs_) how(tensor, random);
}

std::string name_of(const Shape& shape) {
  std::string text;
  for (const int64_t n : shape) text += (text.empty() ? "" : "x") + std::to_string(n);
  return text;
}

const std::vector<Type>& weight_types() {
  static const std::vector<Type> types = [] {
    std::vector<Type> found;
    for (int i = 0; i < LM_GGML_TYPE_COUNT; ++i) {
      const auto type = static_cast<Type>(i);
      // The back end claims these two and has no kernels for them: it goes through a null pipeline.
      if (type == LM_GGML_TYPE_TQ1_0 || type == LM_GGML_TYPE_TQ2_0) continue;
      const bool number = type == LM_GGML_TYPE_F32 || type == LM_GGML_TYPE_F16 || type == LM_GGML_TYPE_BF16;
      if (number || (lm_ggml_is_quantized(type) && lm_ggml_get_type_traits(type)->to_float != nullptr))
        found.push_back(type);
    }
    return found;
  }();
  return types;
}

bool fits(Type type, int64_t row) {
  return row % lm_ggml_blck_size(type) == 0;
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  element_cases(cases);
  row_cases(cases);
  shape_cases(cases);
  matrix_cases(cases);
  image_cases(cases);
  sequence_cases(cases);
#ifdef JUDGE_RECENT
  recent_cases(cases);
#endif
  return cases;
}

}  // namespace judge
