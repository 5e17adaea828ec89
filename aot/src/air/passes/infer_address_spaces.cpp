// No generic pointers: loads of device or constant data through space 0 miscompile on Apple's side (docs/air.md 2), so
// every pointer must be seen to belong to one space. LLVM's own optimiser does it, and cleans up what the front end
// left. What remains in space 0 after that is a pointer to the thread's own memory, or an error.
#include "air/passes/support.hpp"

#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/AggressiveInstCombine/AggressiveInstCombine.h"
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

void run(llvm::Module& module) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);

  llvm::FunctionPassManager passes;
  passes.addPass(llvm::LowerConstantIntrinsicsPass());
  passes.addPass(llvm::ScalarizeMaskedMemIntrinPass());
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(true));
  passes.addPass(llvm::InferAddressSpacesPass(kThread));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::InferAddressSpacesPass(kThread));
  passes.addPass(llvm::EarlyCSEPass(true));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::ADCEPass());

  llvm::ModulePassManager pipeline;
  pipeline.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(passes)));
  pipeline.addPass(llvm::GlobalDCEPass());
  pipeline.run(module, modules);
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

}  // namespace

Result<void> infer_address_spaces(PassContext& context) {
  run(context.module);
  for (const llvm::Instruction* instruction : instructions_of(context.module)) {
    const llvm::Value* cast = leftover_cast(instruction);
    for (const llvm::Use& operand : instruction->operands())
      if (!cast) cast = leftover_cast(operand.get());
    if (!cast) continue;
    return refuse(*instruction,
                  "a pointer of address space {} is used as a generic one and may meet pointers of other spaces here; "
                  "AIR's loads and stores name one space",
                  llvm::cast<llvm::AddrSpaceCastOperator>(cast)->getSrcAddressSpace());
  }
  return {};
}

}  // namespace smelt::aot::air
