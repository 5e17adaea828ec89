// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Words of Metal that declare: kernel, the spaces, and what goes with them.
#include "kernel_ir/builtins.hpp"
#include "msl/facts/missing_features.hpp"
#include "msl/syntax/token_filter.hpp"

#include "clang/Lex/Preprocessor.h"

namespace smelt::aot::msl {

namespace tok = clang::tok;

namespace {

bool is_attribute_word(const clang::Token& token) {
  return token.isOneOf(tok::kw_decltype, tok::kw_alignas, tok::kw___attribute);
}

}  // namespace

/// Words behind '.', '->' and '::' are names of the user's.
bool TokenFilter::word(std::string_view name) {
  const clang::SourceLocation at = in_[at_].getLocation();
  if (name == "is_function_constant_defined" && in_[at_ + 1].is(tok::l_paren) && in_[at_ + 2].is(tok::identifier)) {
    if (!out_.empty() && out_.back().is(tok::coloncolon)) {  // metal::
      out_.pop_back();
      if (!out_.empty() && out_.back().is(tok::identifier)) out_.pop_back();
    }
    put("::__smelt_function_constant_defined(&", at);
    at_ += 2;
    ++depth_;
    brackets_.push_back(Bracket::parenthesis);
    return true;
  }
  // "-> device T&": no member has the name of a space and a type behind it.
  const bool is_result_type = !out_.empty() && out_.back().is(tok::arrow) && is_space_word(at_) &&
                              !in_[at_ + 1].isAnnotation() && in_[at_ + 1].getIdentifierInfo() != nullptr;
  if (!is_result_type && !out_.empty() && out_.back().isOneOf(tok::period, tok::arrow, tok::coloncolon)) return false;
  if (name == "kernel") {
    put("__attribute__((annotate(\"msl.kernel\")))", at);
    ++at_;
    return true;
  }
  if (name == "vertex" || name == "fragment") {
    // A stage only in front of a function; elsewhere people call variables so.
    if (!declares_function(at_)) return false;
    put(name == "vertex" ? "__attribute__((annotate(\"msl.vertex\")))" : "__attribute__((annotate(\"msl.fragment\")))",
        at);
    ++at_;
    return true;
  }
  if (is_space_word(at_) && is_method_qualifier()) {
    method_space();
    return true;
  }
  if (name == "thread") {
    // The word itself goes; the declaration that it is in has the next one.
    const clang::SourceLocation next = in_[at_ + 1].getLocation();
    thread_words_.push_back(preprocessor_.getSourceManager().getExpansionLoc(next).getRawEncoding());
    ++at_;
    return true;
  }
  if (name == "coherent" && in_[at_ + 1].is(tok::l_paren)) {
    refuse_before(name);
    at_ = skip_balanced(at_ + 1);
    return true;
  }
  const auto is_device = [](const clang::Token& one) {
    return one.is(tok::identifier) && one.getIdentifierInfo()->isStr("device");
  };
  if (name == "coherent" && (is_device(in_[at_ + 1]) || (at_ > 0 && is_device(in_[at_ - 1])))) {
    refuse_before(name);
    ++at_;
    return true;
  }
  if (name == "object_data" && is_object_data(at_)) {
    put("__attribute__((opencl_private))", at);
    ++at_;
    return true;
  }
  if (name == "threadgroup_imageblock") {
    put("__attribute__((opencl_global))", at);
    ++at_;
    return true;
  }
  if (name == "device" || name == "constant" || name == "threadgroup") {
    space(name);
    return true;
  }
  return false;
}

/// An error where the word at at_ is of a later language.
void TokenFilter::refuse_before(std::string_view word) {
  const llvm::StringRef name(word.data(), word.size());
  const auto since = version_of_name(name);
  if (!since || language_ >= *since) return;
  clang::DiagnosticsEngine& engine = preprocessor_.getDiagnostics();
  engine.Report(in_[at_].getLocation(), engine.getCustomDiagID(clang::DiagnosticsEngine::Error, "%0"))
      << text_of_later_version(name, *since, language_);
}

/// Keywords of C++ that Metal has not, reported where they stand; parsing goes on with what is nearest.
bool TokenFilter::unsupported_word() {
  const Token& token = in_[at_];
  const auto report = [&](std::string_view what) {
    clang::DiagnosticsEngine& engine = preprocessor_.getDiagnostics();
    const unsigned id = engine.getCustomDiagID(clang::DiagnosticsEngine::Error, "'%0' is not supported in Metal");
    engine.Report(token.getLocation(), id) << llvm::StringRef(what.data(), what.size());
  };
  switch (token.getKind()) {
    case tok::kw_double:
      report("double");
      put("float", token.getLocation());
      ++at_;
      return true;
    case tok::kw_long:
      if (in_[at_ + 1].isNot(tok::kw_long)) return false;
      report("long long");
      at_ += 1;  // one `long` stays
      return true;
    case tok::kw_goto:
      report("goto");
      return false;
    case tok::kw_try:
    case tok::kw_throw:
    case tok::kw_catch:
      if (token.isNot(tok::kw_catch)) report("exceptions");
      return false;
    case tok::kw_dynamic_cast:
      report("dynamic_cast");
      put("static_cast", token.getLocation());
      ++at_;
      return true;
    case tok::kw_typeid:
      report("typeid");
      return false;
    case tok::kw_virtual:
      report("virtual");
      ++at_;
      return true;
    case tok::kw_thread_local:
    case tok::kw__Thread_local:
      report("thread_local");
      ++at_;
      return true;
    case tok::kw_asm: {
      // A label behind a function's parameters names an operation of AIR (facts/read_facts.cpp), or is a symbol of the
      // user's own. LLVM's names and ours mean something.
      const bool is_label = !out_.empty() && out_.back().is(tok::r_paren) && in_[at_ + 1].is(tok::l_paren) &&
                            in_[at_ + 2].is(tok::string_literal) && in_[at_ + 3].is(tok::r_paren);
      const std::string label = is_label ? preprocessor_.getSpelling(in_[at_ + 2]) : std::string();
      if (!is_label || !label.starts_with('"') || label.starts_with("\"llvm.") || label.starts_with("\"smelt."))
        report("asm");
      return false;
    }
    case tok::kw_new:
    case tok::kw_delete:
      // `= delete` is a declaration.
      if (token.is(tok::kw_delete) && !out_.empty() && out_.back().is(tok::equal)) return false;
      if (!out_.empty() && out_.back().is(tok::kw_operator)) return false;
      report(token.is(tok::kw_new) ? "new" : "delete");
      return false;
    default:
      return false;
  }
}

void TokenFilter::space(std::string_view name) {
  const clang::SourceLocation at = in_[at_].getLocation();
  // A parameter may have the attribute too, as a condition.
  const bool is_parameter = !brackets_.empty() && brackets_.back() == Bracket::parenthesis;
  const bool is_function_constant = name == "constant" && !is_parameter && has_function_constant(at_);
  if (is_function_constant) {
    while (!out_.empty() && out_.back().isOneOf(tok::kw_static, tok::kw_constexpr, tok::kw_inline)) out_.pop_back();
    in_function_constant_ = true;
  }
  if (is_parameter) find_array_parameter();
  if (becomes_static(name)) put("static", at);
  if (name == "device") {
    put("__attribute__((opencl_global_device))", at);
  } else if (name == "constant") {
    put(is_function_constant ? "extern __attribute__((opencl_global_host)) const"
                             : "__attribute__((opencl_global_host)) const",
        at);
  } else {
    put("__attribute__((opencl_local))", at);
  }
  ++at_;
}

/// Whether a declaration may begin here, as far as the tokens before show.
bool TokenFilter::at_statement() const {
  return out_.empty() || out_.back().isOneOf(tok::semi, tok::l_brace, tok::r_brace, tok::colon, tok::r_paren,
                                             tok::kw_volatile, tok::kw_const, tok::kw_static);
}

/// Whether a declaration has begun, and only attributes, pragmas and words of its type stand before `at_`.
bool TokenFilter::in_declaration() const {
  const auto is_type_word = [&](const Token& token) {
    return token.isOneOf(tok::identifier, tok::coloncolon, tok::kw_const, tok::kw_volatile, tok::kw_static,
                         tok::kw_constexpr, tok::kw_auto) ||
           token.isSimpleTypeSpecifier(preprocessor_.getLangOpts());
  };
  const auto opener = [&](size_t at, tok::TokenKind open, tok::TokenKind close) {
    int depth = 0;
    while (at-- > 0) {
      if (out_[at].is(close)) ++depth;
      if (close == tok::greater && out_[at].is(tok::greatergreater)) depth += 2;
      if (out_[at].is(open) && --depth == 0) return at;
      if (out_[at].isOneOf(tok::semi, tok::l_brace, tok::r_brace)) break;
    }
    return size_t(0);
  };
  for (size_t at = out_.size(); at > 0;) {
    const Token& before = out_[at - 1];
    if (before.isAnnotation() || is_type_word(before)) {
      --at;
    } else if (before.is(tok::r_square)) {
      at = opener(at, tok::l_square, tok::r_square);
      if (out_[at].isNot(tok::l_square) || out_[at + 1].isNot(tok::l_square)) return false;
    } else if (before.isOneOf(tok::greater, tok::greatergreater)) {
      at = opener(at, tok::less, tok::greater);
    } else {
      return before.isOneOf(tok::semi, tok::l_brace, tok::r_brace, tok::colon, tok::r_paren);
    }
  }
  return true;
}

/// Clang has no automatic variables in a space. Those of threadgroup memory and constants of a function become static;
/// a member stays what it is, and an error.
bool TokenFilter::becomes_static(std::string_view space) const {
  const Bracket inside = brackets_.empty() ? Bracket::of_namespace : brackets_.back();
  if (space == "device" || inside == Bracket::of_class || inside == Bracket::parenthesis) return false;
  if (space == "constant" && inside == Bracket::of_namespace) return false;
  return in_declaration() && declares_object(at_);
}

/// Of the '{' at `at_`.
TokenFilter::Bracket TokenFilter::kind_of_brace() const {
  for (size_t at = at_; at > 0; --at) {
    const Token& token = in_[at - 1];
    if (token.isOneOf(tok::semi, tok::l_brace, tok::r_brace, tok::equal, tok::l_paren, tok::comma)) break;
    if (token.is(tok::kw_namespace)) return Bracket::of_namespace;
    if (token.isOneOf(tok::kw_struct, tok::kw_class, tok::kw_union)) return Bracket::of_class;
    if (token.is(tok::string_literal) && at >= 2 && in_[at - 2].is(tok::kw_extern)) return Bracket::of_namespace;
    if (token.isNot(tok::r_paren)) continue;
    // "struct alignas(16) S {", and else a function.
    size_t open = at - 1;
    for (int depth = 0; open > 0; --open) {
      if (in_[open].is(tok::r_paren)) ++depth;
      if (in_[open].is(tok::l_paren) && --depth == 0) break;
    }
    if (open == 0 || !is_attribute_word(in_[open - 1])) break;
    at = open;
  }
  return Bracket::of_code;
}

/// Whether the declaration at `at` declares an object in the space it names: no pointer, reference or function.
bool TokenFilter::declares_object(size_t at) const {
  int angle = 0;
  bool has_name = false;
  for (size_t i = at + 1;; ++i) {
    const Token& token = in_[i];
    if (token.is(tok::eof)) return false;
    if (token.is(tok::less)) {
      ++angle;
    } else if (token.is(tok::greater)) {
      --angle;
    } else if (token.is(tok::greatergreater)) {
      angle -= 2;
    } else if (angle > 0) {
      if (token.isOneOf(tok::l_paren, tok::l_brace)) i = skip_balanced(i) - 1;
    } else if (is_attribute_word(token)) {
      i = skip_balanced(i + 1) - 1;
    } else if (token.isOneOf(tok::star, tok::amp, tok::ampamp, tok::l_paren, tok::r_paren, tok::r_brace)) {
      return false;
    } else if (token.isOneOf(tok::semi, tok::l_square, tok::equal, tok::l_brace, tok::comma)) {
      return has_name;
    } else if (token.is(tok::identifier)) {
      has_name = true;
    }
  }
}

/// Whether a type, a name and a parameter list follow the word at `at`: "fragment metal::vec<T, 4> paint(".
bool TokenFilter::declares_function(size_t at) const {
  int angle = 0;
  unsigned words = 0;
  for (size_t i = at + 1;; ++i) {
    const Token& token = in_[i];
    if (token.is(tok::l_square) && in_[i + 1].is(tok::l_square)) {
      i = skip_balanced(i) - 1;
    } else if (is_attribute_word(token) && in_[i + 1].is(tok::l_paren)) {
      words += token.is(tok::kw_decltype);
      i = skip_balanced(i + 1) - 1;
    } else if (token.is(tok::less)) {
      ++angle;
    } else if (token.is(tok::greater)) {
      --angle;
    } else if (token.is(tok::greatergreater)) {
      angle -= 2;
    } else if (token.isOneOf(tok::eof, tok::semi, tok::l_brace, tok::r_brace)) {
      return false;
    } else if (angle > 0) {
      if (token.is(tok::l_paren)) i = skip_balanced(i) - 1;
    } else if (token.is(tok::l_paren)) {
      return words >= 2;
    } else if (token.is(tok::coloncolon)) {
      words -= words != 0;  // the name goes on
    } else if (!token.isAnnotation() && token.getIdentifierInfo() != nullptr) {
      ++words;
    } else if (!token.isOneOf(tok::star, tok::amp)) {
      return false;
    }
  }
}

/// "constant int s[2]" in a parameter list: a star goes before the name, the extent is skipped. Of "s[2][3]" the first
/// one is: "(*s)[3]".
void TokenFilter::find_array_parameter() {
  int angle = 0;
  for (size_t i = at_ + 1; in_[i].isNot(tok::eof); ++i) {
    const Token& token = in_[i];
    if (token.is(tok::less)) ++angle;
    if (token.is(tok::greater)) --angle;
    if (angle > 0) continue;
    if (token.isOneOf(tok::star, tok::amp, tok::ampamp, tok::comma, tok::r_paren, tok::l_paren, tok::semi, tok::l_brace,
                      tok::equal))
      return;
    const auto opens_extent = [&](size_t where) {
      return in_[where].is(tok::l_square) && in_[where + 1].isNot(tok::l_square);
    };
    const size_t extent = skip_attributes(i + 1);
    if (token.isNot(tok::identifier) || !opens_extent(extent)) continue;
    const size_t end_of_first = skip_balanced(extent);
    size_t end = end_of_first;
    while (opens_extent(end)) end = skip_balanced(end);
    if (!in_[end].isOneOf(tok::comma, tok::r_paren)) return;
    skip_to_[extent] = end_of_first;
    put_before_[i] = end == end_of_first ? "*" : "(*";
    if (end != end_of_first) put_before_[end_of_first] = ")";
    return;
  }
}

/// A hardware value at program scope, since Metal 3.1: `const uint i [[thread_position_in_grid]];`. It is declared
/// alone, and its label says what it is (kernel/hardware_variables.hpp).
bool TokenFilter::hardware_variable() {
  if (!at_program_scope() || !at_statement()) return false;
  size_t end = at_;
  const auto is_word_of_type = [](const Token& token) {
    return token.isOneOf(tok::identifier, tok::coloncolon, tok::kw_const, tok::kw_unsigned, tok::kw_int, tok::kw_short,
                         tok::kw_float, tok::kw_half, tok::kw_bool, tok::kw_char, tok::kw_long);
  };
  while (is_word_of_type(in_[end])) ++end;
  if (end < at_ + 2 || in_[end - 1].isNot(tok::identifier)) return false;
  // [[attribute]];
  const size_t word = end + 2, close = end + 3;
  if (in_[end].isNot(tok::l_square) || in_[end + 1].isNot(tok::l_square) || in_[word].isNot(tok::identifier) ||
      in_[close].isNot(tok::r_square) || in_[close + 1].isNot(tok::r_square) || in_[close + 2].isNot(tok::semi))
    return false;
  const std::string attribute = in_[word].getIdentifierInfo()->getName().str();
  if (kernel_ir::find_builtin(attribute) == nullptr || !preprocessor_.isMacroDefined("__SMELT_HARDWARE_VARIABLES__"))
    return false;
  put("extern __attribute__((opencl_global_host)) const", in_[at_].getLocation());
  for (; at_ < end; ++at_)
    if (in_[at_].isNot(tok::kw_const)) out_.push_back(in_[at_]);
  put(fmt::format("__asm(\"{}{}.{}\") __attribute__((annotate(\"msl.{}\")))", kernel_ir::kHardwareVariable, attribute,
                  std::string(in_[end - 1].getIdentifierInfo()->getName()), attribute),
      in_[word].getLocation());
  at_ = close + 2;
  return true;
}

/// A resource at program scope, since Metal 3.2: `device float* constant x [[buffer(0)]];`. Clang would complain of
/// something else.
void TokenFilter::refuse_resource_variable() {
  if (!at_program_scope() || !at_statement()) return;
  for (size_t i = at_; !in_[i].isOneOf(tok::semi, tok::l_brace, tok::l_paren, tok::equal, tok::eof); ++i) {
    if (in_[i].isNot(tok::l_square) || in_[i + 1].isNot(tok::l_square)) continue;
    if (!is_word(i + 2, "buffer") && !is_word(i + 2, "texture") && !is_word(i + 2, "sampler")) return;
    clang::DiagnosticsEngine& engine = preprocessor_.getDiagnostics();
    engine.Report(in_[i + 2].getLocation(),
                  engine.getCustomDiagID(clang::DiagnosticsEngine::Error,
                                         "resources at program scope are not supported: make it a kernel's argument"));
    return;
  }
}

bool TokenFilter::has_function_constant(size_t at) const {
  for (size_t i = at; !in_[i].isOneOf(tok::semi, tok::l_brace, tok::l_paren, tok::equal, tok::eof); ++i)
    if (in_[i].is(tok::l_square) && in_[i + 1].is(tok::l_square) && is_word(i + 2, "function_constant")) return true;
  return false;
}

}  // namespace smelt::aot::msl
