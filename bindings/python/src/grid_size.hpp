// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads, groups or threads of a group along one to three dimensions.
#pragma once

#include "smelt/loader/types.hpp"

namespace smelt::python {

struct GridSize {
  loader::Size3 size;
  int rank = 0;  ///< 0: not given
};

}  // namespace smelt::python
