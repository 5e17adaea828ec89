// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "llvm_support/tasks.hpp"

#include "smelt/base/tasks.hpp"

#include "llvm_support/deep_stack.hpp"
#include "llvm_support/watch.hpp"

namespace smelt::aot {

Result<void> run_tasks(size_t count, unsigned threads, const std::function<Result<void>(size_t)>& task) {
  const Watch* const watch = current_watch();
  return smelt::run_tasks(
      count, threads,
      [&](size_t i) -> Result<void> {
        const Inherited limits(watch);
        SMELT_TRY_VOID(check_limits());
        return task(i);
      },
      run_deep);
}

}  // namespace smelt::aot
