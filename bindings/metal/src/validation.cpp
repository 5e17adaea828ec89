// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "validation.hpp"

#include "settings.hpp"

#include <cstdio>
#include <cstdlib>

namespace smelt::metal {

std::string misuse_line(std::string_view call, std::string_view what) {
  std::string line = fmt::format("{}: {}", call, what);
  std::fprintf(stderr, "smelt: Metal validation: %s\n", line.c_str());
  if (setting("SMELT_METAL_VALIDATION") != "error" && !validation_is_off()) std::abort();
  return line;
}

bool validation_is_off() {
  return setting("SMELT_METAL_VALIDATION") == "off";
}

}  // namespace smelt::metal
