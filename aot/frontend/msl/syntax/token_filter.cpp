// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "msl/syntax/token_filter.hpp"

#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"
#include "clang/Lex/Preprocessor.h"

namespace smelt::aot::msl {

namespace tok = clang::tok;

void TokenFilter::read_all() {
  Token token;
  do {
    preprocessor_.Lex(token);
    in_.push_back(token);
  } while (token.isNot(tok::eof));
  // Look-ahead of a few tokens needs no bounds of its own.
  for (int i = 0; i < 4; ++i) in_.push_back(in_.back());
}

bool TokenFilter::in_system_header(clang::SourceLocation at) {
  const clang::SourceManager& sources = preprocessor_.getSourceManager();
  const clang::SourceLocation place = sources.getExpansionLoc(at);
  const clang::FileID file = sources.getFileID(place);
  if (file != last_file_) {
    last_file_ = file;
    last_is_system_ = sources.isInSystemHeader(place);
  }
  return last_is_system_;
}

bool TokenFilter::is_word(size_t at, std::string_view word) const {
  const Token& token = in_[at];
  if (token.isAnnotation()) return false;
  const clang::IdentifierInfo* name = token.getIdentifierInfo();
  return name != nullptr && name->getName() == llvm::StringRef(word.data(), word.size());
}

/// Just behind the closer of the opener at `at`, or the end.
size_t TokenFilter::skip_balanced(size_t at) const {
  int depth = 0;
  for (; in_[at].isNot(tok::eof); ++at) {
    if (in_[at].isOneOf(tok::l_paren, tok::l_square, tok::l_brace)) ++depth;
    if (in_[at].isOneOf(tok::r_paren, tok::r_square, tok::r_brace) && --depth == 0) return at + 1;
  }
  return at;
}

/// Behind the lists of attributes that begin at `at`, if any.
size_t TokenFilter::skip_attributes(size_t at) const {
  while (in_[at].is(tok::l_square) && in_[at + 1].is(tok::l_square)) at = skip_balanced(at);
  return at;
}

/// Tokens of a fragment of C++, all at one place.
void TokenFilter::put(std::string_view text, clang::SourceLocation at) {
  auto [found, is_new] = fragments_.try_emplace(std::string(text));
  std::vector<Token>& tokens = found->second;
  if (is_new) {
    const clang::LangOptions& options = preprocessor_.getLangOpts();
    const std::string& kept = found->first;
    clang::Lexer lexer(clang::SourceLocation(), options, kept.data(), kept.data(), kept.data() + kept.size());
    Token token;
    for (lexer.LexFromRawLexer(token); token.isNot(tok::eof); lexer.LexFromRawLexer(token)) {
      if (token.is(tok::raw_identifier)) preprocessor_.LookUpIdentifierInfo(token);
      tokens.push_back(token);
    }
  }
  const clang::SourceManager& sources = preprocessor_.getSourceManager();
  const clang::SourceLocation place = sources.getExpansionLoc(at);
  for (const Token& token : tokens) {
    Token copy = token;
    if (copy.isLiteral()) {
      // A literal's text is read at its place: a scratch buffer's, which says that it was expanded from the user's.
      const llvm::StringRef spelling(token.getLiteralData(), token.getLength());
      preprocessor_.CreateString(spelling, copy, place, place);
    } else {
      copy.setLocation(at);
    }
    copy.clearFlag(Token::StartOfLine);
    out_.push_back(copy);
  }
}

void TokenFilter::step() {
  const Token& token = in_[at_];
  if (token.isAnnotation() || in_system_header(token.getLocation())) return copy();
  if (const auto skip = skip_to_.find(at_); skip != skip_to_.end()) {
    at_ = skip->second;
    return;
  }
  if (const auto added = put_before_.find(at_); added != put_before_.end()) put(added->second, token.getLocation());
  skip_literals();
  if (hardware_variable()) return;
  refuse_resource_variable();
  const bool opens_attribute = token.is(tok::l_square) && in_[at_ + 1].is(tok::l_square);
  if (opens_attribute && attribute_list()) return;
  if (!learnt_.casts.empty() && cast()) return;
  if (conditional()) return;
  if (token.is(tok::kw_static_cast)) {
    put("::__msl_cast", token.getLocation());
    ++at_;
    return;
  }
  if (token.is(tok::kw_constexpr) && in_function_constant_) {
    ++at_;
    return;
  }
  if (token.isOneOf(tok::semi, tok::l_brace)) in_function_constant_ = false;
  if (unsupported_word()) return;
  if (token.is(tok::numeric_constant) && number()) return;
  if (literal()) return;
  if (token.is(tok::identifier) && swizzle()) return;
  if (token.is(tok::identifier) &&
      word({token.getIdentifierInfo()->getName().data(), token.getIdentifierInfo()->getName().size()}))
    return;
  copy();
}

std::vector<clang::SourceLocation::UIntTy> TokenFilter::take_thread_words() {
  std::sort(thread_words_.begin(), thread_words_.end());
  return std::move(thread_words_);
}

void TokenFilter::run() {
  read_all();
  find_own_swizzles();
  find_type_names();
  out_.reserve(in_.size() * 2);
  while (in_[at_].isNot(tok::eof)) step();
  out_.push_back(in_[at_]);
  auto tokens = std::make_unique<Token[]>(out_.size());
  std::copy(out_.begin(), out_.end(), tokens.get());
  preprocessor_.EnterTokenStream(std::move(tokens), out_.size(), /*DisableMacroExpansion=*/true,
                                 /*IsReinject=*/false);
}

}  // namespace smelt::aot::msl
