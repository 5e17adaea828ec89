// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Does this machine run our kernels right? A fixed set runs on the CPU device and, on a Mac, on the Metal device; both
// are compared with plain C++. This is the test of the Metal device, which cannot be run where smelt is developed.
#pragma once

#include "smelt/base/bytes.hpp"

namespace smelt::selftest {

/// Runs the kernels of `package` (smelt selftest --emit makes it) and prints a table, to be pasted into an issue, on
/// stdout. pipeline_failed when a result is wrong or missing, device_unavailable when there is nothing to run on.
Result<void> run(ByteView package);

}  // namespace smelt::selftest
