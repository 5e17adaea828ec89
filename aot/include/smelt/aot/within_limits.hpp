// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "smelt/base/result.hpp"

namespace smelt::aot {

/// `cancelled`, naming the limit, when this thread's limits (smelt/aot/limits.hpp) are passed. For results that took
/// longer than they may, in one long pass for example.
Result<void> within_limits();

}  // namespace smelt::aot
