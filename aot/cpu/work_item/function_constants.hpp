// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Function constants at run time. Metal sets them before it compiles; here the kernel is compiled already, so their
// values are read from smelt_cpu_dispatch::constants, where a byte for each says whether it was given.
#pragma once

#include "smelt/schema/cpu_slice.hpp"

#include "abi/kernel_entry.hpp"

namespace llvm {
class DataLayout;
class Value;
}  // namespace llvm

namespace smelt::aot::cpu {

struct ConstantsLayout {
  uint32_t bytes = 0;
  std::vector<schema::CpuConstant> constants;  ///< one for each of KernelEntry::constants, same order
};

/// Values in order of their index at natural alignment, then one byte each for "defined".
ConstantsLayout lay_out_constants(const KernelEntry& info, const llvm::DataLayout& layout);

/// In `function` (everything is inlined): makes every MTL_FC_INIT global an address in the dispatch block's constants,
/// answers air.is_function_constant_defined from there, and gives every mutable constant-space global, which the
/// inlined initialisers fill, to the thread itself.
Result<void> bind_function_constants(llvm::Function& function, llvm::Value* dispatch, const KernelEntry& info,
                                     const ConstantsLayout& layout);

}  // namespace smelt::aot::cpu
