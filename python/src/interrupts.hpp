// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ctrl-C while a kernel runs on the main thread: Python's handler can run there only when the kernel has returned, so
// another thread notices that the signal came, and ends the launch where its loops look.
#pragma once

namespace smelt::python {

/// Called before each launch, with the GIL. Launches of other threads than the main one are no business of Ctrl-C's.
void watch_for_interrupts();

}  // namespace smelt::python
