// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "model_files.hpp"

#include "gguf.h"
#include "numbers.hpp"

#include <cmath>
#include <list>
#include <memory>

namespace judge {

namespace {

constexpr int kWidth = 256, kInner = 512, kLayers = 2, kHeads = 4;

/// Of one file: collects its tensors, whose numbers come from one generator in the order of their names here.
class ModelFile {
 public:
  ModelFile(const ModelKind& kind, bool exact)
      : weights_(kind.weights), exact_(exact), random_(seed_of(kind.architecture)) {
    lm_gguf_set_val_str(file_.get(), "general.architecture", kind.architecture.c_str());
    lm_gguf_set_val_str(file_.get(), "tokenizer.ggml.model", "no_vocab");
    prefix_ = kind.architecture + ".";
    number("vocab_size", kVocabulary);
    number("context_length", kContext);
    number("embedding_length", kWidth);
    number("block_count", kLayers);
    number("feed_forward_length", kInner);
    number("attention.head_count", kHeads);
  }

  void number(const std::string& key, uint32_t value) {
    lm_gguf_set_val_u32(file_.get(), (prefix_ + key).c_str(), value);
  }
  void real(const std::string& key, float value) { lm_gguf_set_val_f32(file_.get(), (prefix_ + key).c_str(), value); }
  void flag(const std::string& key, bool value) { lm_gguf_set_val_bool(file_.get(), (prefix_ + key).c_str(), value); }
  void plain_number(const char* key, uint32_t value) { lm_gguf_set_val_u32(file_.get(), key, value); }

  /// Of `in` columns, scaled so that a product has numbers about as large as its input.
  void matrix(const std::string& name, int64_t in, int64_t out, int64_t count = 1, float scale = 1) {
    const float limit = scale * std::sqrt(3.0f / static_cast<float>(in));
    add(name, weights_, {in, out, count}, -limit, limit);
  }
  /// The same, in single precision whatever the others have.
  void exact_matrix(const std::string& name, int64_t in, int64_t out, float scale) {
    const float limit = scale * std::sqrt(3.0f / static_cast<float>(in));
    add(name, LM_GGML_TYPE_F32, {in, out, 1}, -limit, limit);
  }
  void vector(const std::string& name, int64_t length, float low, float high) {
    add(name, LM_GGML_TYPE_F32, {length, 1, 1}, low, high);
  }
  void norm(const std::string& name) { vector(name + ".weight", kWidth, 0.8f, 1.2f); }
  void norm_with_bias(const std::string& name) {
    norm(name);
    bias(name, kWidth);
  }
  void bias(const std::string& name, int64_t length) { vector(name + ".bias", length, -0.1f, 0.1f); }

  bool write(const std::string& path) { return lm_gguf_write_to_file(file_.get(), path.c_str(), false); }

 private:
  void add(const std::string& name, lm_ggml_type type, const std::vector<int64_t>& shape, float low, float high) {
    const auto count = static_cast<size_t>(shape[0] * shape[1] * shape[2]);
    std::vector<uint8_t> bytes = converted(type, uniform(random_, count, low, high), shape[0]);
    if (exact_ && type != LM_GGML_TYPE_F32) {
      bytes = converted(LM_GGML_TYPE_F32, as_floats(type, bytes, count), shape[0]);
      type = LM_GGML_TYPE_F32;
    }
    const int dimensions = shape[2] > 1 ? 3 : shape[1] > 1 ? 2 : 1;
    lm_ggml_tensor* tensor = lm_ggml_new_tensor(tensors_.get(), type, dimensions, shape.data());
    lm_ggml_set_name(tensor, name.c_str());
    bytes_.push_back(std::move(bytes));
    tensor->data = bytes_.back().data();
    lm_gguf_add_tensor(file_.get(), tensor);
  }

  template <auto Free>
  struct Freed {
    template <class T>
    void operator()(T* pointer) const {
      Free(pointer);
    }
  };

  const lm_ggml_type weights_;
  const bool exact_;
  std::mt19937 random_;
  std::string prefix_;
  std::list<std::vector<uint8_t>> bytes_;
  std::unique_ptr<lm_gguf_context, Freed<lm_gguf_free>> file_{lm_gguf_init_empty()};
  std::unique_ptr<lm_ggml_context, Freed<lm_ggml_free>> tensors_{
      lm_ggml_init({lm_ggml_tensor_overhead() * 256, nullptr, true})};
};

// Grouped heads; the last matrix makes logits some units apart.
void add_llama(ModelFile& file, int experts) {
  constexpr int kKeyHeads = 2, kKeys = kWidth / kHeads * kKeyHeads;
  file.number("attention.head_count_kv", kKeyHeads);
  file.real("attention.layer_norm_rms_epsilon", 1e-5f);
  if (experts != 0) {
    file.number("expert_count", static_cast<uint32_t>(experts));
    file.number("expert_used_count", 2);
  }
  file.matrix("token_embd.weight", kWidth, kVocabulary, 1, std::sqrt(static_cast<float>(kWidth)));
  file.norm("output_norm");
  file.matrix("output.weight", kWidth, kVocabulary, 1, 4);
  for (int i = 0; i < kLayers; ++i) {
    const std::string layer = "blk." + std::to_string(i) + ".";
    file.norm(layer + "attn_norm");
    file.matrix(layer + "attn_q.weight", kWidth, kWidth, 1, 2);
    file.matrix(layer + "attn_k.weight", kWidth, kKeys, 1, 2);
    file.matrix(layer + "attn_v.weight", kWidth, kKeys);
    file.matrix(layer + "attn_output.weight", kWidth, kWidth);
    file.norm(layer + "ffn_norm");
    if (experts != 0) file.exact_matrix(layer + "ffn_gate_inp.weight", kWidth, experts, 4);
    const std::string many = experts != 0 ? "_exps" : "";
    const int count = experts != 0 ? experts : 1;
    file.matrix(layer + "ffn_gate" + many + ".weight", kWidth, kInner, count, 2);
    file.matrix(layer + "ffn_up" + many + ".weight", kWidth, kInner, count);
    file.matrix(layer + "ffn_down" + many + ".weight", kInner, kWidth, count);
  }
}

void add_bert(ModelFile& file) {
  file.real("attention.layer_norm_epsilon", 1e-5f);
  file.flag("attention.causal", false);
  file.number("pooling_type", 1);  // the mean
  file.plain_number("tokenizer.ggml.token_type_count", 2);
  file.matrix("token_embd.weight", kWidth, kVocabulary, 1, std::sqrt(static_cast<float>(kWidth)));
  file.exact_matrix("token_types.weight", kWidth, 2, 1);
  file.exact_matrix("position_embd.weight", kWidth, kContext, 8);
  file.norm_with_bias("token_embd_norm");
  for (int i = 0; i < kLayers; ++i) {
    const std::string layer = "blk." + std::to_string(i) + ".";
    for (const char* part : {"attn_q", "attn_k", "attn_v", "attn_output"}) {
      file.matrix(layer + part + ".weight", kWidth, kWidth);
      file.bias(layer + part, kWidth);
    }
    file.norm_with_bias(layer + "attn_output_norm");
    file.matrix(layer + "ffn_up.weight", kWidth, kInner);
    file.bias(layer + "ffn_up", kInner);
    file.matrix(layer + "ffn_down.weight", kInner, kWidth);
    file.bias(layer + "ffn_down", kWidth);
    file.norm_with_bias(layer + "layer_output_norm");
  }
}

}  // namespace

const std::vector<ModelKind>& model_kinds() {
  static const std::vector<ModelKind> kinds = {
      {"llama-q4_0", "llama", LM_GGML_TYPE_Q4_0, LM_GGML_TYPE_F16, true},
      {"experts-q4_K", "llama", LM_GGML_TYPE_Q4_K, LM_GGML_TYPE_F16, true, 8},
      {"bert-q8_0", "bert", LM_GGML_TYPE_Q8_0, LM_GGML_TYPE_F16, true},
      {"llama-q6_K", "llama", LM_GGML_TYPE_Q6_K, LM_GGML_TYPE_F16, false},
      {"llama-q8_0-cache-q8_0", "llama", LM_GGML_TYPE_Q8_0, LM_GGML_TYPE_Q8_0, true},
      {"llama-f16", "llama", LM_GGML_TYPE_F16, LM_GGML_TYPE_F16, true},
      {"experts-mxfp4", "llama", LM_GGML_TYPE_MXFP4, LM_GGML_TYPE_F16, false, 8},
      {"bert-f16", "bert", LM_GGML_TYPE_F16, LM_GGML_TYPE_F16, false},
  };
  return kinds;
}

bool write_model(const ModelKind& kind, bool exact, const std::string& path) {
  ModelFile file(kind, exact);
  if (kind.embeds())
    add_bert(file);
  else
    add_llama(file, kind.experts);
  return file.write(path);
}

}  // namespace judge
