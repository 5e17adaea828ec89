// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Base64 as RFC 4648 has it in section 4. Ours, since what builds the loader alone has no library for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace smelt {

constexpr std::string_view kBase64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr size_t base64_size(size_t bytes) {
  return (bytes + 2) / 3 * 4;
}

inline std::string to_base64(std::span<const std::byte> bytes) {
  std::string text;
  uint32_t held = 0;
  unsigned bits = 0;
  for (const std::byte byte : bytes) {
    held = held << 8 | std::to_integer<uint32_t>(byte);
    for (bits += 8; bits >= 6; bits -= 6) text += kBase64Digits[held >> (bits - 6) & 63];
  }
  if (bits != 0) text += kBase64Digits[held << (6 - bits) & 63];
  text.resize(base64_size(bytes.size()), '=');
  return text;
}

/// Fills `bytes` from a text of base64_size(bytes.size()) characters. False when it has another size, another
/// character, or bits behind the last byte that are not 0: one value has one spelling.
inline bool from_base64(std::string_view text, std::span<std::byte> bytes) {
  if (text.size() != base64_size(bytes.size())) return false;
  const size_t digits = (bytes.size() * 8 + 5) / 6;
  if (text.find_first_not_of('=', digits) != std::string_view::npos) return false;
  uint32_t held = 0;
  unsigned bits = 0;
  size_t done = 0;
  for (const char character : text.substr(0, digits)) {
    const size_t digit = kBase64Digits.find(character);
    if (digit == std::string_view::npos) return false;
    held = held << 6 | static_cast<uint32_t>(digit);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes[done++] = static_cast<std::byte>(held >> bits & 255);
  }
  return (held & ((1u << bits) - 1)) == 0;
}

}  // namespace smelt
