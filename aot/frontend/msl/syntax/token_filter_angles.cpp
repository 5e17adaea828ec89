// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "msl/syntax/token_filter_angles.hpp"

namespace smelt::aot::msl {

namespace tok = clang::tok;

namespace {

constexpr size_t kMostTokens = 64;

/// What ends an expression, or cannot be part of a template argument.
bool ends_arguments(const clang::Token& token) {
  return token.isOneOf(tok::eof, tok::semi, tok::l_brace, tok::r_brace, tok::question, tok::equal, tok::r_paren) ||
         token.isOneOf(tok::ampamp, tok::pipepipe, tok::r_square, tok::l_square);
}

}  // namespace

size_t skip_template_arguments(std::span<const clang::Token> tokens, size_t less) {
  int angles = 0;
  for (size_t at = less; at < less + kMostTokens && at + 1 < tokens.size(); ++at) {
    const clang::Token& token = tokens[at];
    if (token.is(tok::less)) ++angles;
    if (token.is(tok::greater)) --angles;
    if (token.is(tok::greatergreater)) angles -= 2;
    if (angles < 0) return less;
    if (angles == 0) return tokens[at + 1].isOneOf(tok::l_paren, tok::l_brace, tok::coloncolon) ? at + 1 : less;
    if (token.is(tok::l_paren)) {  // sizeof(T)
      for (int depth = 1; depth > 0;) {
        if (++at + 1 >= tokens.size()) return less;
        depth += tokens[at].is(tok::l_paren) ? 1 : tokens[at].is(tok::r_paren) ? -1 : 0;
      }
    } else if (ends_arguments(token)) {
      return less;
    }
  }
  return less;
}

bool inside_template_arguments(std::span<const clang::Token> tokens, size_t comma) {
  for (size_t at = comma; at-- > 1 && comma - at < kMostTokens;) {
    if (tokens[at].is(tok::less) && tokens[at - 1].is(tok::identifier) && skip_template_arguments(tokens, at) > comma)
      return true;
    if (ends_arguments(tokens[at])) return false;
  }
  return false;
}

}  // namespace smelt::aot::msl
