// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace smelt::aot {

/// Whether a fault of LLVM's was contained in this process. From then on neither LLVM's state nor the allocator's can
/// be relied on: what others made should be read in another process. Any thread.
bool had_fault();

}  // namespace smelt::aot
