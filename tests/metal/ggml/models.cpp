// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whole models: llama.cpp, built unmodified, with all layers on the Metal device beside ggml's CPU back end.
//
//   metal_llama_models compare [--all | NAME...]       exit 1: a model does not agree
//   metal_llama_models write NAME FILE                 the model's file
//   metal_llama_models first-token NAME FILE metal|cpu from nothing to the first token, which it prints
//   metal_llama_models list
//
// What is right is computed by the CPU back end in single precision, from a file with the same weights as single
// precision, keys and values too. The CPU back end's own error is what it is off by when it has the model's own file:
// it rounds the other factor of each product to 8 bits or to half precision. The Metal device may be off by as much
// (mean square), and may choose another token where the best two are less apart than twice the CPU's largest
// difference.
#include "model_runs.hpp"
#include "numbers.hpp"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <set>
#include <thread>

namespace judge {
namespace {

constexpr double kHalf = 1e-6;  // 2^-11 squared, after a few roundings
constexpr size_t kPrompt = 48, kGenerated = 24;

std::vector<llama_token> text_of(const std::string& name, size_t length) {
  std::mt19937 random(seed_of(name));
  std::vector<llama_token> tokens(length);
  for (llama_token& token : tokens) token = static_cast<llama_token>(random() % kVocabulary);
  return tokens;
}

std::vector<std::vector<llama_token>> texts_of(const std::string& name) {
  return {text_of(name, 31), text_of(name + "2", 7), text_of(name + "3", 40), text_of(name + "4", 1)};
}

struct Distance {
  double difference = 0, reference = 0, largest = 0;
  double error() const { return difference / reference; }
  void add(const std::vector<float>& row, const std::vector<float>& right) {
    for (size_t i = 0; i < right.size(); ++i) {
      const double off = static_cast<double>(row[i]) - right[i];
      // A number that is none compares as false everywhere; here it is as wrong as can be.
      difference += std::isfinite(off) ? off * off : INFINITY;
      largest = std::isfinite(off) ? std::max(largest, std::fabs(off)) : INFINITY;
      reference += static_cast<double>(right[i]) * right[i];
    }
  }
};

struct Agreement {
  Distance distance;
  size_t tokens = 0;  // that are the same, from the first
  double gap = 0;     // between the right next one and the one that was chosen
};

/// Up to the token that differs: what comes after it has another text before it.
Agreement agreement(const Generated& made, const Generated& right) {
  Agreement found;
  while (found.tokens < right.tokens.size() && made.tokens[found.tokens] == right.tokens[found.tokens]) ++found.tokens;
  const size_t rows = std::min(right.logits.size(), kPrompt + found.tokens);
  for (size_t i = 0; i < rows; ++i) found.distance.add(made.logits[i], right.logits[i]);
  if (found.tokens < right.tokens.size()) {
    const auto& logits = right.logits[kPrompt + found.tokens - 1];
    found.gap = static_cast<double>(logits[static_cast<size_t>(right.tokens[found.tokens])]) -
                logits[static_cast<size_t>(made.tokens[found.tokens])];
  }
  return found;
}

/// The three runs, on their files.
struct Trial {
  const ModelKind& kind;
  std::string exact, own;

  std::unique_ptr<Model> open(const std::string& path, bool metal) const {
    // One thread: those of ggml's CPU back end wait for each other without sleeping, which is slow where others
    // compute.
    auto model = Model::open(kind, path, metal, path == exact, 1);
    if (!model) fprintf(stderr, "%s: cannot be loaded%s\n", kind.name.c_str(), metal ? " on the Metal device" : "");
    return model;
  }

  bool compare_texts() const {
    const auto texts = texts_of(kind.name);
    const auto right = open(exact, false), cpu = open(own, false), metal = open(own, true);
    if (!right || !cpu || !metal) return false;
    const Rows wanted = right->embed(texts), theirs = cpu->embed(texts), ours = metal->embed(texts);
    Distance cpu_off, metal_off;
    for (size_t i = 0; i < wanted.size(); ++i) {
      cpu_off.add(theirs[i], wanted[i]);
      metal_off.add(ours[i], wanted[i]);
    }
    const bool agrees = metal_off.error() <= std::max(cpu_off.error(), kHalf);
    printf("%s %-22s error %.2g, the CPU's own %.2g; %zu texts\n", agrees ? "right" : "WRONG", kind.name.c_str(),
           metal_off.error(), cpu_off.error(), texts.size());
    return agrees;
  }

  bool compare_tokens() const {
    const auto prompt = text_of(kind.name, kPrompt);
    const auto right = open(exact, false), cpu = open(own, false), metal = open(own, true);
    if (!right || !cpu || !metal) return false;
    const Generated wanted = right->generate(prompt, kGenerated);
    const Agreement theirs = agreement(cpu->generate(prompt, kGenerated), wanted);
    const Agreement ours = agreement(metal->generate(prompt, kGenerated), wanted);
    const bool near = ours.distance.error() <= std::max(theirs.distance.error(), kHalf);
    const bool same = ours.tokens == kGenerated || ours.gap <= 2 * theirs.distance.largest;
    const std::set<llama_token> different(wanted.tokens.begin(), wanted.tokens.end());
    printf("%s %-22s error %.2g, the CPU's own %.2g; %zu of %zu tokens the same, the CPU's %zu, %zu different ones\n",
           near && same ? "right" : "WRONG", kind.name.c_str(), ours.distance.error(), theirs.distance.error(),
           ours.tokens, kGenerated, theirs.tokens, different.size());
    if (!same)
      printf("  another token though the best two are %.3g apart; the CPU is off by at most %.3g\n", ours.gap,
             theirs.distance.largest);
    return near && same;
  }
};

class Folder {
 public:
  Folder() {
    if (mkdtemp(path_) == nullptr) perror(path_), exit(1);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { rmdir(path_); }
  std::string file(const char* name) const { return std::string(path_) + "/" + name; }

 private:
  char path_[32] = "/tmp/smelt-models-XXXXXX";
};

bool compare(const ModelKind& kind) {
  const Folder folder;
  const Trial trial{kind, folder.file("exact.gguf"), folder.file("own.gguf")};
  const bool agrees = write_model(kind, true, trial.exact) && write_model(kind, false, trial.own) &&
                      (kind.embeds() ? trial.compare_texts() : trial.compare_tokens());
  unlink(trial.exact.c_str());
  unlink(trial.own.c_str());
  fflush(stdout);
  return agrees;
}

int compare_all(const std::vector<std::string>& names) {
  const std::vector<ModelKind>& kinds = model_kinds();
  size_t right = 0, asked = 0;
  for (size_t i = 0; i < kinds.size(); ++i) {
    const bool named = std::find(names.begin(), names.end(), kinds[i].name) != names.end();
    if (!named && !(names.empty() && i < kDailyModels) && !(names.size() == 1 && names[0] == "--all")) continue;
    ++asked;
    right += compare(kinds[i]);
  }
  printf("%zu of %zu models agree\n", right, asked);
  return asked > 0 && right == asked ? 0 : 1;
}

int first_token(const ModelKind& kind, const std::string& path, const std::string& device) {
  const auto model =
      Model::open(kind, path, device == "metal", false, static_cast<int>(std::thread::hardware_concurrency()));
  if (!model) return 1;
  if (kind.embeds())
    printf("first number %.3f\n", static_cast<double>(model->embed(texts_of(kind.name))[0][0]));
  else
    printf("first token %d\n", model->generate(text_of(kind.name, kPrompt), 1).tokens[0]);
  return 0;
}

int run(const std::vector<std::string>& words) {
  lm_ggml_log_level least = LM_GGML_LOG_LEVEL_ERROR;
  llama_log_set(
      [](lm_ggml_log_level level, const char* text, void* from) {
        if (level >= *static_cast<lm_ggml_log_level*>(from) && level != LM_GGML_LOG_LEVEL_CONT) fputs(text, stderr);
      },
      &least);
  llama_backend_init();
  if (words.size() == 1 && words[0] == "list")
    for (const ModelKind& kind : model_kinds()) puts(kind.name.c_str());
  if (words.size() == 1 && words[0] == "list") return 0;
  if (!words.empty() && words[0] == "compare") return compare_all({words.begin() + 1, words.end()});
  if (words.size() >= 3)
    for (const ModelKind& kind : model_kinds()) {
      if (kind.name != words[1]) continue;
      if (words[0] == "write" && words.size() == 3) return write_model(kind, false, words[2]) ? 0 : 1;
      if (words[0] == "first-token" && words.size() == 4) return first_token(kind, words[2], words[3]);
    }
  fputs("want: compare [--all | NAME...] | write NAME FILE | first-token NAME FILE metal|cpu | list\n", stderr);
  return 2;
}

}  // namespace
}  // namespace judge

int main(int count, char** words) {
  return judge::run({words + 1, words + count});
}
