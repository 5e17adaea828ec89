// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Texts that every load makes, good or bad. libfmt's own pages and symbols, wanted for the first time, are some
// microseconds of the hundred and more that the load of one kernel takes; failures have that time.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace smelt::loader {

inline std::string joined(std::initializer_list<std::string_view> parts) {
  size_t size = 0;
  for (const std::string_view part : parts) size += part.size();
  std::string text;
  text.reserve(size);
  for (const std::string_view part : parts) text += part;
  return text;
}

}  // namespace smelt::loader
