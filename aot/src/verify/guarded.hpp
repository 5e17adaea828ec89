// LLVM's bitcode reader trusts the records that it reads: a module whose structure is sound but whose numbers are not
// can make it read where nothing is. For a tool whose purpose is to look at suspicious files, that has to be an answer
// and not the end of the process.
#pragma once

#include <functional>

namespace smelt::aot::verify {

/// Runs `work`; false when it was ended by a fault (SIGSEGV, SIGBUS, SIGABRT, ...). What it had allocated is then lost.
/// Any thread; the process's handlers for these signals are replaced while at least one call is running.
bool run_guarded(const std::function<void()>& work);

}  // namespace smelt::aot::verify
