// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/base/sizes.hpp"

#include <cctype>
#include <charconv>
#include <limits>
#include <string>

namespace smelt {

Result<uint64_t> parse_size(std::string_view text) {
  uint64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  std::string unit;
  for (const char letter : std::string_view(end, static_cast<size_t>(text.data() + text.size() - end)))
    if (!unit.empty() || letter != ' ') unit += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  // "", "b", "k", "kb", "kib" and so on up to "e".
  constexpr std::string_view kLetters = "kmgtpe";
  int shift = 0;
  const std::string_view ending = unit.empty() ? std::string_view() : std::string_view(unit).substr(1);
  if (const size_t place = unit.empty() ? kLetters.npos : kLetters.find(unit.front()); place != kLetters.npos)
    shift = 10 * (static_cast<int>(place) + 1);
  const bool known = unit.empty() || unit == "b" || (shift != 0 && (ending.empty() || ending == "b" || ending == "ib"));
  if (error != std::errc() || !known || count > std::numeric_limits<uint64_t>::max() >> shift)
    return fail(Errc::invalid_argument, "'{}': want a size such as 500MiB or 20GiB", text);
  return count << shift;
}

}  // namespace smelt
