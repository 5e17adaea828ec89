// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels that compute with numbers of hundreds of bits, as cryptography does. A processor has one instruction for a
// product of 128 bits; vectors take dozens for it, so threads one by one are faster to run and to compile than lanes.
#pragma once

namespace llvm {
class Module;
}  // namespace llvm

namespace smelt::aot::cpu {

/// Whether 64-bit `mulhi` is a large part of the module's work and none of its operations needs other threads. The
/// module must be AIR that is not lowered yet.
bool has_wide_products(const llvm::Module& module);

}  // namespace smelt::aot::cpu
