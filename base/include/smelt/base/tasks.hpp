// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Work in parallel, in an order that errors do not depend on.
#pragma once

#include "smelt/base/result.hpp"

#include <cstddef>
#include <functional>

namespace smelt {

/// Runs task(0) ... task(count - 1) on up to `threads` threads, of which the caller's is one; 0: one per core. Fewer
/// when the system gives no more. Returns when all have ended: the error of the first task, in order, that failed;
/// tasks behind it may not have been begun. No memory in a task is out_of_memory; other exceptions must not leave it.
/// `on_thread`, when given, is called once on each thread with what that thread is to do.
Result<void> run_tasks(size_t count, unsigned threads, const std::function<Result<void>(size_t)>& task,
                       const std::function<void(const std::function<void()>&)>& on_thread = {});

}  // namespace smelt
