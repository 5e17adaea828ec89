// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Of code that cannot be reached LLVM makes a trap, which ends the process. It can be reached all the same: what comes
// after a loop that never ends is, once the launch's limit ends the loop (back_edges.hpp), and so is what a kernel only
// claims.
#pragma once

namespace llvm {
class Module;
}

namespace smelt::aot::cpu {

/// After end_at_back_edges(): what cannot be reached returns, and no function claims that it never does. The defaults
/// of switches stay: no code is made of them.
void return_at_unreachable(llvm::Module& module);

}  // namespace smelt::aot::cpu
