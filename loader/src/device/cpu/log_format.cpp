// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "log_format.hpp"

#include "smelt/base/floats.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>

namespace smelt::loader {
namespace {

constexpr int kMostWidth = 256;

/// One conversion, taken apart.
struct Conversion {
  std::string flags;
  int width = 0;
  int precision = -1;
  unsigned components = 1;
  unsigned bytes = 4;  ///< of an operand, or of one component of a vector
  char letter = 0;
  size_t length = 0;  ///< characters of the format, '%' included
};

bool is_real(char letter) {
  return std::string_view("fFeEgGaA").find(letter) != std::string_view::npos;
}

int read_number(std::string_view text, size_t& at) {
  int value = 0;
  while (at < text.size() && text[at] >= '0' && text[at] <= '9')
    value = std::min(kMostWidth, 10 * value + (text[at++] - '0'));
  return value;
}

/// At a '%'. `letter` stays 0 when the format ends in the middle.
Conversion read_conversion(std::string_view text) {
  Conversion conversion;
  size_t at = 1;
  while (at < text.size() && std::string_view("-+ #0").find(text[at]) != std::string_view::npos)
    conversion.flags += text[at++];
  conversion.width = read_number(text, at);
  if (at < text.size() && text[at] == '.') conversion.precision = read_number(text, ++at);
  if (at + 1 < text.size() && text[at] == 'v' && text[at + 1] >= '2' && text[at + 1] <= '4') {
    conversion.components = static_cast<unsigned>(text[at + 1] - '0');
    at += 2;
  }
  const size_t length = at;
  while (at < text.size() && std::string_view("hlzjt").find(text[at]) != std::string_view::npos) ++at;
  const std::string_view modifier = text.substr(length, at - length);
  if (at < text.size()) conversion.letter = text[at++];
  conversion.length = at;
  if (conversion.components > 1 && modifier.starts_with('h'))  // "hl" is a component of 4 bytes
    conversion.bytes = modifier == "hh" ? 1 : modifier == "h" ? 2 : 4;
  else if (!modifier.empty() && modifier[0] != 'h')
    conversion.bytes = 8;
  else if (conversion.letter == 'p' || conversion.letter == 's')
    conversion.bytes = 8;
  else if (conversion.components == 1 && is_real(conversion.letter))
    conversion.bytes = 8;  // C promotes a float to double
  return conversion;
}

std::string print(const Conversion& conversion, uint64_t bits) {
  std::string specification = "%" + conversion.flags;
  if (conversion.width > 0) specification += std::to_string(conversion.width);
  if (conversion.precision >= 0) specification += "." + std::to_string(conversion.precision);
  char out[2 * kMostWidth + 512];
  int length = 0;
  if (is_real(conversion.letter)) {
    const double value = conversion.bytes == 8   ? std::bit_cast<double>(bits)
                         : conversion.bytes == 4 ? double{std::bit_cast<float>(static_cast<uint32_t>(bits))}
                                                 : double{from_half_bits(static_cast<uint16_t>(bits))};
    length = std::snprintf(out, sizeof(out), (specification + conversion.letter).c_str(), value);
  } else if (conversion.letter == 'c') {
    length = std::snprintf(out, sizeof(out), (specification + "c").c_str(), static_cast<int>(bits & 0xff));
  } else if (conversion.letter == 'd' || conversion.letter == 'i') {
    const unsigned unused = 64 - 8 * conversion.bytes;
    const auto value = static_cast<int64_t>(bits << unused) >> unused;
    length = std::snprintf(out, sizeof(out), (specification + "lld").c_str(), static_cast<long long>(value));
  } else {
    const std::string letter(1, conversion.letter == 'p' || conversion.letter == 's' ? 'x' : conversion.letter);
    length =
        std::snprintf(out, sizeof(out), (specification + "ll" + letter).c_str(), static_cast<unsigned long long>(bits));
    if (conversion.letter == 'p' || conversion.letter == 's') return "0x" + std::string(out);
  }
  return length < 0 ? std::string("<?>")
                    : std::string(out, std::min<size_t>(static_cast<size_t>(length), sizeof(out) - 1));
}

}  // namespace

std::string format_log(std::string_view format, ByteView operands) {
  std::string line;
  size_t at = 0;
  const auto align = [&](unsigned bytes) { at = (at + bytes - 1) / bytes * bytes; };
  const auto take = [&](unsigned bytes, uint64_t& bits) {
    if (at > operands.size() || operands.size() - at < bytes) return false;
    std::memcpy(&bits, &operands[at], bytes);
    at += bytes;
    return true;
  };
  while (!format.empty()) {
    const size_t percent = std::min(format.find('%'), format.size());
    line += format.substr(0, percent);
    format.remove_prefix(percent);
    if (format.empty()) break;
    if (format.starts_with("%%")) {
      line += '%';
      format.remove_prefix(2);
      continue;
    }
    const Conversion conversion = read_conversion(format);
    const bool known =
        conversion.letter != 0 && std::string_view("diuoxXcps").find(conversion.letter) != std::string_view::npos;
    if (!known && !(conversion.letter != 0 && is_real(conversion.letter))) {
      line += format.substr(0, conversion.length);
    } else {
      // A vector of three takes the place of four.
      const unsigned places = conversion.components == 3 ? 4 : conversion.components;
      align(places * conversion.bytes);
      for (unsigned i = 0; i < conversion.components; ++i) {
        uint64_t bits = 0;
        if (i > 0) line += ",";
        line += take(conversion.bytes, bits) ? print(conversion, bits) : "<?>";
      }
      if (conversion.components == 3) at += conversion.bytes;
    }
    format.remove_prefix(conversion.length);
  }
  return line;
}

}  // namespace smelt::loader
