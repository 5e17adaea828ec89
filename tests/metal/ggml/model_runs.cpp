// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "model_runs.hpp"

#include "ggml-backend.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace judge {

namespace {

constexpr int kMostTexts = 4;

[[noreturn]] void die(const char* what) {
  fprintf(stderr, "%s\n", what);
  exit(1);
}

/// Tokens of one or several texts, each with its logits or as part of its text's vector.
class Batch {
 public:
  explicit Batch(const std::vector<std::vector<llama_token>>& texts, llama_pos first = 0) {
    for (size_t text = 0; text < texts.size(); ++text)
      for (size_t i = 0; i < texts[text].size(); ++i) {
        const int32_t at = batch_.n_tokens++;
        batch_.token[at] = texts[text][i];
        batch_.pos[at] = first + static_cast<llama_pos>(i);
        batch_.n_seq_id[at] = 1;
        batch_.seq_id[at][0] = static_cast<llama_seq_id>(text);
        batch_.logits[at] = 1;
      }
  }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;
  ~Batch() { llama_batch_free(batch_); }
  const llama_batch& get() const { return batch_; }

 private:
  llama_batch batch_ = llama_batch_init(kContext, 0, kMostTexts);
};

}  // namespace

std::unique_ptr<Model> Model::open(const ModelKind& kind, const std::string& path, bool metal, bool exact,
                                   int threads) {
  lm_ggml_backend_dev_t devices[] = {metal ? lm_ggml_backend_dev_by_type(LM_GGML_BACKEND_DEVICE_TYPE_GPU) : nullptr,
                                     nullptr};
  if (metal && devices[0] == nullptr) return nullptr;
  llama_model_params how = llama_model_default_params();
  how.devices = devices;
  how.n_gpu_layers = metal ? -1 : 0;
  auto made = std::make_unique<Model>();
  made->model_.reset(llama_model_load_from_file(path.c_str(), how));
  if (!made->model_) return nullptr;
  llama_context_params with = llama_context_default_params();
  with.n_ctx = kContext;
  with.n_batch = with.n_ubatch = kContext;
  with.n_seq_max = kind.embeds() ? kMostTexts : 1;
  with.kv_unified = true;
  with.n_threads = with.n_threads_batch = threads;
  with.embeddings = kind.embeds();
  with.type_k = with.type_v = exact ? LM_GGML_TYPE_F32 : kind.attention_cache;
  with.flash_attn_type =
      kind.flash_attention && !exact ? LLAMA_FLASH_ATTN_TYPE_ENABLED : LLAMA_FLASH_ATTN_TYPE_DISABLED;
  made->context_.reset(llama_init_from_model(made->model_.get(), with));
  return made->context_ ? std::move(made) : nullptr;
}

std::vector<float> Model::logits_at(int32_t i) {
  const float* logits = llama_get_logits_ith(context_.get(), i);
  if (logits == nullptr) die("no logits");
  return {logits, logits + kVocabulary};
}

llama_token likeliest(const std::vector<float>& logits) {
  return static_cast<llama_token>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

Generated Model::generate(const std::vector<llama_token>& prompt, size_t count) {
  Generated made;
  const Batch batch({prompt});
  if (llama_decode(context_.get(), batch.get()) != 0) die("the prompt could not be computed");
  for (size_t i = 0; i < prompt.size(); ++i) made.logits.push_back(logits_at(static_cast<int32_t>(i)));
  made.tokens.push_back(likeliest(made.logits.back()));
  while (made.tokens.size() < count) {
    const Batch next({{made.tokens.back()}}, static_cast<llama_pos>(prompt.size() + made.tokens.size() - 1));
    if (llama_decode(context_.get(), next.get()) != 0) die("a token could not be computed");
    made.logits.push_back(logits_at(0));
    made.tokens.push_back(likeliest(made.logits.back()));
  }
  return made;
}

Rows Model::embed(const std::vector<std::vector<llama_token>>& texts) {
  const Batch batch(texts);
  if (llama_encode(context_.get(), batch.get()) != 0) die("the texts could not be computed");
  Rows rows;
  for (size_t text = 0; text < texts.size(); ++text) {
    const float* vector = llama_get_embeddings_seq(context_.get(), static_cast<llama_seq_id>(text));
    if (vector == nullptr) die("no embedding");
    rows.emplace_back(vector, vector + llama_model_n_embd_out(model_.get()));
  }
  return rows;
}

}  // namespace judge
