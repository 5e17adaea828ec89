// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel that leaves its memory ends the process, as in every program. Who asks for it is told which kernel it was.
#pragma once

#include <string_view>

namespace smelt::loader {

/// From now on, when the process crashes in a kernel on the CPU (SIGSEGV, SIGBUS), stderr is told its name and the
/// sizes of its buffers, and then `advice`, a sentence that lives for ever: how to have accesses checked here. Whoever
/// handled the signals before handles them afterwards. Once a process; later calls do nothing.
void report_crashes(std::string_view advice);

}  // namespace smelt::loader
