// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether a remote does what it should, step by step, for those who set one up.
#pragma once

#include "smelt/remote/address.hpp"

#include <string>
#include <vector>

namespace smelt::remote {

struct CheckStep {
  bool good = true;
  std::string what;    ///< "reads", "writes", "latency", "clock", "certificate", ...
  std::string result;  ///< what was found and, when it is not good, what to mend
};

/// Asks for a key that is not there, puts a small blob and a record (unless read-only) and reads them back. What it
/// puts is the same each time. Stops at the first step that later ones need.
std::vector<CheckStep> check(const Address& address);

}  // namespace smelt::remote
