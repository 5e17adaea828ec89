// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A line a value: condition, type, name and words, with tabs between them, which none of them has.
#include "kernel_ir/stage_values.hpp"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

namespace smelt::aot::kernel_ir {
namespace {

llvm::SmallVector<llvm::StringRef, 8> cut(llvm::StringRef text, char at) {
  llvm::SmallVector<llvm::StringRef, 8> parts;
  text.split(parts, at);
  return parts;
}

}  // namespace

std::string words_to_text(const std::vector<std::string>& words) {
  return llvm::join(words, "\t");
}

std::vector<std::string> parse_words(std::string_view text) {
  std::vector<std::string> words;
  for (const llvm::StringRef word : cut(text, '\t')) words.push_back(word.str());
  return words;
}

std::string to_text(const std::vector<StageValue>& values) {
  std::string text;
  for (const StageValue& value : values) {
    if (!text.empty()) text += '\n';
    text += value.condition + '\t' + value.type_name + '\t' + value.name + '\t' + words_to_text(value.words);
  }
  return text;
}

std::vector<StageValue> parse_stage_values(std::string_view text) {
  std::vector<StageValue> values;
  for (const llvm::StringRef line : cut(text, '\n')) {
    const auto parts = cut(line, '\t');
    if (parts.size() < 4) continue;
    StageValue value;
    value.condition = parts[0].str();
    value.type_name = parts[1].str();
    value.name = parts[2].str();
    for (size_t i = 3; i < parts.size(); ++i) value.words.push_back(parts[i].str());
    values.push_back(std::move(value));
  }
  return values;
}

}  // namespace smelt::aot::kernel_ir
