// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The system calls that a child may make which reads or compiles what others made.
#pragma once

#include "seccomp_library.hpp"

namespace smelt::service {

/// What is not listed is refused as if it were not permitted. Threads are; processes are not, nor signals: abort() then
/// ends in an instruction that faults. It counts from enter_sandbox() on; the caller keeps it. Errors:
/// `toolchain_missing` when libseccomp is not there or makes none.
Result<scmp_filter_ctx> make_filter();

}  // namespace smelt::service
