// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/base/text.hpp"

#include <fmt/format.h>

#include <cstdint>

namespace smelt {
namespace {

/// Bytes of the character at the front; 0 when there is no well-formed one.
size_t character(std::string_view text) {
  const auto lead = static_cast<uint8_t>(text[0]);
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  const size_t more = lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
  if (text.size() <= more) return 0;
  uint32_t point = lead & (0x3Fu >> more);
  for (size_t i = 1; i <= more; ++i) {
    const auto next = static_cast<uint8_t>(text[i]);
    if ((next & 0xC0) != 0x80) return 0;
    point = point << 6 | (next & 0x3F);
  }
  if (more == 2 && (point < 0x800 || (point >= 0xD800 && point < 0xE000))) return 0;
  if (more == 3 && (point < 0x10000 || point > 0x10FFFF)) return 0;
  return more + 1;
}

/// C0 but tab and newline, DEL, and C1, whose second byte in UTF-8 is the control itself.
bool is_control(std::string_view one) {
  const auto lead = static_cast<uint8_t>(one[0]);
  if (one.size() == 1) return lead == 0x7F || (lead < 0x20 && lead != '\t' && lead != '\n');
  return lead == 0xC2 && static_cast<uint8_t>(one[1]) < 0xA0;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t bytes = character(text);
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

std::string quoted_for_make(std::string_view path) {
  std::string text;
  for (const char c : path) {
    if (c == ' ' || c == '#') text += '\\';
    if (c == '$') text += '$';
    text += c;
  }
  return text;
}

std::string json_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : is_utf8(text) ? std::string(text) : printable(text)) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<uint8_t>(c) < 0x20)
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out += '"';
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t bytes = character(text);
    const std::string_view one = text.substr(0, bytes == 0 ? 1 : bytes);
    if (bytes != 0 && !is_control(one))
      out += one;
    else
      for (const char byte : one) out += fmt::format("\\x{:02x}", static_cast<uint8_t>(byte));
    text.remove_prefix(one.size());
  }
  return out;
}

}  // namespace smelt
