// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace llvm {
class Module;
}

namespace smelt::aot::cpu {

/// Functions that stay functions take and return bfloats as 16-bit integers: x86 passes a bfloat in a float register
/// and converts it back by a library call, which a flat slice cannot have. After lower_air_operations.
void pass_bfloats_as_integers(llvm::Module& module);

}  // namespace smelt::aot::cpu
