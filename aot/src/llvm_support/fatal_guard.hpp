// LLVM ends the process when it meets what it cannot do. Inside a guard that becomes an error value instead.
#pragma once

#include "smelt/base/result.hpp"

#include <functional>

namespace smelt::aot::cpu {

/// Runs `work`. If LLVM reports a fatal error in it, control comes back here without running destructors: everything
/// that `work` made is leaked, and what it was working on must not be touched again. Thread-safe; not nested.
Result<void> contain_fatal_errors(const std::function<void()>& work);

}  // namespace smelt::aot::cpu
