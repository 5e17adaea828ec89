// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// No generic pointers: loads of device or constant data through space 0 miscompile on Apple's side (docs/formats/air.md
// 2), so every pointer must be seen to belong to one space. LLVM's own optimiser does it, and cleans up what the front
// end left. Where the front end has run it already, a second time would cost an eighth of a compile.
// What remains in space 0 after that is a pointer to the thread's own memory, or an error.
#include "kernel_ir/attributes.hpp"
#include "legalise/support.hpp"
#include "llvm_support/analyses.hpp"
#include "llvm_support/metal_operations.hpp"

#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm/IR/ValueHandle.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/InferAddressSpaces.h"
#include "llvm/Transforms/Scalar/LowerConstantIntrinsics.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/ScalarizeMaskedMemIntrin.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

namespace smelt::aot::air {
namespace {

using FunctionPasses = llvm::FunctionPassManager;

void run_on_functions(llvm::Module& module, FunctionPasses passes) {
  llvm::PassBuilder builder;
  Analyses analyses(builder);
  llvm::ModulePassManager pipeline;
  pipeline.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(passes)));
  pipeline.addPass(llvm::GlobalDCEPass());
  pipeline.run(module, analyses.module);
}

/// LLVM leaves the pointer of a volatile access generic, for targets whose spaces differ in volatility; ours do not.
/// The flag is taken off while spaces are inferred, which neither moves nor removes an access.
class WithoutVolatile {
 public:
  explicit WithoutVolatile(llvm::Module& module) {
    for (llvm::Instruction* instruction : instructions_of(module))
      if (set(*instruction, false)) volatile_.emplace_back(instruction);
  }
  ~WithoutVolatile() {
    for (llvm::WeakTrackingVH& handle : volatile_)
      if (auto* instruction = llvm::dyn_cast_or_null<llvm::Instruction>(static_cast<llvm::Value*>(handle)))
        set(*instruction, true);
  }

 private:
  static bool set(llvm::Instruction& instruction, bool value) {
    const auto change = [&](auto* access) {
      const bool changes = access->isVolatile() != value;
      access->setVolatile(value);
      return changes;
    };
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) return change(load);
    if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) return change(store);
    if (auto* rmw = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) return change(rmw);
    if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) return change(exchange);
    return false;
  }
  std::vector<llvm::WeakTrackingVH> volatile_;
};

void infer(llvm::Module& module) {
  const WithoutVolatile guard(module);
  FunctionPasses passes;
  passes.addPass(llvm::InferAddressSpacesPass(kThread));
  run_on_functions(module, std::move(passes));
}

void lower_intrinsics(llvm::Module& module) {
  FunctionPasses passes;
  passes.addPass(llvm::LowerConstantIntrinsicsPass());
  passes.addPass(llvm::ScalarizeMaskedMemIntrinPass());
  run_on_functions(module, std::move(passes));
}

/// Pointers that went through thread memory show only when that memory is in registers, hence twice.
void optimise(llvm::Module& module) {
  FunctionPasses first;
  first.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  first.addPass(llvm::EarlyCSEPass(true));
  run_on_functions(module, std::move(first));
  infer(module);
  FunctionPasses second;
  second.addPass(llvm::InstCombinePass());
  second.addPass(llvm::SimplifyCFGPass());
  second.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  run_on_functions(module, std::move(second));
  infer(module);
  FunctionPasses third;
  third.addPass(llvm::EarlyCSEPass(true));
  third.addPass(llvm::InstCombinePass());
  third.addPass(llvm::SimplifyCFGPass());
  third.addPass(llvm::ADCEPass());
  run_on_functions(module, std::move(third));
}

/// A cast into or out of the generic space that is left over.
const llvm::Value* leftover_cast(const llvm::Value* value) {
  if (llvm::isa<llvm::AddrSpaceCastOperator>(value)) return value;
  const auto* expression = llvm::dyn_cast<llvm::ConstantExpr>(value);
  if (!expression) return nullptr;
  for (const llvm::Use& operand : expression->operands())
    if (const llvm::Value* found = leftover_cast(operand.get())) return found;
  return nullptr;
}

const llvm::Value* leftover_cast(const llvm::Instruction& instruction) {
  const llvm::Value* cast = leftover_cast(&instruction);
  for (const llvm::Use& operand : instruction.operands())
    if (!cast) cast = leftover_cast(operand.get());
  return cast;
}

bool has_casts(llvm::Module& module) {
  for (const llvm::Instruction* instruction : instructions_of(module))
    if (leftover_cast(*instruction)) return true;
  return false;
}

}  // namespace

Result<void> infer_address_spaces(PassContext& context) {
  lower_intrinsics(context.module);
  const bool simplified = context.entry->hasFnAttribute(kernel_ir::kSimplified);
  if (!simplified) {
    optimise(context.module);
  } else if (has_casts(context.module)) {  // of Metal source
    for (llvm::Function& function : context.module) define_operations(function);
    optimise(context.module);
    for (llvm::Function& function : context.module) plain_conversions(function);
  }
  for (const llvm::Instruction* instruction : instructions_of(context.module)) {
    const llvm::Value* cast = leftover_cast(*instruction);
    if (!cast) continue;
    return refuse(*instruction,
                  "a pointer to address space {} is used as a generic pointer and may be mixed with pointers to other "
                  "spaces here; AIR's loads and stores name one space",
                  llvm::cast<llvm::AddrSpaceCastOperator>(cast)->getSrcAddressSpace());
  }
  return {};
}

}  // namespace smelt::aot::air
