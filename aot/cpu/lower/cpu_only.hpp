// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operations of kernels for the CPU alone (kernel_ir/cpu_only.hpp) as plain IR.
#pragma once

#include "smelt/base/result.hpp"

namespace llvm {
class Function;
}

namespace smelt::aot::cpu {

/// Part of lower_air_operations: every call of smelt.cpu.*. The functions' types were checked by the allow-list.
Result<void> lower_cpu_only(llvm::Function& function);

}  // namespace smelt::aot::cpu
