// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules for make and ninja: what an object was made from.
#pragma once

#include "smelt/base/result.hpp"

#include <string>
#include <vector>

namespace smelt::toolchain {

struct Rule {
  std::vector<std::string> targets;       ///< as they are to be written
  std::vector<std::string> dependencies;  ///< files
  bool phony = false;                     ///< an empty rule for each dependency but the first
};
/// Errors: invalid_argument for a file whose name has a line end.
Result<std::string> to_text(const Rule& rule);

}  // namespace smelt::toolchain
