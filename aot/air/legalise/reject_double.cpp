// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// No Apple GPU computes in double precision, and none has floats wider than 32 bits. Runs behind the optimiser, so that
// `(float)((double)x * 2.0)` has had its chance to become a float operation.
#include "legalise/support.hpp"
#include "legalise/type_names.hpp"

#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/Module.h"

namespace smelt::aot::air {
namespace {

std::string_view way_out(const PassContext& context, const llvm::Type& type) {
  return type.isDoubleTy() && !context.options.cpu_only
             ? " (--cpu-only, in Python cpu_only=True, compiles it for the CPU alone)"
             : "";
}

}  // namespace

Result<void> reject_double(PassContext& context) {
  for (const llvm::Instruction* instruction : instructions_of(context.module)) {
    const llvm::Type* found = wide_float_in(instruction->getType());
    for (const llvm::Use& operand : instruction->operands())
      if (!found) found = wide_float_in(operand->getType());
    if (const auto* alloca = llvm::dyn_cast<llvm::AllocaInst>(instruction); alloca && !found)
      found = wide_float_in(alloca->getAllocatedType());
    if (found)
      return refuse(*instruction, "uses {}; no Apple GPU computes in it, use float{}", text_of(*found),
                    way_out(context, *found));
  }
  for (const llvm::GlobalVariable& global : context.module.globals())
    if (const llvm::Type* found = wide_float_in(global.getValueType()))
      return fail(Errc::compile_failed, "global '{}' holds {}; no Apple GPU computes in it, use float{}",
                  global.getName(), text_of(*found), way_out(context, *found));
  return {};
}

}  // namespace smelt::aot::air
