// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "msl/diagnostics.hpp"

#include "smelt/base/near_names.hpp"
#include "smelt/base/sort.hpp"

#include "msl/facts/missing_features.hpp"
#include "msl/facts/report.hpp"
#include "msl/syntax/attributes.hpp"

#include "clang/AST/DeclCXX.h"
#include "clang/AST/Type.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/LexDiagnostic.h"
#include "clang/Lex/Lexer.h"
#include "clang/Parse/ParseDiagnostic.h"
#include "clang/Sema/SemaDiagnostic.h"
#include "llvm/ADT/SmallString.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <tuple>

namespace smelt::aot::msl {
namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

/// The same for whole words: "__global__" does not hold the word "__global".
void replace_words(std::string& text, std::string_view from, std::string_view to) {
  const auto goes_on = [](char one) { return std::isalnum(static_cast<unsigned char>(one)) != 0 || one == '_'; };
  for (size_t at = text.find(from), next = 0; at != std::string::npos; at = text.find(from, next)) {
    const size_t end = at + from.size();
    const bool whole = !(goes_on(from.back()) && end < text.size() && goes_on(text[end])) &&
                       !(goes_on(from.front()) && at > 0 && goes_on(text[at - 1]));
    if (whole) text.replace(at, from.size(), to);
    next = at + (whole ? to.size() : from.size());
  }
}

/// "vec<float __attribute__((ext_vector_type(4)))>" and "vec<__extended<float, 4>>", which the class is to Clang,
/// -> "vec<float, 4>".
void replace_extended(std::string& text) {
  constexpr std::string_view kAlias = "vec<__extended<";
  for (size_t at = text.find(kAlias); at != std::string::npos; at = text.find(kAlias, at + 1)) {
    const size_t close = text.find(">>", at);
    if (close == std::string::npos) break;
    text.erase(close, 1);
    text.erase(at + 4, kAlias.size() - 4);
  }
  constexpr std::string_view kOpen = " __attribute__((ext_vector_type(", kClose = ")))>";
  for (size_t at = text.find(kOpen); at != std::string::npos; at = text.find(kOpen, at + 1)) {
    const size_t close = text.find(kClose, at);
    if (close == std::string::npos) return;
    const std::string width = text.substr(at + kOpen.size(), close - at - kOpen.size());
    text.replace(at, close + kClose.size() - at, ", " + width + ">");
  }
}

/// "vec<float, 4>" -> "float4", "packed_vec<half, 3>" -> "packed_half3", "matrix<float, 4, 4>" -> "float4x4".
void replace_templates(std::string& text) {
  struct Row {
    std::string_view before, after;
    unsigned numbers;
  };
  constexpr Row kRows[] = {{"packed_vec<", "packed_", 1}, {"vec<", "", 1}, {"matrix<", "", 2}};
  for (const Row& row : kRows)
    for (size_t at = text.find(row.before); at != std::string::npos; at = text.find(row.before, at + 1)) {
      if (at > 0 && (std::isalnum(static_cast<unsigned char>(text[at - 1])) != 0 || text[at - 1] == '_')) continue;
      const size_t first = at + row.before.size();
      const size_t comma = text.find(", ", first);
      const size_t close = text.find('>', first);
      if (comma == std::string::npos || close == std::string::npos || comma > close) continue;
      std::string numbers = text.substr(comma + 2, close - comma - 2);
      replace_all(numbers, ", ", "x");
      if (numbers.find_first_not_of("0123456789x") != std::string::npos) continue;
      text = text.substr(0, at) + std::string(row.after) + text.substr(first, comma - first) + numbers +
             text.substr(close + 1);
    }
}

/// The name that Clang knows nothing of stands where the message points: the word there, and whether '<' follows.
std::pair<llvm::StringRef, bool> word_at(const clang::Diagnostic& diagnostic) {
  if (!diagnostic.hasSourceManager() || diagnostic.getLocation().isInvalid()) return {};
  const clang::SourceManager& sources = diagnostic.getSourceManager();
  const auto [file, offset] = sources.getDecomposedLoc(sources.getSpellingLoc(diagnostic.getLocation()));
  bool invalid = false;
  const llvm::StringRef buffer = sources.getBufferData(file, &invalid);
  if (invalid || offset >= buffer.size()) return {};
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  const llvm::StringRef word = buffer.substr(offset).take_while(is_word);
  return {word, buffer.substr(offset + word.size()).ltrim().starts_with("<")};
}

bool is_about_unknown_name(unsigned id) {
  using namespace clang::diag;
  constexpr unsigned kIds[] = {err_unknown_typename,
                               err_unknown_typename_suggest,
                               err_unknown_nested_typename_suggest,
                               err_typename_nested_not_found,
                               err_undeclared_var_use,
                               err_undeclared_var_use_suggest,
                               err_undeclared_use,
                               err_undeclared_use_suggest,
                               err_no_template,
                               err_no_template_suggest,
                               err_no_member,
                               err_no_member_suggest,
                               err_no_member_template,
                               err_no_member_template_suggest,
                               err_expected_namespace_name,
                               err_expected_class_name};
  return std::find(std::begin(kIds), std::end(kIds), id) != std::end(kIds);
}

/// The type of Metal's library that a type is, or that it points to, and that we only declare.
llvm::StringRef missing_type(clang::QualType type) {
  while (type->isPointerType() || type->isReferenceType()) type = type->getPointeeType();
  const auto* record = type->getAsCXXRecordDecl();
  if (record == nullptr || !record->getDeclContext()->isNamespace() || record->getDefinition() != nullptr) return {};
  const auto* space = llvm::cast<clang::NamespaceDecl>(record->getDeclContext());
  return space->getName() == "metal" ? record->getName() : llvm::StringRef();
}

/// A feature that is not supported, and the name that is used of it.
struct Missing {
  std::string_view feature;
  std::string name;
};

/// What a message is about when it is about such a feature; else empty.
Missing missing_feature(const clang::Diagnostic& diagnostic) {
  if (is_about_unknown_name(diagnostic.getID())) {
    const auto [word, has_arguments] = word_at(diagnostic);
    if (const auto feature = feature_of_name(word, has_arguments); !feature.empty()) return {feature, word.str()};
  }
  for (unsigned i = 0; i < diagnostic.getNumArgs(); ++i) {
    if (diagnostic.getArgKind(i) != clang::DiagnosticsEngine::ak_qualtype) continue;
    const auto type = clang::QualType::getFromOpaquePtr(reinterpret_cast<void*>(diagnostic.getRawArg(i)));
    const llvm::StringRef name = type.isNull() ? llvm::StringRef() : missing_type(type);
    if (const auto feature = feature_of_name(name, true); !feature.empty()) return {feature, name.str()};
  }
  return {};
}

/// "'os_log_default' needs Metal 3.2; ..." of a name that this language does not have yet; else empty.
std::string of_later_version(const clang::Diagnostic& diagnostic, const Version& language) {
  if (!is_about_unknown_name(diagnostic.getID())) return {};
  const llvm::StringRef word = word_at(diagnostic).first;
  const auto since = version_of_name(word);
  if (!since || language >= *since) return {};
  return text_of_later_version(word, *since, language);
}

/// "unknown attribute 'bufer' ignored", with the one that was perhaps meant.
std::string with_near_attribute(std::string text) {
  const size_t open = text.find('\''), close = text.find('\'', open + 1);
  if (close == std::string::npos) return text;
  const std::vector<std::string_view> near =
      near_names(std::string_view(text).substr(open + 1, close - open - 1), attribute_names());
  return near.empty() ? text : fmt::format("{}; did you mean '{}'?", text, near.front());
}

/// A header's static_assert says in its text what is wrong; how it asked is its own.
std::string without_requirement(std::string text) {
  constexpr std::string_view kHead = "static assertion failed";
  const size_t end = text.find(": ");
  if (!text.starts_with(kHead) || end == std::string::npos) return text;
  const size_t behind = text.find("': ");
  return text.substr(behind == std::string::npos ? end + 2 : behind + 3);
}

/// "vec<bool, N>", as a header has it, with the number.
std::string with_widths(std::string text, const clang::Diagnostic& diagnostic) {
  clang::LangOptions language;
  language.CPlusPlus = language.Bool = 1;
  const clang::PrintingPolicy policy(language);
  for (unsigned i = 0; i < diagnostic.getNumArgs(); ++i) {
    if (diagnostic.getArgKind(i) != clang::DiagnosticsEngine::ak_qualtype) continue;
    const auto type = clang::QualType::getFromOpaquePtr(reinterpret_cast<void*>(diagnostic.getRawArg(i)));
    const std::string shown = type.isNull() ? "" : type.getAsString(policy);
    // A header's name for a type says less: `vec<bool, N>` inside of it, __vec2 of a swizzle.
    if (shown.find(", N>") != std::string::npos || shown.find("__vec") != std::string::npos)
      replace_all(text, shown, type.getCanonicalType().getAsString(policy));
  }
  return text;
}

/// Of a refused cast: between half and bfloat, in either direction.
bool is_half_and_bfloat(const clang::Diagnostic& diagnostic) {
  if (diagnostic.getNumArgs() < 3) return false;
  clang::QualType types[2];
  for (unsigned i = 0; i < 2; ++i) {
    if (diagnostic.getArgKind(i + 1) != clang::DiagnosticsEngine::ak_qualtype) return false;
    types[i] = clang::QualType::getFromOpaquePtr(reinterpret_cast<void*>(diagnostic.getRawArg(i + 1)));
  }
  const auto is_half = [](clang::QualType type) { return type->isHalfType() || type->isFloat16Type(); };
  return (is_half(types[0]) && types[1]->isBFloat16Type()) || (types[0]->isBFloat16Type() && is_half(types[1]));
}

/// " [-Wunused-variable]", " [-Werror,-Wunused-variable]": what steers the message, as Clang says it.
std::string flags_of(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& diagnostic) {
  const unsigned id = diagnostic.getID();
  if (id == clang::diag::fatal_too_many_errors) return " [-ferror-limit=]";
  const llvm::StringRef name = clang::DiagnosticIDs::getWarningOptionForDiag(id);
  if (level == clang::DiagnosticsEngine::Note || name.empty()) return {};
  const bool is_raised = level >= clang::DiagnosticsEngine::Error &&
                         clang::DiagnosticIDs::isBuiltinWarningOrExtension(id) &&
                         !clang::DiagnosticIDs::isDefaultMappingAsError(id);
  return fmt::format(" [{}-W{}]", is_raised ? "-Werror," : "", name.str());
}

}  // namespace

std::string in_metal_words(std::string text) {
  // A name that Clang proposes keeps its namespace: that is what was missing.
  constexpr std::string_view kProposed = "did you mean 'metal::", kKept = "did you mean '\x01";
  replace_all(text, "did you mean '::metal::", kProposed);
  replace_all(text, kProposed, kKept);
  constexpr std::array<std::pair<std::string_view, std::string_view>, 25> kWords = {{
      {"'annotate' attribute requires parameter 1 to be", "the argument of an attribute must be"},
      {"__attribute__((opencl_global_device))", "device"},
      {"__attribute__((opencl_global_host))", "constant"},
      {"__attribute__((opencl_local))", "threadgroup"},
      {"__attribute__((opencl_global))", "threadgroup_imageblock"},
      {"__attribute__((opencl_private))", "object_data"},
      {"const __global_host", "constant"},
      {"const __constant", "constant"},
      {"__global_device", "device"},
      {"__global_host", "constant"},
      {"__global", "threadgroup_imageblock"},
      {"__local", "threadgroup"},
      {"__private", "object_data"},
      {"__restrict ", ""},  // of a method that names its space; a pointer's stands last
      {"generic address space", "address space 'thread'"},
      {"unsigned char", "uchar"},
      {"unsigned short", "ushort"},
      {"unsigned int", "uint"},
      {"unsigned long", "ulong"},
      {"__bf16", "bfloat"},
      {"__fp16", "half"},
      {"_Float16", "half"},
      {"::metal::", ""},
      {"metal::", ""},
      {"__vectors::", ""},
  }};
  for (const auto& [from, to] : kWords) replace_words(text, from, to);
  replace_all(text, kKept, kProposed);
  replace_all(text, "constant const ", "constant ");
  replace_all(text, "const constant ", "constant ");
  replace_extended(text);
  replace_templates(text);
  if (text == "overload resolution selected deleted operator '&'")
    text = "a swizzle has no address, and neither has another value";
  // "'float4' (aka 'float4')" says nothing.
  for (size_t aka = text.find("' (aka '"); aka != std::string::npos; aka = text.find("' (aka '", aka + 1)) {
    const size_t open = text.rfind('\'', aka - 1);
    const size_t close = text.find("')", aka + 8);
    if (open == std::string::npos || close == std::string::npos) break;
    if (text.compare(open + 1, aka - open - 1, text, aka + 8, close - aka - 8) == 0)
      text.erase(aka + 1, close + 1 - aka);
  }
  return text;
}

std::string DiagnosticCollector::include_stack(const clang::SourceManager& sources,
                                               const clang::PresumedLoc& place) const {
  std::string text;
  for (clang::PresumedLoc at = sources.getPresumedLoc(place.getIncludeLoc()); at.isValid();
       at = sources.getPresumedLoc(at.getIncludeLoc())) {
    const llvm::StringRef name = at.getFilename();
    if (name.starts_with("<")) break;  // a file that the command line names
    const bool is_main = at.getFileID() == sources.getMainFileID();
    text.insert(0, fmt::format("In file included from {}:{}:\n", is_main ? main_name_ : name.str(), at.getLine()));
  }
  return text;
}

DiagnosticCollector::Place DiagnosticCollector::place_of(const clang::Diagnostic& diagnostic) const {
  if (!diagnostic.hasSourceManager() || diagnostic.getLocation().isInvalid()) return {};
  return place_of(diagnostic.getSourceManager(), diagnostic.getLocation());
}

std::string DiagnosticCollector::error_at(const clang::SourceManager& sources, clang::SourceLocation location,
                                          std::string_view text) const {
  const Place place = place_of(sources, location);
  return fmt::format("{}: error: {}{}", place.text, text, place.snippet);
}

DiagnosticCollector::Place DiagnosticCollector::place_of(const clang::SourceManager& sources,
                                                         clang::SourceLocation location) const {
  Place result;
  const clang::SourceLocation at = sources.getFileLoc(location);
  const clang::PresumedLoc place = sources.getPresumedLoc(at);
  if (place.isInvalid()) return result;
  result.is_user = !sources.isInSystemHeader(at) && !sources.isWrittenInScratchSpace(at);
  const bool is_main = sources.isInMainFile(at) && sources.getFilename(at) == place.getFilename();
  result.file = is_main ? main_name_ : std::string(place.getFilename());
  result.line = place.getLine();
  result.column = place.getColumn();
  result.text = fmt::format("{}:{}:{}", result.file, result.line, result.column);
  result.stack = include_stack(sources, place);
  const auto [file, offset] = sources.getDecomposedLoc(at);
  bool invalid = false;
  const llvm::StringRef buffer = sources.getBufferData(file, &invalid);
  if (invalid || !result.is_user || offset > buffer.size()) return result;
  const size_t newline = buffer.substr(0, offset).rfind('\n');
  const size_t start = newline == llvm::StringRef::npos ? 0 : newline + 1;
  const llvm::StringRef line = buffer.substr(start).take_until([](char c) { return c == '\n' || c == '\r'; });
  if (line.size() > 200) return result;
  std::string caret = "  ";
  for (size_t i = start; i < offset; ++i) caret += buffer[i] == '\t' ? '\t' : ' ';
  result.snippet = fmt::format("\n  {}\n{}^", std::string_view(line.data(), line.size()), caret);
  return result;
}

void DiagnosticCollector::set_place(Message& message, Place place) {
  const auto found = std::find(files_.begin(), files_.end(), place.file);
  message.file = static_cast<unsigned>(found - files_.begin());
  if (found == files_.end()) files_.push_back(place.file);
  message.line = place.line;
  message.column = place.column;
  message.place = std::move(place.text);
  message.snippet = std::move(place.snippet);
  message.stack = std::move(place.stack);
}

void DiagnosticCollector::finish_message() {
  if (!has_last_) return;
  has_last_ = false;
  // Clang does not say again who instantiated what had an error just before: this one follows from that.
  if (last_.is_error && last_.wants_place && !errors_.empty()) return;
  // A warning of no file is of the command line, and has no name in front.
  const bool is_of_file = last_.is_error || !last_.place.empty();
  std::string text = last_.place.empty() ? main_name_ : last_.place;
  text = is_of_file ? fmt::format("{}: {}: {}", text, last_.is_error ? "error" : "warning", last_.text) : last_.text;
  text += last_.snippet;
  for (const std::string& note : last_.notes) text += "\n" + note;
  if (last_.is_error) {
    // One mistake in a template shows once for each instantiation.
    const std::string head = fmt::format("{}: error: {}", last_.place, last_.text);
    for (const Filed& error : errors_)
      if (error.text.compare(0, head.size(), head) == 0) return;
    // What Clang says behind the first name of a missing feature comes of that name.
    if (!features_.empty() && last_.feature.empty()) return;
    if (!last_.feature.empty() && !features_.insert(last_.feature).second) return;
    // What has no place, "too many errors", comes last.
    const unsigned file = last_.place.empty() ? ~0u : last_.file;
    errors_.push_back({file, last_.line, last_.column, true, std::move(text), std::move(last_.stack)});
  } else if (!last_.wants_place) {
    // As Clang: how a header was reached is said once for the messages that follow each other in it.
    if (last_.stack != stack_of_warnings_) text.insert(0, last_.stack);
    if (std::find(warnings_.begin(), warnings_.end(), text) == warnings_.end()) warnings_.push_back(text);
    if (last_.is_attribute) attributes_.push_back({last_.file, last_.line, last_.column, false, text, {}});
    stack_of_warnings_ = std::move(last_.stack);
  }
}

void DiagnosticCollector::HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& diagnostic) {
  clang::DiagnosticConsumer::HandleDiagnostic(level, diagnostic);
  if (diagnostic.getID() == clang::diag::err_bad_cxx_cast_generic && is_half_and_bfloat(diagnostic))
    refused_.casts.insert(diagnostic.getLocation().getRawEncoding());
  if (diagnostic.getID() == clang::diag::err_typecheck_cond_incompatible_operands ||
      diagnostic.getID() == clang::diag::err_conditional_ambiguous)
    refused_.choices.insert(diagnostic.getLocation().getRawEncoding());
  using Level = clang::DiagnosticsEngine;
  if (level == Level::Ignored || level == Level::Remark) return;
  llvm::SmallString<256> formatted;
  diagnostic.FormatDiagnostic(formatted);
  std::string text = in_metal_words(with_widths(formatted.str().str(), diagnostic));
  if (text.starts_with(" from ")) text.insert(0, "functional-style cast");  // Clang has no word for it
  if (diagnostic.getID() == clang::diag::err_pp_file_not_found && is_tensor_header(diagnostic.getArgStdStr(0)))
    text += fmt::format(": {}", kNoTensors);
  const bool is_attribute = diagnostic.getID() == clang::diag::warn_unknown_attribute_ignored;
  if (is_attribute) text = with_near_attribute(std::move(text));
  // The user wrote a word of the language; Clang names the function of ours that stands for it.
  if (level >= Level::Error && text.find("function_constant_defined'") != std::string::npos)
    text = kWantsFunctionConstant;
  if (std::string later = of_later_version(diagnostic, language_); !later.empty()) text = std::move(later);
  text += flags_of(level, diagnostic);
  const Missing missing = level >= Level::Error ? missing_feature(diagnostic) : Missing();
  if (!missing.feature.empty()) text = fmt::format("'{}': {} are not supported", missing.name, missing.feature);
  Place place = place_of(diagnostic);
  if (!place.is_user) text = without_requirement(std::move(text));
  if (level == Level::Note) {
    if (!has_last_ || !place.is_user) return;
    if (last_.wants_place) {
      set_place(last_, std::move(place));
      last_.wants_place = false;
    } else if (last_.notes.size() < 8) {
      last_.notes.push_back(fmt::format("{}: note: {}{}", place.text, text, place.snippet));
    }
    return;
  }
  finish_message();
  last_ = {};
  last_.is_error = level >= Level::Error;
  last_.is_attribute = is_attribute;
  last_.feature = missing.feature;
  last_.text = std::move(text);
  if (diagnostic.getLocation().isValid())
    last_.wants_place = !place.is_user;
  else
    last_.file = ~0u;  // behind those of files
  if (place.is_user) set_place(last_, std::move(place));
  has_last_ = true;
}

std::string DiagnosticCollector::errors() const {
  // A misspelt attribute is mostly why the rest of its line is wrong: it goes first.
  std::vector<const Filed*> sorted;
  for (const Filed& warning : attributes_) sorted.push_back(&warning);
  for (const Filed& error : errors_) sorted.push_back(&error);
  sort_stably(sorted, [](const Filed* a, const Filed* b) {
    return std::tie(a->file, a->line, a->is_error, a->column) < std::tie(b->file, b->line, b->is_error, b->column);
  });
  std::string text;
  const Filed* before = nullptr;
  for (const Filed* error : sorted) {
    if (before != nullptr) text += "\n";
    if (before == nullptr || error->stack != before->stack) text += error->stack;
    text += error->text;
    before = error;
  }
  return text;
}

}  // namespace smelt::aot::msl
