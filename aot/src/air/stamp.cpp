#include "air/stamp.hpp"

#include <charconv>

namespace smelt::aot::air {
namespace {

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

bool take_number(std::string_view& text, uint16_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data()) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

}  // namespace

std::optional<TripleParts> parse_triple(std::string_view text) {
  TripleParts parts;
  if (!take_prefix(text, "air64")) return std::nullopt;
  if (take_prefix(text, "_v")) {
    uint16_t digits = 0;
    if (!take_number(text, digits) || digits < 10) return std::nullopt;
    parts.arch_air = Version{static_cast<uint16_t>(digits / 10), static_cast<uint16_t>(digits % 10)};
  }
  if (!take_prefix(text, "-apple-")) return std::nullopt;
  if (take_prefix(text, "macosx"))
    parts.platform = Platform::macos;
  else if (take_prefix(text, "ios"))
    parts.platform = Platform::ios;
  else
    return std::nullopt;
  if (!take_number(text, parts.os.major)) return std::nullopt;
  if (take_prefix(text, ".") && !take_number(text, parts.os.minor)) return std::nullopt;
  if (take_prefix(text, ".") && !take_number(text, parts.os.patch)) return std::nullopt;
  parts.simulator = text == "-simulator";
  if (!text.empty() && !parts.simulator) return std::nullopt;
  return parts;
}

bool serves(std::string_view triple, const Target& target) {
  const std::optional<TripleParts> parts = parse_triple(triple);
  return parts && parts->platform == target.platform && parts->os.major == target.os.major;
}

}  // namespace smelt::aot::air
