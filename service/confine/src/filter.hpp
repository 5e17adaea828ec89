// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The system calls that a child may make which reads or compiles what others made.
#pragma once

#include <seccomp.h>

namespace smelt::service {

/// What is not listed is refused as if it were not permitted. Threads are; processes are not, nor signals: abort() then
/// ends in an instruction that faults. Null when there is no memory for it. It counts from seccomp_load on; the caller
/// keeps it.
scmp_filter_ctx make_filter();

}  // namespace smelt::service
