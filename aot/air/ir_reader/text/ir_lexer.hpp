// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM IR text as tokens with their places: what the spelling layer reads and edits.
//
// Follows the lexical rules of LLVM's own reader (strings have no escaped quotes, labels end in ':', a keyword ends at
// the first '-', '$' or '.'), so that a word inside a string, a name or a comment is never taken for a keyword. Knows
// no grammar and no list of keywords.
#pragma once

#include "smelt/base/bytes.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace smelt::aot::input {

enum class TokenKind : uint8_t {
  word,         ///< define, i32, captures, DW_OP_deref, cc
  label,        ///< entry:   "a b":   42:   and the field names of debug metadata (name:)
  global,       ///< @f  @"f g"  @3
  local,        ///< %x  %"x y"  %3
  comdat,       ///< $c
  metadata,     ///< !name, e.g. !dbg, !DILocation
  string,       ///< "text" (also of c"text")
  number,       ///< 1  -2.5e+3  0xH3C00
  group,        ///< #3
  punctuation,  ///< one character of = , * [ ] { } ( ) < > | ! : # ^ or "..."
};

struct Token {
  uint32_t begin = 0;  ///< offset of the first byte
  uint32_t end = 0;    ///< one past the last
  uint32_t line = 1;
  TokenKind kind = TokenKind::punctuation;
};

/// What the lexer found, over text that must outlive it.
struct TokenList {
  std::string_view source;
  std::vector<Token> tokens;
  std::vector<Token> block_comments;  ///< /* ... */, which LLVM reads since 20; line comments are simply skipped

  std::string_view text(const Token& token) const { return source.substr(token.begin, token.end - token.begin); }
  std::string_view text(size_t at) const { return at < tokens.size() ? text(tokens[at]) : std::string_view(); }
  bool is(size_t at, std::string_view what) const { return text(at) == what; }
};

/// Longest text that is read, and deepest nesting of brackets of all kinds.
constexpr size_t kMaxTextBytes = size_t{64} << 20;
constexpr uint32_t kMaxNesting = 200;

/// All tokens, or the first thing that cannot be one ("line 12: ..."). Refuses what would exhaust LLVM's recursive
/// reader: too much text, too deep nesting.
Result<TokenList> tokenize(std::string_view source);

/// A name without its sigil and quotes: @"a b" -> a b. Escapes stay as they are.
std::string_view bare_name(std::string_view token);

/// Line of the first mention of global `name`, or 0. For messages about a function that came from text.
uint32_t line_of_global(std::string_view source, std::string_view name);

}  // namespace smelt::aot::input
