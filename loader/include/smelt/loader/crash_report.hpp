// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel that accesses other memory may crash the process. This reports which kernel it was.
#pragma once

#include <string_view>

namespace smelt::loader {

/// If the process crashes in a kernel on the CPU (SIGSEGV, SIGBUS), prints the kernel's name, the sizes of its buffers
/// and `advice` (static text) to stderr. Then the handler that was installed before runs. Only the first call of a
/// process has an effect.
void report_crashes(std::string_view advice);

}  // namespace smelt::loader
