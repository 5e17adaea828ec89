// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "llvm_support/tasks.hpp"

#include "smelt/base/tasks.hpp"

#include "llvm_support/deep_stack.hpp"

namespace smelt::aot {

Result<void> run_tasks(size_t count, unsigned threads, const std::function<Result<void>(size_t)>& task) {
  return smelt::run_tasks(count, threads, task, run_deep);
}

}  // namespace smelt::aot
