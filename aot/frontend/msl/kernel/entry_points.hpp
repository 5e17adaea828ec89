// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One kernel of a translated source as kernel IR: Clang's function behind an entry with AIR's signature, everything
// inlined into it, optimised, and described by attributes.
#pragma once

#include "kernel_ir/kernel_module.hpp"
#include "msl/frontend.hpp"

namespace smelt::aot::msl {

/// As one module of kernel IR (kernel_module.hpp), the same for every target. Errors: compile_failed, naming the
/// kernel. Threads: any number at once.
Result<KernelModule> make_kernel(const MslKernel& kernel);

}  // namespace smelt::aot::msl
