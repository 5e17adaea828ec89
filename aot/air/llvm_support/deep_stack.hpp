// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM's readers and passes recurse over types, constants and metadata. A thread's usual stack (8 MiB, less for threads
// of other runtimes) is not enough for what a hostile or merely large module can ask for, and there is no way to ask
// LLVM to stop; so such work runs on a stack of its own.
#pragma once

#include <functional>

namespace smelt::aot {

/// Runs `work` with plenty of stack: directly when this thread already has it, else on a thread made for it. Returns
/// when it is done.
void run_deep(const std::function<void()>& work);

/// The same, always on a thread made for it. False: `work` left its thread.
bool run_apart(const std::function<void()>& work);

/// Ends the thread of the innermost run_apart() where it stands: nothing is destroyed or freed, because after a fault
/// in the allocator the thread may hold the lock of the memory it allocates from, and would wait for itself. Its stack
/// and that memory are lost. Returns when this thread is not one of run_apart()'s: there was none to be had.
void leave_thread();

}  // namespace smelt::aot
