// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A group that never ends could not be told to: so loops that may go on without end look, each time round, whether the
// launch is to end (smelt_cpu_fault::claimed is SMELT_CPU_LAUNCH_ENDS), and then the code returns.
#pragma once

#include <cstdint>

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace smelt::aot::cpu {

/// Whether a loop of the functions of one thread may go on without end. Not meant is a counter that would have to wrap
/// around, or a step that would have to be zero: most loops over a row are such, and looking in them took softmax 2 to
/// 3 % longer.
bool may_go_on(llvm::Module& module);

/// Which loops look.
enum class EndedLoops : uint8_t {
  uncounted,  ///< not those whose count is known when they begin: they end, if late
  unbounded,  ///< all whose count hangs on what the kernel has read: checked code may have read what is not there
};

/// Last of all, so that no optimiser is in its way. `entry` has the dispatch block as its first parameter.
void end_at_back_edges(llvm::Module& module, llvm::Function& entry, EndedLoops which);

}  // namespace smelt::aot::cpu
