// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/aot/instruction_count.hpp"

#include "ir_reader/parse.hpp"
#include "kernel_ir/kernel_module.hpp"
#include "llvm_support/guard.hpp"

#include "llvm/IR/Module.h"

namespace smelt::aot {

Result<uint64_t> instruction_count(ByteView bitcode, std::string_view name) {
  return contained(name, [&]() -> Result<uint64_t> {
    SMELT_TRY(const KernelModule parsed, input::parse_module(bitcode, name));
    return parsed.module->getInstructionCount();
  });
}

}  // namespace smelt::aot
