// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The seam of aot: what every front end (IR dialects, Metal source) produces and air/ consumes.
//
// A KernelModule is an LLVM 19 module (opaque pointers) in *kernel IR*:
//   * AIR's data layout and address spaces (1 device, 2 constant, 3 threadgroup, 0 thread);
//   * entry points are either named by complete `!air.kernel` metadata, which is kept as it is, or carry the function
//     attribute "smelt.kernel" and no such metadata: then air/ makes it from the signature and from the attributes of
//     the function and its parameters (attributes.hpp);
//   * hardware values are read by calls of `smelt.builtin.<attribute>[.<x|y|z>]` (builtins.hpp), which air/ turns into
//     trailing arguments with their metadata, or are parameters with the attribute "smelt.builtin" already;
//   * function constants are variables in space 2 with a row of `!air.function_constants` each, as in AIR;
//   * everything else is plain LLVM IR, generic llvm.* intrinsics and air.* calls of the exact signatures of
//   docs/formats/air.md.
//
// A module with !air.version is finished AIR: some compiler made it for Metal, and air/ changes only what another
// target demands. Front ends of kernel IR therefore leave !air.version out, also when they keep an `!air.kernel` that
// was there.
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
