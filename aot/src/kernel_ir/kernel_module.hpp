// The seam between the four rooms of aot: what every front end (IR dialects, MSL) produces and air/ consumes.
//
// A KernelModule is an LLVM 19 module (opaque pointers) in *kernel IR*:
//   * AIR's data layout and address spaces (1 device, 2 constant, 3 threadgroup, 0 thread);
//   * entry points are either named by complete `!air.kernel` metadata, which is kept as it is, or carry the function
//     attribute "smelt.kernel" and no such metadata: then air/ makes it from the signature and the attributes below;
//   * hardware values are read by calling the pseudo-intrinsics
//         i32 @smelt.builtin.<metal attribute>.<x|y|z>()   for positions and sizes (uint3)
//         i32 @smelt.builtin.<metal attribute>()           for scalars (thread_index_in_simdgroup, ...)
//     which air/ turns into trailing arguments with their metadata;
//   * everything else is plain LLVM IR, generic llvm.* intrinsics and air.* calls of the exact signatures of
//   docs/air.md.
//
// A module with !air.version is finished AIR: some compiler made it for Metal, and air/ changes only what another
// target demands. Front ends of kernel IR therefore leave !air.version out, also when they write !air.kernel
// themselves.
//
// Function attributes: "smelt.kernel"; "smelt.max_threads_per_threadgroup"="N"; "smelt.threadgroup_memory"="BYTES" (of
// the
//   unsized threadgroup array).
// Parameter attributes: "smelt.arg_name"="x"; "smelt.arg_type_name"="float"; "smelt.access"="read|read_write";
//   "smelt.builtin"="thread_position_in_grid" when the parameter *is* a builtin already;
//   "smelt.location_index"="N" when the buffer slot is not just the next one;
//   "smelt.arg_type_size"="N", "smelt.arg_type_align"="N" of the pointee (default 1, as char).
#pragma once

#include "smelt/base/result.hpp"

#include <memory>
#include <string>
#include <vector>

namespace llvm {
class LLVMContext;
class Module;
}  // namespace llvm

namespace smelt::aot {

/// Owns its context, so that modules can be worked on from several threads at once. Move-only.
struct KernelModule {
  KernelModule();
  KernelModule(KernelModule&&) noexcept;
  KernelModule& operator=(KernelModule&&) noexcept;
  ~KernelModule();

  std::unique_ptr<llvm::LLVMContext> context;  // declared before the module: must outlive it
  std::unique_ptr<llvm::Module> module;
};

}  // namespace smelt::aot
