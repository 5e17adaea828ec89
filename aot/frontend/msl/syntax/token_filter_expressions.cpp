// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Literals, and the arms of conditional operators.
//
// Clang refuses `c ? p[i] : T(0)` when T is a class, p[i] is const and in a space, and the other arm is a temporary:
// neither type is at least as qualified as the other. Metal's vectors are classes here. So where one arm is a value by
// its looks, or the parser said so (Learnt::choices), each is wrapped in a function that returns such values as plain
// T, and everything else as it is. Other arms stay as they are: `(c ? p[0] : p[1]).x = 9` writes one of two.
#include "msl/syntax/token_filter.hpp"
#include "msl/syntax/token_filter_angles.hpp"

#include "clang/Lex/Preprocessor.h"

#include <fmt/format.h>

#include <algorithm>

namespace smelt::aot::msl {

namespace tok = clang::tok;

/// The number at at_ in C++'s spelling. False: it is the same in both.
bool TokenFilter::number() {
  const Token token = in_[at_];
  bool invalid = false;
  const std::string spelling = preprocessor_.getSpelling(token, &invalid);
  if (invalid) return false;
  llvm::StringRef text(spelling);
  const bool is_hex = text.starts_with_insensitive("0x");
  const bool is_hex_float = is_hex && text.contains_insensitive('p');
  if (is_hex && !is_hex_float) return false;
  const char* type = nullptr;
  if (text.ends_with_insensitive("bf") && !is_hex) {
    type = "__bf16";
    text = text.drop_back(2);
  } else if (text.ends_with_insensitive("h")) {
    type = "half";
    text = text.drop_back(1);
  }
  const bool is_float = text.contains('.') || is_hex_float || (!is_hex && text.contains_insensitive('e'));
  if (type == nullptr && (!is_float || text.ends_with_insensitive("f") || text.ends_with_insensitive("l")))
    return false;
  std::string plain = text.str();
  if (!is_float) plain += ".0";
  plain += 'f';
  const clang::SourceLocation at = token.getLocation();
  put(type != nullptr ? fmt::format("{}({})", type, plain) : plain, at);
  ++at_;
  return true;
}

/// What follows is text for the compiler: messages, assembler names, linkage, attributes.
void TokenFilter::skip_literals() {
  const Token& token = in_[at_];
  const bool opens_attribute = token.is(tok::l_square) && in_[at_ + 1].is(tok::l_square);
  if (opens_attribute)
    plain_literals_until_ = std::max(plain_literals_until_, skip_balanced(at_));
  else if (token.isOneOf(tok::kw_static_assert, tok::kw__Static_assert, tok::kw_asm, tok::kw___attribute))
    plain_literals_until_ = std::max(plain_literals_until_, skip_balanced(at_ + 1));
  else if (token.isOneOf(tok::kw_extern, tok::kw_operator))
    plain_literals_until_ = std::max(plain_literals_until_, at_ + 2);
}

namespace {

/// __builtin_nanf("") and its kin, which NAN stands for: Clang computes them from plain text only.
bool is_nan_builtin(const clang::Token& token) {
  return token.is(tok::identifier) && token.getIdentifierInfo()->getName().starts_with("__builtin_nan");
}

}  // namespace

/// String literals are arrays in space constant. They stay as they are where they fill an array.
bool TokenFilter::literal() {
  const Token& token = in_[at_];
  const bool is_name = token.isOneOf(tok::kw___func__, tok::kw___FUNCTION__, tok::kw___PRETTY_FUNCTION__);
  if ((!is_name && token.isNot(tok::string_literal)) || at_ < plain_literals_until_) return false;
  if (at_ > 0 && in_[at_ - 1].is(tok::string_literal)) return false;  // goes with the one before it
  if (at_ >= 2 && in_[at_ - 1].is(tok::l_paren) && is_nan_builtin(in_[at_ - 2])) return false;
  if (at_ >= 2 && in_[at_ - 1].is(tok::equal) && in_[at_ - 2].is(tok::r_square)) return false;
  if (at_ >= 2 && in_[at_ - 1].is(tok::l_brace) && in_[at_ - 2].is(tok::r_square)) return false;
  const clang::SourceLocation at = token.getLocation();
  if (is_name) {
    const std::string name = preprocessor_.getSpelling(token);
    put(fmt::format("(*(::__msl_characters<sizeof({0})>*)(::size_t)&{0})", name), at);
    ++at_;
    return true;
  }
  size_t last = at_;
  while (in_[last + 1].is(tok::string_literal)) ++last;
  if (std::any_of(&in_[at_], &in_[last + 1], [](const Token& one) { return one.hasUDSuffix(); })) return false;
  // "T a("text")": Clang would look whether it declares a function of a parameter of that type, and stumble.
  const bool may_declare = at_ >= 2 && in_[at_ - 1].is(tok::l_paren) && in_[at_ - 2].is(tok::identifier);
  if (may_declare) put("(", at);
  while (at_ < last) copy();
  put(preprocessor_.getSpelling(in_[last]) + "__msl", in_[last].getLocation());
  ++at_;
  if (may_declare) put(")", at);
  return true;
}

/// A cast that Clang refused when it met it before.
bool TokenFilter::cast() {
  const Token& first = in_[at_];
  const clang::SourceLocation at = first.getLocation();
  if (learnt_.casts.count(at.getRawEncoding()) == 0) return false;
  const bool is_c_style = first.is(tok::l_paren);
  size_t end = at_;  // of the type
  if (is_c_style)
    end = skip_balanced(at_) - 1;
  else
    while (in_[end].isNot(tok::eof) && in_[end].isNot(tok::l_paren)) ++end;
  if (in_[end].is(tok::eof)) return false;
  put(is_c_style ? "::__msl_cast_to<" : "::__msl_cast<", at);
  if (is_c_style) ++at_;
  while (at_ < end) copy();
  if (is_c_style) ++at_;
  put(is_c_style ? ">()->*" : ">", at);
  return true;
}

namespace {

/// "xy", "bgra": two to four letters of one set.
bool is_swizzle(std::string_view name) {
  return name.size() >= 2 && name.size() <= 4 &&
         (name.find_first_not_of("xyzw") == std::string_view::npos ||
          name.find_first_not_of("rgba") == std::string_view::npos);
}

std::string_view text_of(const clang::Token& token) {
  const llvm::StringRef name = token.getIdentifierInfo()->getName();
  return {name.data(), name.size()};
}

}  // namespace

/// Words that look like swizzles and are the user's own names: of variables or members.
void TokenFilter::find_own_swizzles() {
  for (size_t i = 1; i < in_.size(); ++i)
    if (in_[i].is(tok::identifier) && is_swizzle(text_of(in_[i])) && !in_[i - 1].isOneOf(tok::period, tok::arrow))
      own_swizzles_.emplace(text_of(in_[i]));
}

/// Whether the word at `at` can only be a swizzle of a vector of Metal's.
bool TokenFilter::is_library_swizzle(size_t at) const {
  const std::string_view name = text_of(in_[at]);
  return is_swizzle(name) && own_swizzles_.count(std::string(name)) == 0;
}

/// A swizzle that is read becomes the call that it stands for: Clang cannot instantiate an operator on a property.
bool TokenFilter::swizzle() {
  if (out_.empty() || !out_.back().isOneOf(tok::period, tok::arrow)) return false;
  if (!is_library_swizzle(at_)) return false;
  std::string name(text_of(in_[at_]));
  const Token& next = in_[at_ + 1];
  if (next.isOneOf(tok::equal, tok::plusequal, tok::minusequal, tok::starequal, tok::slashequal, tok::percentequal) ||
      next.isOneOf(tok::ampequal, tok::pipeequal, tok::caretequal, tok::lesslessequal, tok::greatergreaterequal) ||
      next.isOneOf(tok::plusplus, tok::minusminus, tok::l_paren))
    return false;
  for (char& letter : name) {
    const size_t colour = std::string_view("rgba").find(letter);
    if (colour != std::string_view::npos) letter = "xyzw"[colour];
  }
  put(fmt::format("__get_{}()", name), in_[at_].getLocation());
  ++at_;
  return true;
}

/// Arms that must stay bare: a lone name as a template argument, and literals (null pointer constants).
bool TokenFilter::is_simple_arm(size_t at) const {
  if (in_[at].isOneOf(tok::identifier, tok::numeric_constant) && in_[at + 1].is(tok::greater) &&
      in_[at + 2].isOneOf(tok::semi, tok::comma, tok::coloncolon, tok::greater, tok::l_brace))
    return true;
  return in_[at].isOneOf(tok::numeric_constant, tok::kw_nullptr, tok::kw_throw, tok::l_brace) &&
         in_[at + 1].isOneOf(tok::colon, tok::r_paren, tok::semi, tok::comma, tok::r_brace, tok::r_square);
}

void TokenFilter::open_arm(clang::SourceLocation at, bool is_false_arm, bool by_value) {
  const bool wrap = by_value && !is_simple_arm(at_);
  if (wrap) put("::__msl_arm(", at);
  arms_.push_back({depth_, is_false_arm, by_value, wrap});
}

void TokenFilter::close_arm(clang::SourceLocation at) {
  if (arms_.back().is_wrapped) put(")", at);
  arms_.pop_back();
}

void TokenFilter::count_brackets(const Token& token) {
  if (token.isOneOf(tok::l_paren, tok::l_square, tok::l_brace)) {
    ++depth_;
    brackets_.push_back(token.is(tok::l_paren)    ? Bracket::parenthesis
                        : token.is(tok::l_square) ? Bracket::square
                                                  : kind_of_brace());
  }
  if (token.isOneOf(tok::r_paren, tok::r_square, tok::r_brace)) {
    --depth_;
    if (!brackets_.empty()) brackets_.pop_back();
  }
}

/// Counts brackets, and opens and closes arms. True: the token was dealt with.
bool TokenFilter::conditional() {
  const Token token = in_[at_];
  const clang::SourceLocation at = token.getLocation();
  while (!arms_.empty() && arms_.back().is_false_arm && arms_.back().depth == depth_ &&
         token.isOneOf(tok::comma, tok::semi, tok::r_paren, tok::r_square, tok::r_brace, tok::colon)) {
    if (token.is(tok::comma) && inside_template_arguments(in_, at_)) break;
    close_arm(at);
  }
  // Unbalanced input: an arm never outlives its bracket.
  while (!arms_.empty() && arms_.back().depth > depth_) close_arm(at);
  count_brackets(token);
  if (token.is(tok::question)) {
    const bool by_value = learnt_.choices.count(at.getRawEncoding()) != 0 || has_value_arm(at_);
    copy();
    open_arm(at, false, by_value);
    return true;
  }
  if (token.is(tok::colon) && !arms_.empty() && !arms_.back().is_false_arm && arms_.back().depth == depth_) {
    const bool by_value = arms_.back().by_value;
    close_arm(at);
    copy();
    open_arm(at, true, by_value);
    return true;
  }
  return false;
}

}  // namespace smelt::aot::msl
