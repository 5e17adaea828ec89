// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a mesh function writes, in AIR's operations: mesh.set_vertex(i, v) is one for each member of v.
#pragma once

#include "smelt/base/result.hpp"

#include "msl/facts/kernel_facts.hpp"

namespace llvm {
class Module;
}

namespace smelt::aot::msl {

/// Replaces the calls of smelt.air.mesh_vertex and mesh_primitive (<metal_mesh>), where everything is inlined. Errors:
/// compile_failed in a function without a mesh.
Result<void> write_mesh_outputs(llvm::Module& module, const KernelFact& kernel);

}  // namespace smelt::aot::msl
