// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM and Clang end the process when they meet what they cannot do, and may fault on bytes that nobody foresaw. Inside
// a guard that becomes a value instead.
//
// LLVM's crash recovery is a flag and a set of signal handlers of the whole process, so this is the one place that
// turns it on and off.
#pragma once

#include "smelt/base/result.hpp"

#include <functional>

namespace smelt::aot {

/// Runs `work` with plenty of stack; false when a fault ended it (SIGSEGV, SIGBUS, SIGABRT, ..., also a stack that was
/// used up). What it had made by then is leaked. Any thread; handlers of these signals are ours while at least one call
/// is running, and a fault of a thread outside any call goes where it went before.
bool contain_crashes(const std::function<void()>& work);

/// Runs `work`. If LLVM reports a fatal error in it, control comes back here without running destructors: everything
/// that `work` made is leaked, and what it was working on must not be touched again. Thread-safe; not nested.
Result<void> contain_fatal_errors(const std::function<void()>& work);

}  // namespace smelt::aot
