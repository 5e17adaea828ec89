// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Work on several threads.
#pragma once

#include "smelt/base/result.hpp"

#include <functional>

namespace smelt::aot {

/// Runs `count` tasks on `threads` threads (0: as many as the machine has) with plenty of stack. Stops early once a
/// task fails; the error is the one of the lowest task, so it does not depend on the number of threads.
Result<void> run_tasks(size_t count, unsigned threads, const std::function<Result<void>(size_t)>& task);

}  // namespace smelt::aot
