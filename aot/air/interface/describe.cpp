// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/aot/kernel_info.hpp"
#include "smelt/aot/stage_info.hpp"

#include "interface/reflect.hpp"
#include "ir_reader/parse.hpp"
#include "kernel_ir/kernel_module.hpp"
#include "llvm_support/guard.hpp"

namespace smelt::aot {

Result<std::vector<KernelInfo>> describe(ByteView bitcode, std::string_view name) {
  return contained(name, [&]() -> Result<std::vector<KernelInfo>> {
    SMELT_TRY(const KernelModule parsed, input::parse_module(bitcode, name));
    return air::reflect(*parsed.module);
  });
}

Result<std::vector<StageInfo>> describe_stages(ByteView bitcode, std::string_view name) {
  return contained(name, [&]() -> Result<std::vector<StageInfo>> {
    SMELT_TRY(const KernelModule parsed, input::parse_module(bitcode, name));
    return air::stages_of(*parsed.module);
  });
}

}  // namespace smelt::aot
