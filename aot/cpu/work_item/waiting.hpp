// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels whose threads wait: a loop goes round until memory says that it is to end, and memory can say so because
// another thread writes to it. Where that thread is of another group, as at a barrier of the whole grid, both groups
// have to run at the same time.
#pragma once

namespace llvm {
class Module;
}  // namespace llvm

namespace smelt::aot::cpu {

/// True if a loop of one thread may wait: its end depends on an atomic or volatile load inside, or on an atomic
/// operation that changes nothing. A loop around a compare-and-exchange or an addition does not wait: what makes it go
/// round once more is that another thread has got on.
bool may_wait(llvm::Module& module);

}  // namespace smelt::aot::cpu
