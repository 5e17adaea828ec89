// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Clang is fed with whatever people write; what takes it down must not take the process down.
#pragma once

#include "smelt/base/result.hpp"

#include <functional>
#include <string_view>

namespace smelt::aot::msl {

/// Runs `work` with plenty of stack. A crash in it (a signal, an abort, LLVM's fatal errors) comes back as an error;
/// what `work` had made by then is leaked. Signals of other threads go where they went before.
Result<void> run_safely(std::string_view what, const std::function<void()>& work);

}  // namespace smelt::aot::msl
