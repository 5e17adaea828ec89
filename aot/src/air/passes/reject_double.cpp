// No Apple GPU computes in double precision, and none has floats wider than 32 bits. Runs behind the optimiser, so that
// `(float)((double)x * 2.0)` has had its chance to become a float operation.
#include "air/passes/support.hpp"

#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/Module.h"

namespace smelt::aot::air {
namespace {

const llvm::Type* wide_float_in(const llvm::Type* type) {
  if (type->isDoubleTy() || type->isX86_FP80Ty() || type->isFP128Ty() || type->isPPC_FP128Ty()) return type;
  if (type->isPointerTy() || type->isFunctionTy()) return nullptr;
  for (const llvm::Type* part : type->subtypes())
    if (const llvm::Type* found = wide_float_in(part)) return found;
  return nullptr;
}

}  // namespace

Result<void> reject_double(PassContext& context) {
  for (const llvm::Instruction* instruction : instructions_of(context.module)) {
    const llvm::Type* found = wide_float_in(instruction->getType());
    for (const llvm::Use& operand : instruction->operands())
      if (!found) found = wide_float_in(operand->getType());
    if (const auto* alloca = llvm::dyn_cast<llvm::AllocaInst>(instruction); alloca && !found)
      found = wide_float_in(alloca->getAllocatedType());
    if (found) return refuse(*instruction, "uses {}; no Apple GPU computes in it, use float", text_of(*found));
  }
  for (const llvm::GlobalVariable& global : context.module.globals())
    if (const llvm::Type* found = wide_float_in(global.getValueType()))
      return fail(Errc::compile_failed, "global '{}' holds {}; no Apple GPU computes in it, use float",
                  to_view(global.getName()), text_of(*found));
  return {};
}

}  // namespace smelt::aot::air
