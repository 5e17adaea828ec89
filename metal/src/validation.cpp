// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "validation.hpp"

#include "settings.hpp"

#include <cstdio>
#include <cstdlib>

namespace smelt::metal {

std::string misuse_line(std::string_view call, std::string_view what) {
  std::string line = fmt::format("{}: {}", call, what);
  std::fprintf(stderr, "smelt: Metal validation: %s\n", line.c_str());
  if (setting("SMELT_METAL_VALIDATION") != "error") std::abort();
  return line;
}

}  // namespace smelt::metal
