// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The places where compiling looks at its limits (smelt/aot/limits.hpp).
#pragma once

#include "smelt/aot/limits.hpp"
#include "smelt/base/result.hpp"

#include "llvm/IR/PassInstrumentation.h"

namespace smelt::aot {

/// Whether an error says that compiling was ended, not that something about this kernel is wrong.
bool was_ended(const Error& error);

/// `cancelled` when this thread's limits are reached.
Result<void> check_limits();

/// The same where there is no way to return: goes back to the nearest guard (guard.hpp), which gives the error. Nothing
/// on the way is destroyed. Does nothing outside a guard.
void stop_at_limits();

/// stop_at_limits() before each pass, and no pass on functions for which it takes too long; for
/// PassInstrumentationAnalysis. Shared by all threads, never changed.
llvm::PassInstrumentationCallbacks* pass_callbacks();

}  // namespace smelt::aot
