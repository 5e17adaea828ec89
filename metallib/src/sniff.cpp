// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What bytes look like that are not what was asked for. People point tools at the wrong file; say which one it is.
#include "smelt/metallib/reader.hpp"

#include <algorithm>
#include <cctype>

namespace smelt::metallib {
namespace {

struct Signature {
  std::string_view bytes;
  std::string_view meaning;
};
using namespace std::string_view_literals;

constexpr Signature kSignatures[] = {
    {"BC\xC0\xDE"sv, "LLVM bitcode"},
    {"\xDE\xC0\x17\x0B"sv, "LLVM bitcode in its wrapper"},
    {"\xCA\xFE\xBA\xBE"sv, "a universal Mach-O file"},
    {"\xCA\xFE\xBA\xBF"sv, "a universal Mach-O file (64-bit)"},
    {"\xCB\xFE\xBA\xBE"sv, "a universal Metal file"},
    {"\xBE\xBA\xFE\xCB"sv, "a universal Metal file"},
    {"\xCF\xFA\xED\xFE"sv, "a Mach-O file"},
    {"\xCE\xFA\xED\xFE"sv, "a Mach-O file"},
    {"\xFE\xED\xFA\xCF"sv, "a Mach-O file"},
    {"\xFE\xED\xFA\xCE"sv, "a Mach-O file"},
    {"\x7F"
     "ELF"sv,
     "an ELF file"},
    {"\x28\xB5\x2F\xFD"sv, "zstd-compressed data"},
    {"\x1F\x8B"sv, "gzip-compressed data"},
    {"BZh"sv, "bzip2-compressed data"},
    {"\xFD"
     "7zXZ"sv,
     "xz-compressed data"},
    {"PK\x03\x04"sv, "a ZIP archive"},
    {"!<arch>\n"sv, "an ar archive"},
    {"SMLT"sv, "a smelt package"},
    {"SQLite format 3"sv, "an SQLite database"},
    {"BLTM"sv, "a Metal library with its bytes swapped"},
    {"version https://git-lfs"sv, "a Git LFS pointer, not the file itself"},
};

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string_view looks_like_text(std::string_view text) {
  const size_t start = text.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos) return "blank text";
  text.remove_prefix(start);
  std::string lower(text.substr(0, 64));
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  if (lower.starts_with("<!doctype html") || lower.starts_with("<html")) return "HTML";
  if (lower.starts_with("<?xml")) return "XML";
  if (text.starts_with("metallib text")) return "the text form of a Metal library";
  if (text[0] == '{' || text[0] == '[') return "JSON";
  for (const std::string_view sign : {"target datalayout"sv, "target triple"sv, "; ModuleID"sv, "source_filename ="sv})
    if (contains(text, sign)) return "LLVM IR text";
  for (const std::string_view sign : {"metal_stdlib"sv, "using namespace metal"sv, "kernel void"sv, "[[kernel]]"sv})
    if (contains(text, sign)) return "Metal Shading Language source";
  if (contains(text, "define ") && contains(text, "@")) return "LLVM IR text";
  return "text";
}

}  // namespace

bool is_metallib(ByteView bytes) {
  return as_text(bytes).starts_with(kMagic);
}

std::string looks_like(ByteView bytes) {
  const std::string_view text = as_text(bytes);
  if (text.empty()) return "an empty file";
  if (text.size() < kMagic.size()) return fmt::format("a file of {} bytes", text.size());
  for (const Signature& signature : kSignatures)
    if (text.starts_with(signature.bytes)) return std::string(signature.meaning);
  const std::string_view head = text.substr(0, 16384);
  const bool printable = std::all_of(head.begin(), head.end(), [](unsigned char c) {
    return c >= 0x20 ? c != 0x7F : c == '\t' || c == '\n' || c == '\r' || c == '\f';
  });
  if (printable) return std::string(looks_like_text(head));
  std::string found = "unknown data starting with";
  for (const char c : text.substr(0, 4)) found += fmt::format(" {:02x}", static_cast<uint8_t>(c));
  return found;
}

}  // namespace smelt::metallib
