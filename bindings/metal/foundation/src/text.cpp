// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "text.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace smelt::foundation {

namespace {

enum : unsigned long { kAscii = 1, kUtf8 = 4, kLatin1 = 5, kUtf16 = 10 };  // NSStringEncoding's

void put(std::string& text, char32_t c) {
  if (c < 0x80) {
    text += static_cast<char>(c);
  } else if (c < 0x800) {
    text += {static_cast<char>(0xc0 | (c >> 6)), static_cast<char>(0x80 | (c & 63))};
  } else if (c < 0x10000) {
    text += {static_cast<char>(0xe0 | (c >> 12)), static_cast<char>(0x80 | ((c >> 6) & 63)),
             static_cast<char>(0x80 | (c & 63))};
  } else {
    text += {static_cast<char>(0xf0 | (c >> 18)), static_cast<char>(0x80 | ((c >> 12) & 63)),
             static_cast<char>(0x80 | ((c >> 6) & 63)), static_cast<char>(0x80 | (c & 63))};
  }
}

// The character at `at`, which moves on; ~0 for what is not UTF-8 (RFC 3629).
char32_t take(std::string_view text, size_t& at) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(at++);
  if (first < 0x80) return first;
  const int more = first >= 0xf0 && first < 0xf5   ? 3
                   : first >= 0xe0 && first < 0xf0 ? 2
                   : first >= 0xc2 && first < 0xe0 ? 1
                                                   : 0;
  if (more == 0 || text.size() - at < static_cast<size_t>(more)) return ~char32_t{0};
  char32_t c = first & (63 >> more);
  for (int i = 0; i < more; ++i) {
    if ((byte(at) & 0xc0) != 0x80) return ~char32_t{0};
    c = (c << 6) | (byte(at++) & 63);
  }
  const char32_t least = more == 1 ? 0x80 : more == 2 ? 0x800 : 0x10000;
  return c < least || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? ~char32_t{0} : c;
}

bool is_utf8(std::string_view text) {
  for (size_t at = 0; at < text.size();)
    if (take(text, at) == ~char32_t{0}) return false;
  return true;
}

}  // namespace

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<uint8_t>(c) < 0x80; });
}

size_t units_of(std::string_view text) {
  size_t units = 0;
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    units += (byte & 0xc0) == 0x80 ? 0 : byte >= 0xf0 ? 2 : 1;
  }
  return units;
}

std::u16string to_utf16(std::string_view text) {
  std::u16string units;
  for (size_t at = 0; at < text.size();) {
    const char32_t c = take(text, at);
    if (c == ~char32_t{0}) {
      units += u'\ufffd';
    } else if (c < 0x10000) {
      units += static_cast<char16_t>(c);
    } else {
      units += static_cast<char16_t>(0xd800 + ((c - 0x10000) >> 10));
      units += static_cast<char16_t>(0xdc00 + ((c - 0x10000) & 1023));
    }
  }
  return units;
}

std::string from_utf16(std::u16string_view units) {
  std::string text;
  for (size_t i = 0; i < units.size(); ++i) {
    char32_t c = units[i];
    const bool pair =
        c >= 0xd800 && c < 0xdc00 && i + 1 < units.size() && units[i + 1] >= 0xdc00 && units[i + 1] < 0xe000;
    if (pair) {
      c = 0x10000 + ((c - 0xd800) << 10) + (units[++i] - 0xdc00u);
    } else if (c >= 0xd800 && c < 0xe000) {
      c = 0xfffd;
    }
    put(text, c);
  }
  return text;
}

bool decode(std::string_view bytes, unsigned long encoding, std::string& text) {
  text.clear();
  switch (encoding) {
    case kAscii:
    case kUtf8:
      if (encoding == kAscii ? !is_ascii(bytes) : !is_utf8(bytes)) return false;
      text = bytes;
      return true;
    case kLatin1:
      for (const char c : bytes) put(text, static_cast<uint8_t>(c));
      return true;
    case kUtf16: {  // of this machine
      if (bytes.size() % 2 != 0) return false;
      std::u16string units(bytes.size() / 2, 0);
      std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(units.data()));
      text = from_utf16(units);
      return true;
    }
    default:
      return false;
  }
}

bool encode(std::string_view text, unsigned long encoding, std::string& bytes) {
  bytes.clear();
  switch (encoding) {
    case kAscii:
      if (!is_ascii(text)) return false;
      [[fallthrough]];
    case kUtf8:
      bytes = text;
      return true;
    case kLatin1:
      for (const char16_t unit : to_utf16(text)) {
        if (unit > 0xff) return false;
        bytes += static_cast<char>(unit);
      }
      return true;
    case kUtf16: {
      const std::u16string units = to_utf16(text);
      bytes.assign(reinterpret_cast<const char*>(units.data()), units.size() * 2);
      return true;
    }
    default:
      return false;
  }
}

double parse_double(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\n"), text.size()));
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace smelt::foundation
