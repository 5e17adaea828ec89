// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The last step of reading bitcode, kept from writing to stderr.
#pragma once

#include "llvm/Support/Error.h"

namespace llvm {
class Module;
}

namespace smelt::aot {

/// Reads what is left of a module whose functions were read and that LLVM's verifier has seen. When there is debug
/// info, LLVM verifies once more in this step, prints what it finds, and ends the process if that is more than debug
/// info. `debug_info_is_broken`: the verifier said so, and what there was is dropped here: what is still reached, from
/// other metadata, is not looked at again.
llvm::Error read_rest(llvm::Module& module, bool debug_info_is_broken);

}  // namespace smelt::aot
