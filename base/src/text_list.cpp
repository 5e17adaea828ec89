// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/base/text_list.hpp"

#include <fmt/format.h>

#include <charconv>

namespace smelt {

std::string pack_texts(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) list += fmt::format("{}:{}", text.size(), text);
  return list;
}

std::optional<std::vector<std::string>> unpack_texts(std::string_view list) {
  std::vector<std::string> texts;
  while (!list.empty()) {
    size_t length = 0;
    const auto [end, error] = std::from_chars(list.data(), list.data() + list.size(), length);
    const auto digits = static_cast<size_t>(end - list.data());
    if (error != std::errc() || digits == list.size() || *end != ':' || length > list.size() - digits - 1)
      return std::nullopt;
    texts.emplace_back(list.substr(digits + 1, length));
    list.remove_prefix(digits + 1 + length);
  }
  return texts;
}

}  // namespace smelt
