// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Variables of the environment. Private to remote.
#pragma once

#include <cstdlib>
#include <string>

namespace smelt::remote {

/// A variable's value; empty when it is not set.
inline std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace smelt::remote
