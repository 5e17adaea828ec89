// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which of a kernel's loops are unrolled before lanes or regions are made of it.
#pragma once

namespace llvm {
class Function;
class TargetMachine;
}  // namespace llvm

namespace smelt::aot::cpu {

/// Simplifies the function of one thread and unrolls its short loops. `unroll(full)` is written for a GPU, where a loop
/// costs registers of one thread; here each instruction becomes four to eight of the processor's, the arrays that are
/// to become registers have none to go to, and the code leaves the instruction cache. So the hints are dropped and
/// LLVM's measure of size decides, but for loops over simdgroup matrices, which work once for all lanes, and loops over
/// arrays of the thread's own, which become values (and pointers in them say again where they point to). Hints of
/// arrays are dropped, then those of matrices too, when the function would be long with them.
void simplify_and_unroll(llvm::Function& function, llvm::TargetMachine& target);

}  // namespace smelt::aot::cpu
