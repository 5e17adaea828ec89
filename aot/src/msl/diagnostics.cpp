// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "msl/diagnostics.hpp"

#include "smelt/base/sort.hpp"

#include "clang/AST/Type.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/LexDiagnostic.h"
#include "clang/Lex/Lexer.h"
#include "clang/Sema/SemaDiagnostic.h"
#include "llvm/ADT/SmallString.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

namespace smelt::aot::msl {
namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
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

/// Headers of Metal that are not served, since what they declare is not supported. Not served means that
/// __has_include() is false, which code asks.
std::string_view feature_of_header(llvm::StringRef name) {
  struct Row {
    llvm::StringRef header;
    std::string_view feature;
  };
  const Row rows[] = {{"MetalPerformancePrimitives/", "Metal Performance Primitives (mpp::tensor_ops)"},
                      {"metal_tensor", "tensors"},
                      {"metal_cooperative_tensor", "tensors"},
                      {"metal_raytracing", "ray tracing functions"},
                      {"metal_mesh", "mesh stages"},
                      {"metal_imageblocks", "imageblocks"},
                      {"metal_command_buffer", "indirect command buffers"},
                      {"metal_tessellation", "tessellation stages"}};
  for (const Row& row : rows)
    if (name.starts_with(row.header)) return row.feature;
  return {};
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
  constexpr std::array<std::pair<std::string_view, std::string_view>, 19> kWords = {{
      {"__attribute__((opencl_global_device))", "device"},
      {"__attribute__((opencl_global_host))", "constant"},
      {"__attribute__((opencl_local))", "threadgroup"},
      {"const __global_host", "constant"},
      {"const __constant", "constant"},
      {"__global_device", "device"},
      {"__global_host", "constant"},
      {"__global", "device"},
      {"__local", "threadgroup"},
      {"__private", "thread"},
      {"unsigned char", "uchar"},
      {"unsigned short", "ushort"},
      {"unsigned int", "uint"},
      {"unsigned long", "ulong"},
      {"__bf16", "bfloat"},
      {"__fp16", "half"},
      {"_Float16", "half"},
      {"::metal::", ""},
      {"metal::", ""},
  }};
  for (const auto& [from, to] : kWords) replace_all(text, from, to);
  replace_all(text, "constant const ", "constant ");
  replace_all(text, "const constant ", "constant ");
  replace_templates(text);
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
  Place result;
  if (!diagnostic.hasSourceManager() || diagnostic.getLocation().isInvalid()) return result;
  const clang::SourceManager& sources = diagnostic.getSourceManager();
  const clang::SourceLocation at = sources.getFileLoc(diagnostic.getLocation());
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
    errors_.push_back({last_.file, last_.line, last_.column, std::move(text), std::move(last_.stack)});
  } else if (!last_.wants_place) {
    // As Clang: how a header was reached is said once for the messages that follow each other in it.
    if (last_.stack != stack_of_warnings_) text.insert(0, last_.stack);
    if (std::find(warnings_.begin(), warnings_.end(), text) == warnings_.end()) warnings_.push_back(text);
    stack_of_warnings_ = std::move(last_.stack);
  }
}

void DiagnosticCollector::HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& diagnostic) {
  clang::DiagnosticConsumer::HandleDiagnostic(level, diagnostic);
  if (diagnostic.getID() == clang::diag::err_bad_cxx_cast_generic && is_half_and_bfloat(diagnostic))
    refused_casts_.insert(diagnostic.getLocation().getRawEncoding());
  using Level = clang::DiagnosticsEngine;
  if (level == Level::Ignored || level == Level::Remark) return;
  llvm::SmallString<256> formatted;
  diagnostic.FormatDiagnostic(formatted);
  std::string text = in_metal_words(formatted.str().str());
  if (diagnostic.getID() == clang::diag::err_pp_file_not_found)
    if (const auto feature = feature_of_header(diagnostic.getArgStdStr(0)); !feature.empty())
      text += fmt::format(": {} are not supported", feature);
  text += flags_of(level, diagnostic);
  Place place = place_of(diagnostic);
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
  last_.text = std::move(text);
  if (diagnostic.getLocation().isValid())
    last_.wants_place = !place.is_user;
  else
    last_.file = ~0u;  // behind those of files
  if (place.is_user) set_place(last_, std::move(place));
  has_last_ = true;
}

std::string DiagnosticCollector::errors() const {
  std::vector<const Filed*> sorted;
  for (const Filed& error : errors_) sorted.push_back(&error);
  sort_stably(sorted, [](const Filed* a, const Filed* b) {
    return std::tie(a->file, a->line, a->column) < std::tie(b->file, b->line, b->column);
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
