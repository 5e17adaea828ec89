// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A vertex or fragment function as a kernel of one thread for each vertex or fragment: inputs are loads from arrays,
// what it returns becomes stores (interface/stage_arrays.hpp). The rest of cpu/ sees a kernel.
//
// Of a fragment function four threads in a row are a quad: (0,0), (1,0), (0,1), (1,1). Derivatives are differences
// inside of it, and a sample without a level has the level that follows from them. A fragment that is discarded goes on
// for the sake of its quad, and writes nothing from there on.
#pragma once

#include "abi/kernel_entry.hpp"

namespace llvm {
class MDNode;
}

namespace smelt::aot::cpu {

/// `info.function` is a function of `stage`, "vertex" or "fragment", whose parameters `info.interface` describes, but
/// for those that are arrays. Afterwards it is the kernel. Errors: those of stage_arrays(), and unsupported.
Result<void> make_stage_kernel(llvm::Module& module, const llvm::MDNode& entry, std::string_view stage,
                               KernelEntry& info);

}  // namespace smelt::aot::cpu
