// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which arms of conditional operators are values by their looks: literals, sums, `T(...)`. If one is, the operator's
// result is a value too, in C++ and in Metal, and the other arm may be made one. What looks like an lvalue and is none
// the parser finds out (Learnt::choices).
#include "msl/syntax/token_filter.hpp"
#include "msl/syntax/token_filter_angles.hpp"

#include "clang/Lex/Preprocessor.h"

namespace smelt::aot::msl {

namespace tok = clang::tok;

namespace {

/// Longer arms are left to the parser.
constexpr size_t kMostTokensOfArm = 256;

bool is_assignment(const clang::Token& token) {
  return token.isOneOf(tok::equal, tok::plusequal, tok::minusequal, tok::starequal, tok::slashequal, tok::percentequal,
                       tok::ampequal, tok::pipeequal, tok::caretequal, tok::lesslessequal, tok::greatergreaterequal);
}

bool ends_operand(const clang::Token& token) {
  return token.isOneOf(tok::identifier, tok::r_paren, tok::r_square, tok::numeric_constant);
}

/// Two operands give a value. '*' behind a ')' may belong to a cast.
bool is_between_operands(const clang::Token& before, const clang::Token& token) {
  if (token.is(tok::star)) return ends_operand(before) && before.isNot(tok::r_paren);
  return ends_operand(before) && token.isOneOf(tok::plus, tok::minus, tok::slash, tok::percent, tok::caret, tok::pipe,
                                               tok::pipepipe, tok::ampamp, tok::equalequal, tok::exclaimequal);
}

/// "float4", "packed_half3", "float3x4", "uint": types of Metal's own that are no keywords of C++.
bool is_metal_type(llvm::StringRef name) {
  name.consume_front("packed_");
  for (const char* scalar : {"bool", "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half",
                             "bfloat", "float", "size_t"})
    if (llvm::StringRef rest = name;
        rest.consume_front(scalar) && rest.size() <= 3 && rest.find_first_not_of("234x") == llvm::StringRef::npos)
      return true;
  return false;
}

}  // namespace

/// Names that the source declares as types, template parameters among them.
void TokenFilter::find_type_names() {
  const auto add = [&](size_t at) {
    if (in_[at].is(tok::identifier)) type_names_.insert(in_[at].getIdentifierInfo()->getName().str());
  };
  for (size_t i = 0; in_[i].isNot(tok::eof); ++i) {
    if (in_[i].isOneOf(tok::kw_typename, tok::kw_class, tok::kw_struct, tok::kw_union))
      add(in_[i + 1].is(tok::ellipsis) ? i + 2 : i + 1);
    else if (in_[i].is(tok::kw_using) && in_[i + 2].is(tok::equal))
      add(i + 1);
  }
}

/// Behind the name of a type that begins at `at`, with its template arguments; `at` itself when there is none.
size_t TokenFilter::skip_type(size_t at, size_t end) const {
  const size_t begin = at;
  if (in_[at].is(tok::coloncolon)) ++at;
  while (at + 1 < end && in_[at].is(tok::identifier) && in_[at + 1].is(tok::coloncolon)) at += 2;
  const Token& name = in_[at];
  const auto is_named_type = [&] {
    const llvm::StringRef word = name.getIdentifierInfo()->getName();
    const bool is_template = (word == "vec" || word == "matrix") && in_[at + 1].is(tok::less);
    return is_template || is_metal_type(word) || type_names_.count(word.str()) != 0;
  };
  const bool is_type =
      name.is(tok::identifier) ? is_named_type() : name.isSimpleTypeSpecifier(preprocessor_.getLangOpts());
  if (!is_type || at >= end) return begin;
  ++at;
  if (in_[at].isNot(tok::less)) return at;
  for (int depth = 0; at < end; ++at) {
    if (in_[at].is(tok::less)) ++depth;
    if (in_[at].is(tok::greater)) --depth;
    if (in_[at].is(tok::greatergreater)) depth -= 2;
    if (depth <= 0) return at + 1;
  }
  return begin;
}

/// Just behind the last token of the arm at `at`; `at` itself when it is too long to be looked at.
size_t TokenFilter::end_of_arm(size_t at) const {
  int choices = 0;
  for (size_t end = at; end < at + kMostTokensOfArm;) {
    const Token& token = in_[end];
    if (token.isOneOf(tok::semi, tok::r_paren, tok::r_square, tok::r_brace, tok::comma, tok::eof)) return end;
    if (token.is(tok::identifier) && in_[end + 1].is(tok::less)) {
      const size_t behind = skip_template_arguments(in_, end + 1);
      if (behind != end + 1) {
        end = behind;
        continue;
      }
    }
    if (token.is(tok::question)) ++choices;
    if (token.is(tok::colon) && choices-- == 0) return end;
    end = token.isOneOf(tok::l_paren, tok::l_square, tok::l_brace) ? skip_balanced(end) : end + 1;
  }
  return at;
}

bool TokenFilter::is_value(size_t begin, size_t end) const {
  if (begin >= end) return false;
  const Token& first = in_[begin];
  bool compares = false, joins = false;
  for (size_t i = begin; i < end;) {
    if (is_assignment(in_[i]) || in_[i].is(tok::question)) return false;
    if (in_[i].is(tok::less)) compares = true;  // or opens template arguments: no telling
    if (i > begin && is_between_operands(in_[i - 1], in_[i])) joins = true;
    i = in_[i].isOneOf(tok::l_paren, tok::l_square, tok::l_brace) ? skip_balanced(i) : i + 1;
  }
  if (joins && !compares) return true;
  if (first.isOneOf(tok::numeric_constant, tok::char_constant, tok::kw_true, tok::kw_false, tok::minus, tok::exclaim) ||
      first.is(tok::tilde))
    return true;
  // "T(...)", "T{...}" and "(T)x"; a cast to a reference is none.
  if (const size_t open = skip_type(begin, end); open != begin && in_[open].isOneOf(tok::l_paren, tok::l_brace))
    return skip_balanced(open) == end;
  if (first.is(tok::l_paren)) {
    const size_t close = skip_balanced(begin);
    if (close < end && skip_type(begin + 1, close) == close - 1) return true;
  }
  const Token& last = in_[end - 1];
  return last.is(tok::identifier) && end - begin >= 2 && in_[end - 2].isOneOf(tok::period, tok::arrow) &&
         is_library_swizzle(end - 1);
}

/// Of the operator whose '?' is at `question`.
bool TokenFilter::has_value_arm(size_t question) const {
  const size_t colon = end_of_arm(question + 1);
  if (in_[colon].isNot(tok::colon)) return false;
  // Of a cast to void there is no value, and then the other arm has none either.
  const auto is_void = [&](size_t at) { return in_[at].is(tok::l_paren) && in_[at + 1].is(tok::kw_void); };
  if (is_void(question + 1) || is_void(colon + 1)) return false;
  return is_value(question + 1, colon) || is_value(colon + 1, end_of_arm(colon + 1));
}

}  // namespace smelt::aot::msl
