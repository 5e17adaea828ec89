// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Spaces of methods: "int get() device const {" becomes "int get() const __attribute__((msl_this_device)) {"
// (method_spaces.hpp).
#include "msl/syntax/token_filter.hpp"

#include "clang/Lex/Preprocessor.h"

#include <fmt/format.h>

namespace smelt::aot::msl {

namespace tok = clang::tok;

namespace {

/// What may stand among the spaces of a method.
bool is_trailing_qualifier(const clang::Token& token) {
  return token.isOneOf(tok::kw_const, tok::kw_volatile, tok::kw_noexcept, tok::amp, tok::ampamp);
}

}  // namespace

bool TokenFilter::is_space_word(size_t at) const {
  return is_word(at, "device") || is_word(at, "constant") || is_word(at, "threadgroup") || is_word(at, "thread") ||
         is_word(at, "threadgroup_imageblock") || is_object_data(at);
}

/// A space of Metal 3; in front of a type or behind one, or of a method. Anywhere else it is a name of the user's.
bool TokenFilter::is_object_data(size_t at) const {
  if (!is_word(at, "object_data")) return false;
  const Token& next = in_[at + 1];
  const bool is_type =
      next.is(tok::identifier) || next.is(tok::kw_const) || next.isSimpleTypeSpecifier(preprocessor_.getLangOpts());
  const bool is_behind_type = next.isOneOf(tok::amp, tok::star) && at > 0 &&
                              in_[at - 1].isOneOf(tok::identifier, tok::greater, tok::kw_const) &&
                              in_[at + 2].is(tok::identifier);
  const bool is_of_method = next.isOneOf(tok::l_brace, tok::semi) && at > 0 &&
                            (in_[at - 1].is(tok::r_paren) || in_[at - 1].is(tok::kw_const));
  return is_type || is_behind_type || is_of_method;
}

/// Behind the parameter list of a method: ") const device {".
bool TokenFilter::is_method_qualifier() const {
  size_t before = out_.size();
  while (before > 0 && is_trailing_qualifier(out_[before - 1])) --before;
  if (before == 0 || out_[before - 1].isNot(tok::r_paren)) return false;
  size_t after = at_ + 1;
  while (is_trailing_qualifier(in_[after]) || is_space_word(after)) ++after;
  if (in_[after].is(tok::l_paren) && in_[after - 1].is(tok::kw_noexcept)) after = skip_balanced(after);
  const bool opens_attribute = in_[after].is(tok::l_square) && in_[after + 1].is(tok::l_square);
  return opens_attribute ||
         in_[after].isOneOf(tok::l_brace, tok::semi, tok::equal, tok::arrow, tok::colon, tok::kw___attribute);
}

/// Where in out_ the '(' of the parameter list before its end is; 0: nowhere.
size_t TokenFilter::last_parameter_list() const {
  size_t at = out_.size();
  while (at > 0 && out_[at - 1].isNot(tok::r_paren)) --at;
  int depth = 0;
  while (at > 0) {
    --at;
    if (out_[at].isOneOf(tok::r_paren, tok::r_square, tok::r_brace)) ++depth;
    if (out_[at].isOneOf(tok::l_paren, tok::l_square, tok::l_brace) && --depth == 0) return at;
  }
  return 0;
}

/// The space at at_ and the qualifiers behind it. GNU attributes come last, but before a trailing return type, where
/// they would be the type's: there the attribute goes behind `auto`.
void TokenFilter::method_space() {
  const clang::SourceLocation at = in_[at_].getLocation();
  const std::string name = preprocessor_.getSpelling(in_[at_]);
  const size_t list = last_parameter_list();
  const bool is_lambda = list >= 2 && out_[list - 1].is(tok::r_square) &&
                         !(out_[list - 2].is(tok::l_square) && list >= 3 && out_[list - 3].is(tok::kw_operator));
  const auto report = [&](const char* message) {
    clang::DiagnosticsEngine& engine = preprocessor_.getDiagnostics();
    engine.Report(in_[at_].getLocation(),
                  engine.getDiagnosticIDs()->getCustomDiagID(clang::DiagnosticIDs::Error, message))
        << name;
  };
  ++at_;
  while (is_trailing_qualifier(in_[at_]) || is_space_word(at_)) {
    if (!is_space_word(at_)) {
      copy();
      continue;
    }
    report("a member function is qualified with one address space; '%0' is there already");
    ++at_;
  }
  if (in_[at_].is(tok::l_paren))  // of noexcept
    for (const size_t end = skip_balanced(at_); at_ < end;) copy();
  if (is_lambda) {
    // A closure is an object of the thread.
    if (name != "thread") report("a lambda cannot be qualified with address space '%0'");
    return;
  }
  const std::string attribute = fmt::format("__attribute__((msl_this_{}))", name);
  if (in_[at_].isNot(tok::arrow)) return put(attribute, at);
  size_t result = list;
  while (result > 0 && !out_[result].isOneOf(tok::kw_auto, tok::semi, tok::l_brace, tok::r_brace)) --result;
  if (out_[result].isNot(tok::kw_auto)) return report("a trailing return type behind '%0' needs 'auto' in front");
  const std::vector<Token> rest(out_.begin() + static_cast<std::ptrdiff_t>(result) + 1, out_.end());
  out_.resize(result + 1);
  put(attribute, at);
  out_.insert(out_.end(), rest.begin(), rest.end());
}

}  // namespace smelt::aot::msl
