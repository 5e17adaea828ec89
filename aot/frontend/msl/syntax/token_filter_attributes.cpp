// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// [[...]] to GNU annotate attributes: they are accepted in every place where Metal has its own but one, and they keep
// their arguments as expressions, which are instantiated with the template. The one is between a name and what still
// belongs to its declarator, bounds or a bit-field's width: there C++'s own spelling stands.
#include "msl/syntax/attributes.hpp"
#include "msl/syntax/token_filter.hpp"

#include "clang/Lex/Preprocessor.h"

#include <fmt/format.h>

namespace smelt::aot::msl {

namespace tok = clang::tok;

/// Translates the list at at_ and moves behind it. False, and nothing done: it is not one of Metal's.
bool TokenFilter::attribute_list() {
  const size_t end = skip_balanced(at_);
  if (end < at_ + 4) return false;
  const size_t close = end - 2;
  const size_t first = at_ + 2;
  const auto name_at = [&](size_t at) -> std::string_view {
    if (in_[at].isAnnotation() || !in_[at].getIdentifierInfo()) return {};
    const llvm::StringRef name = in_[at].getIdentifierInfo()->getName();
    return {name.data(), name.size()};
  };
  const auto after_entry = [&](size_t at) { return in_[at + 1].is(tok::l_paren) ? skip_balanced(at + 1) : at + 1; };
  // C++'s own may stand in front of Metal's: they stay as they are, in a list that ends there.
  size_t begin = first;
  while (begin < close && find_attribute(name_at(begin)) == nullptr) {
    if (name_at(begin).empty()) return false;
    begin = after_entry(begin);
    while (in_[begin].is(tok::coloncolon) && begin < close) begin = after_entry(begin + 1);
    if (in_[begin].isNot(tok::comma)) return false;
    ++begin;
  }
  if (begin >= close) return false;
  if (begin > first) {
    put("[[", in_[at_].getLocation());
    out_.insert(out_.end(), in_.begin() + static_cast<std::ptrdiff_t>(first),
                in_.begin() + static_cast<std::ptrdiff_t>(begin) - 1);
    put("]]", in_[at_].getLocation());
  }
  const bool is_inside = is_inside_declarator(at_, end);
  if (is_inside) inside_declarator_until_ = end;
  for (size_t i = begin; i < close;) {
    const std::string_view name = name_at(i);
    if (name.empty()) {
      ++i;
      continue;
    }
    const bool has_arguments = in_[i + 1].is(tok::l_paren);
    const size_t after = has_arguments ? skip_balanced(i + 1) : i + 1;
    one_attribute(name, i + 1, after, in_[i].getLocation(), is_inside);
    i = after + (in_[after].is(tok::comma) ? 1 : 0);
  }
  at_ = end;
  return true;
}

/// Whether the list from `at` to `end` stands between a name and its bounds, or the width of a bit-field.
bool TokenFilter::is_inside_declarator(size_t at, size_t end) const {
  if (at == 0 || (in_[at - 1].isNot(tok::identifier) && inside_declarator_until_ != at)) return false;
  return in_[skip_attributes(end)].isOneOf(tok::l_square, tok::colon);
}

/// `open` is the '(' of the arguments and `close` just behind the ')'; equal when there are none.
void TokenFilter::one_attribute(std::string_view name, size_t open, size_t close, clang::SourceLocation at,
                                bool is_inside) {
  const AttributeRow* row = find_attribute(name);
  put(fmt::format("{}annotate(\"msl.{}\"", is_inside ? "[[clang::" : "__attribute__((", name), at);
  if (open < close) {
    put(",", at);
    const bool is_one_word = close == open + 3 && in_[open + 1].is(tok::identifier);
    const bool is_word_first = row != nullptr && row->arguments == AttributeArguments::word_first && !is_one_word &&
                               in_[open + 1].is(tok::identifier);
    if (row == nullptr || row->arguments == AttributeArguments::ignored) {
      put("0", at);
    } else if (row->arguments == AttributeArguments::words) {
      std::string words;
      for (size_t i = open + 1; i + 1 < close; ++i) words += preprocessor_.getSpelling(in_[i]);
      put(fmt::format("\"{}\"", words), in_[open + 1].getLocation());
    } else if (is_one_word && row->arguments != AttributeArguments::values &&
               !(name == "function_constant" && in_function_constant_)) {
      // The name of a function constant, which has no value yet, or of what stages hand on.
      put(fmt::format("\"{}\"", std::string(in_[open + 1].getIdentifierInfo()->getName())),
          in_[open + 1].getLocation());
    } else {
      if (is_word_first) {
        ++open;
        put(fmt::format("\"{}\"", std::string(in_[open].getIdentifierInfo()->getName())), in_[open].getLocation());
      }
      out_.insert(out_.end(), in_.begin() + static_cast<std::ptrdiff_t>(open) + 1,
                  in_.begin() + static_cast<std::ptrdiff_t>(close) - 1);
    }
  }
  put(is_inside ? ")]]" : ")))", at);
}

}  // namespace smelt::aot::msl
