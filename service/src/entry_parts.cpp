// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "entry_parts.hpp"

namespace smelt::service {

std::string pack_warnings(const std::vector<std::string>& warnings) {
  std::string text;
  for (const std::string& warning : warnings) text.append(warning).push_back('\0');
  return text;
}

std::vector<std::string> unpack_warnings(std::string_view text) {
  std::vector<std::string> warnings;
  for (size_t end = text.find('\0'); end != std::string_view::npos; end = text.find('\0')) {
    warnings.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return warnings;
}

}  // namespace smelt::service
