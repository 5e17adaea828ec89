// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Newer spellings of LLVM IR text, said in LLVM 19's words.
//
// LLVM's text form has no stability promise: LLVM 20, 21 and 22 print attributes, flags, operations and debug metadata
// that LLVM 19's reader refuses (docs/formats/triton-amdgcn.md 2, docs/formats/air.md 3.13). This layer knows them by
// name. What carries meaning is mapped to the same meaning; a hint, which only promises more than is needed, may go;
// everything else is left for the reader to refuse by line. Nothing is changed inside strings, names and comments, and
// no line moves: text is replaced within its line, and helper functions are added after the last one.
#pragma once

#include "ir_reader/text/ir_lexer.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smelt::aot::input {

enum class Effect : uint8_t {
  mapped,   ///< written as something of the same meaning
  hint,     ///< dropped: it only promised the optimiser something
  debug,    ///< dropped or simplified: describes source, not behaviour
  refused,  ///< known, and meaningless or impossible here: an error that says so
};

/// One row of the table: what is recognised, since which LLVM it is printed, and what becomes of it.
struct SpellingRule {
  std::string_view name;
  int since;
  Effect effect;
  std::string_view meaning;
};

/// Every rule, in a fixed order; docs and tests are made from it.
std::span<const SpellingRule> spelling_rules();

/// Text for LLVM 19's reader, and the way back to the places in the original.
class Respelled {
 public:
  const std::string& text() const { return text_; }
  /// Names of the rules that changed something, each once, in table order.
  const std::vector<std::string_view>& used() const { return used_; }
  /// Where in the original the byte at `offset` of text() comes from.
  size_t original_offset(size_t offset) const;

 private:
  friend class Respeller;
  struct Piece {
    size_t at;        // in text_
    size_t original;  // in the source
    bool verbatim;    // copied, so offsets run in parallel
  };
  std::string text_;
  std::vector<Piece> pieces_;
  std::vector<std::string_view> used_;
};

/// Errors (compile_failed, unsupported) start with "line N: " and quote the token.
Result<Respelled> respell(const TokenList& list);

}  // namespace smelt::aot::input
