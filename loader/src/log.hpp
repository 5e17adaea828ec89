// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the loader says on stderr where SMELT_LOG is info or debug. (The levels of smelt/service/log.hpp, without its
// library.)
#pragma once

#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace smelt::loader {

inline void tell(std::string_view line) {
  const char* const level = std::getenv("SMELT_LOG");
  if (level != nullptr && (std::string_view(level) == "info" || std::string_view(level) == "debug"))
    fmt::print(stderr, "smelt: {}\n", line);
}

}  // namespace smelt::loader
