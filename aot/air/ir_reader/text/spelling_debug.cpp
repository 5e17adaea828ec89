// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Spelling rules for debug metadata. It describes source and changes no behaviour, so the nearest thing that LLVM 19
// has will do; the reader drops what then does not verify.
#include "ir_reader/text/respeller.hpp"

#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DebugInfoMetadata.h"

#include <algorithm>

namespace smelt::aot::input {
namespace {

struct Field {
  std::string_view node;  ///< empty: every node
  std::string_view field;
};
constexpr Field kNewFields[] = {
    {"!DILocation", "atomGroup:"},         {"!DILocation", "atomRank:"},
    {"!DISubprogram", "keyInstructions:"}, {"!DICompileUnit", "sourceLanguageVersion:"},
    {"!DICompositeType", "enumKind:"},     {"!DICompositeType", "bitStride:"},
    {"!DIBasicType", "dataSize:"},         {"!DICompileUnit", "dialect:"},
};

/// Sizes and offsets may be metadata in newer text; a constant is what 19 takes.
bool takes_number(std::string_view field) {
  return field == "size:" || field == "offset:";
}

llvm::StringRef ref(std::string_view text) {
  return {text.data(), text.size()};
}

}  // namespace

Respeller::Next Respeller::debug_node(size_t at) {
  const std::string_view node = text(at);
  if (!node.starts_with("!DI") || !is(at + 1, "(")) return at + 1;
  const size_t close = closing(at + 1);
  if (node == "!DISubrangeType" || node == "!DIFixedPointType") {
    replace(at, close, "!DIBasicType()", Rule::debug_node);
    return close + 1;
  }
  if (node == "!DIExpression") {
    for (size_t i = at + 2; i < close; ++i) {
      const std::string_view word = text(i);
      if (!word.starts_with("DW_OP_") || llvm::dwarf::getOperationEncoding(ref(word)) != 0) continue;
      replace(at, close, "!DIExpression()", Rule::debug_word);
      return close + 1;
    }
    return close + 1;
  }
  debug_fields(at, at + 1, close);
  return at + 2;
}

void Respeller::debug_fields(size_t node, size_t open, size_t close) {
  bool first_kept = true;
  for (const auto& [first, last] : parts(open, close)) {
    const std::string_view field = text(first);
    const bool is_new = std::any_of(std::begin(kNewFields), std::end(kNewFields), [&](const Field& candidate) {
      return candidate.node == text(node) && candidate.field == field;
    });
    const bool computed = takes_number(field) && text(first + 1).starts_with("!");
    if (is_new || computed) {
      // With the comma before it, or, at the front, the one after.
      if (!first_kept)
        replace(first - 1, last - 1, "", Rule::debug_field);
      else
        replace(first, is(last, ",") ? last : last - 1, "", Rule::debug_field);
      continue;
    }
    first_kept = false;
    if (field == "sourceLanguageName:") {
      // DW_LNAME_C_plus_plus and a version: the unversioned languages of the older attribute are near enough.
      const std::string language =
          "DW_LANG_" + std::string(text(first + 1).substr(std::min<size_t>(9, text(first + 1).size())));
      const bool known = llvm::dwarf::getLanguage(language) != 0;
      replace(first, last - 1, fmt::format("language: {}", known ? language : "DW_LANG_C99"), Rule::debug_field);
    }
  }
}

Respeller::Next Respeller::debug_word(size_t at) {
  const std::string_view word = text(at);
  if (word.starts_with("DW_LANG_")) {
    if (llvm::dwarf::getLanguage(ref(word)) == 0) replace(at, at, "DW_LANG_C_plus_plus_14", Rule::debug_word);
  } else if (word.starts_with("DW_CC_")) {
    if (word == "DW_CC_LLVM_DeviceKernel")
      replace(at, at, "DW_CC_LLVM_OpenCLKernel", Rule::debug_word);
    else if (llvm::dwarf::getCallingConvention(ref(word)) == 0)
      replace(at, at, "DW_CC_normal", Rule::debug_word);
  } else if (word.starts_with("DIFlag")) {
    if (llvm::DINode::getFlag(ref(word)) == llvm::DINode::FlagZero) replace(at, at, "0", Rule::debug_word);
  } else if (word.starts_with("DISPFlag")) {
    if (llvm::DISubprogram::getFlag(ref(word)) == llvm::DISubprogram::SPFlagZero)
      replace(at, at, "0", Rule::debug_word);
  }
  return at + 1;
}

}  // namespace smelt::aot::input
