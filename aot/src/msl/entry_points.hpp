// One kernel of a translated source as kernel IR: Clang's function behind an entry with AIR's signature, everything
// inlined into it, optimised, and described by `!air.kernel`.
#pragma once

#include "smelt/aot/target.hpp"

#include "kernel_module.hpp"
#include "msl/frontend.hpp"

#include <span>

namespace smelt::aot::msl {

/// The kernels `kernels` (indices into module.kernels) as one module of kernel IR (kernel_module.hpp), with metadata
/// for `target`. Reads only what they need of the bitcode. Errors: compile_failed, naming the kernel. Threads: any
/// number at once on one MslModule.
Result<KernelModule> make_kernels(const MslModule& module, std::span<const size_t> kernels, const Target& target);

}  // namespace smelt::aot::msl
