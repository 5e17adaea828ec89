// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ctrl-C while a kernel runs on the main thread: Python's handler can run there only when the kernel has returned, so
// another thread notices that the signal came, and ends the launch where its loops look.
#pragma once

#include <atomic>

namespace smelt::python {

/// Whether the watching thread looks at the main thread's launches by itself.
inline std::atomic<bool> watcher_is_awake{false};
void wake_watcher();

/// Called before each launch, with the GIL. Launches of other threads than the main one are no business of Ctrl-C's.
inline void watch_for_interrupts() {
  if (!watcher_is_awake.load(std::memory_order_relaxed)) wake_watcher();
}

}  // namespace smelt::python
