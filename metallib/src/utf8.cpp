#include "utf8.hpp"

#include <cstdint>

namespace smelt::metallib {

bool is_utf8(std::string_view text) {
  size_t i = 0;
  while (i < text.size()) {
    const auto lead = static_cast<uint8_t>(text[i++]);
    if (lead < 0x80) continue;
    if (lead < 0xC2 || lead > 0xF4) return false;
    const int more = lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
    uint32_t point = lead & (0x3Fu >> more);
    for (int k = 0; k < more; ++k, ++i) {
      if (i == text.size() || (static_cast<uint8_t>(text[i]) & 0xC0) != 0x80) return false;
      point = point << 6 | (static_cast<uint8_t>(text[i]) & 0x3F);
    }
    if (more == 2 && (point < 0x800 || (point >= 0xD800 && point < 0xE000))) return false;
    if (more == 3 && (point < 0x10000 || point > 0x10FFFF)) return false;
  }
  return true;
}

}  // namespace smelt::metallib
