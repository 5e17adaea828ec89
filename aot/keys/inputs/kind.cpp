// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "inputs/kind.hpp"

#include "smelt/aot/object.hpp"
#include "smelt/metallib/reader.hpp"

#include <algorithm>

namespace smelt::aot::input {
namespace {

bool starts(std::string_view text, std::string_view prefix) {
  return text.starts_with(prefix);
}

bool is_text(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) {
    const auto code = static_cast<unsigned char>(c);
    return code < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != '\v';
  });
}

/// A line that can only begin a top-level entity of LLVM IR.
bool begins_ir(std::string_view line) {
  for (const std::string_view word :
       {"define ", "declare ", "target datalayout", "target triple", "source_filename", "module asm", "attributes #"})
    if (starts(line, word)) return true;
  // @x = ..., %t = type ..., !0 = !{...}, $c = comdat ..., ^0 = module: ...
  if (line.empty() || std::string_view("@%!$^").find(line[0]) == std::string_view::npos) return false;
  const size_t equals = line.find('=');
  if (equals == std::string_view::npos) return false;
  const std::string_view name = line.substr(1, equals - 1);
  return line.size() > 1 && name.find_first_of("();") == std::string_view::npos;
}

/// Without the blanks, line comments and block comments at its front.
std::string_view first_code(std::string_view text) {
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n\f\v"), text.size()));
    const std::string_view close = starts(text, ";") || starts(text, "//") ? "\n" : starts(text, "/*") ? "*/" : "";
    if (close.empty()) return text;
    const size_t end = text.find(close, close == "*/" ? 2 : 0);
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + close.size());
  }
}

}  // namespace

Kind detect_kind(ByteView bytes) {
  if (bytes.size() >= 4) {
    const uint32_t magic = load_le<uint32_t>(bytes.data());
    if (magic == 0xDEC04342) return Kind::bitcode;
    if (magic == 0x0B17C0DE) return Kind::wrapped_bitcode;
    if (magic == 0x424C544D) return Kind::metallib;  // "MTLB"
    if (magic == 0xBEBAFECA || magic == 0xCBFEBABE || magic == 0xBEBAFECB) return Kind::universal;
  }
  const std::string_view text = as_text(bytes);
  if (text.find_first_not_of(" \t\r\n\f\v") == std::string_view::npos) return Kind::unknown;
  if (!is_text(text.substr(0, 4096))) return Kind::unknown;
  const std::string_view code = first_code(text);
  if (begins_ir(code.substr(0, code.find('\n')))) return Kind::text_ir;
  // A file of comments alone is an empty module in both languages; ';' is not how a C++ file begins.
  const size_t first = text.find_first_not_of(" \t\r\n\f\v");
  if (text[first] == ';') return Kind::text_ir;
  return looks_like(bytes).empty() ? Kind::msl : Kind::unknown;
}

Kind detect_kind(ByteView bytes, std::string_view name) {
  const bool is_blank = as_text(bytes).find_first_not_of(" \t\r\n\f\v") == std::string_view::npos;
  return is_blank && name.ends_with(".metal") ? Kind::msl : detect_kind(bytes);
}

std::string looks_like(ByteView bytes) {
  const std::string_view text = as_text(bytes);
  if (text.empty()) return "an empty file";
  if (text.find_first_not_of(" \t\r\n\f\v") == std::string_view::npos) return "blank text";
  const bool may_be_source = is_text(text.substr(0, 4096));
  if (may_be_source && text.size() < 4) return {};
  std::string found = metallib::looks_like(bytes);
  const bool is_source = found == "text" || found == "Metal Shading Language source" || found == "LLVM IR text" ||
                         starts(found, "unknown data");
  return may_be_source && is_source ? std::string() : found;
}

}  // namespace smelt::aot::input

namespace smelt::aot {

bool is_archive(ByteView file) {
  return as_text(file).starts_with("!<arch>\n") || as_text(file).starts_with("!<thin>\n");
}

std::string_view ir_triple(ByteView file) {
  if (input::detect_kind(file) != input::Kind::text_ir) return {};
  constexpr std::string_view kWords = "target triple = \"";
  const std::string_view text = as_text(file);
  for (size_t at = text.find(kWords); at != std::string_view::npos; at = text.find(kWords, at + 1)) {
    if (at != 0 && text[at - 1] != '\n') continue;
    const size_t begin = at + kWords.size();
    return text.substr(begin, std::min(text.find_first_of("\"\n", begin), text.size()) - begin);
  }
  return {};
}

bool is_link_input(ByteView file) {
  switch (input::detect_kind(file)) {
    case input::Kind::bitcode:
    case input::Kind::wrapped_bitcode:
    case input::Kind::metallib:
    case input::Kind::universal:
      return true;
    default:
      return is_archive(file);
  }
}

}  // namespace smelt::aot
