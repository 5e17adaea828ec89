// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// llama.cpp through its public interface: a model from a file, on the Metal device or without any.
#pragma once
#include "llama.h"
#include "model_files.hpp"

#include <memory>
#include <string>
#include <vector>

namespace judge {

using Rows = std::vector<std::vector<float>>;

struct Generated {
  std::vector<llama_token> tokens;  // the likeliest after the prompt, and after each of them
  Rows logits;                      // of each token of the prompt, then after each token that was generated
};

/// A model with its context. One thread at a time.
class Model {
 public:
  /// `metal`: all layers on the Metal device; else llama.cpp is given no device and uses ggml's CPU back end.
  /// `exact`: keys and values in single precision, plain attention. Empty when it cannot be loaded: llama.cpp has said
  /// why.
  /// `threads`: of the CPU back end.
  static std::unique_ptr<Model> open(const ModelKind& kind, const std::string& path, bool metal, bool exact,
                                     int threads);

  Generated generate(const std::vector<llama_token>& prompt, size_t count);
  /// One vector for each text, of all of them at once.
  Rows embed(const std::vector<std::vector<llama_token>>& texts);

 private:
  struct Free {
    void operator()(llama_model* model) const { llama_model_free(model); }
    void operator()(llama_context* context) const { llama_free(context); }
  };
  std::vector<float> logits_at(int32_t i);

  std::unique_ptr<llama_model, Free> model_;
  std::unique_ptr<llama_context, Free> context_;
};

llama_token likeliest(const std::vector<float>& logits);

}  // namespace judge
