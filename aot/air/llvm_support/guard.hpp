// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM and Clang end the process when they meet what they cannot do, and may fault on bytes that nobody foresaw. Inside
// a guard that becomes a value instead.
//
// LLVM's crash recovery is a flag and a set of signal handlers of the whole process, so this is the one place that
// turns it on and off.
#pragma once

#include "smelt/base/result.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string_view>

namespace smelt::aot {

/// Runs `work` with plenty of stack; false when a fault ended it (SIGSEGV, SIGBUS, SIGABRT, ..., also a stack that was
/// used up). What it had made by then is leaked. Any thread; handlers of these signals are ours while at least one call
/// is running, and a fault of a thread outside any call goes where it went before.
bool contain_crashes(const std::function<void()>& work);

/// Runs `work`. If LLVM reports a fatal error in it, control comes back here without running destructors: everything
/// that `work` made is leaked, and what it was working on must not be touched again. Thread-safe; of nested ones the
/// innermost gets the error.
Result<void> contain_fatal_errors(const std::function<void()>& work);

/// Goes back to the innermost of them, which gives `error`; returns when there is none.
void give_up(const Error& error);

/// What the error of contained() says after a fault.
tl::unexpected<Error> crashed(std::string_view what);

/// Runs `work`, in which LLVM reads, changes or compiles what somebody else wrote, and gives its Result. A fault
/// becomes `corrupt`, LLVM's fatal errors `compile_failed`; each begins with `what` when that is not empty. `work`
/// holds no lock while LLVM runs: after a fault it would never be given back.
template <class Work>
auto contained(std::string_view what, Work&& work) -> decltype(work()) {
  auto result = std::make_unique<std::optional<decltype(work())>>();
  Result<void> fatal;
  const bool survived = contain_crashes([&] { fatal = contain_fatal_errors([&] { result->emplace(work()); }); });
  if (survived && fatal) return std::move(**result);
  (void)result.release();  // whatever it was doing is left half done
  if (!survived) return crashed(what);
  return tl::unexpected(what.empty() ? std::move(fatal).error() : std::move(fatal).error().in(what));
}

}  // namespace smelt::aot
