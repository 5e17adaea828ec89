// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small models with random weights, as the files that llama.cpp loads. They have llama.cpp's shapes and no meaning;
// their vocabulary is a number of tokens without text.
#pragma once
#include "ggml.h"

#include <string>
#include <vector>

namespace judge {

struct ModelKind {
  std::string name;
  std::string architecture;
  lm_ggml_type weights;          // of matrices; everything else is single precision
  lm_ggml_type attention_cache;  // of keys and values
  bool flash_attention;
  int experts = 0;
  bool embeds() const { return architecture == "bert"; }
};

/// Those of every day first, then what `scripts/nightly` takes too.
const std::vector<ModelKind>& model_kinds();
/// How many of them are taken every day.
constexpr size_t kDailyModels = 3;

constexpr int kVocabulary = 512;
constexpr int kContext = 128;

/// Writes the model; the same bytes on every machine. `exact`: what its weights stand for, in single precision.
bool write_model(const ModelKind& kind, bool exact, const std::string& path);

}  // namespace judge
