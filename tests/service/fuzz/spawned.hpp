// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program run to its end, or to a limit, with what it said on stderr.
#pragma once

#include <string>
#include <vector>

namespace smelt::test {

struct Spawned {
  int status = -1;          ///< as it exited
  bool was_killed = false;  ///< it ended by a signal, or was ended at the limit
  std::string words;        ///< the first of what it wrote on stderr
};

/// Its stdout goes nowhere. `seconds`: on the wall's clock.
Spawned spawn(const std::vector<std::string>& words, double seconds);

}  // namespace smelt::test
