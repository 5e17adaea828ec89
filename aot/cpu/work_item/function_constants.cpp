// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "work_item/function_constants.hpp"

#include "abi/dispatch_block.hpp"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Support/Alignment.h"

namespace smelt::aot::cpu {
namespace {

/// Moves every use of `from` to `to`, which points into another address space. Address arithmetic is made again; what
/// cannot be followed sees a cast.
void rebase_pointer(llvm::Value* from, llvm::Value* to) {
  llvm::SmallVector<llvm::Use*> uses;
  for (llvm::Use& use : from->uses()) uses.push_back(&use);
  for (llvm::Use* use : uses) {
    auto* user = llvm::cast<llvm::Instruction>(use->getUser());
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(user)) {
      load->setOperand(0, to);
    } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(user); store != nullptr && use->getOperandNo() == 1) {
      store->setOperand(1, to);
    } else if (auto* gep = llvm::dyn_cast<llvm::GetElementPtrInst>(user); gep != nullptr && use->getOperandNo() == 0) {
      llvm::IRBuilder<> builder(gep);
      const llvm::SmallVector<llvm::Value*> indices(gep->indices());
      llvm::Value* moved = builder.CreateGEP(gep->getSourceElementType(), to, indices, gep->getName());
      rebase_pointer(gep, moved);
      gep->eraseFromParent();
    } else {
      llvm::IRBuilder<> builder(user);
      if (auto* phi = llvm::dyn_cast<llvm::PHINode>(user))
        builder.SetInsertPoint(phi->getIncomingBlock(*use)->getTerminator());
      use->set(builder.CreateAddrSpaceCast(to, from->getType()));
    }
  }
}

void replace_defined_queries(llvm::Function& function, llvm::Value* dispatch, const KernelEntry& info,
                             const ConstantsLayout& layout) {
  llvm::SmallVector<llvm::CallInst*> queries;
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction))
      if (const llvm::Function* callee = call->getCalledFunction();
          callee != nullptr && callee->getName().starts_with("air.is_function_constant_defined"))
        queries.push_back(call);
  for (llvm::CallInst* query : queries) {
    llvm::IRBuilder<> builder(query);
    llvm::Value* answer = builder.getFalse();
    const llvm::Value* asked = query->getArgOperand(0)->stripPointerCasts();
    for (size_t i = 0; i < info.constants.size(); ++i) {
      if (info.constants[i].initialiser != asked) continue;
      llvm::Value* constants = SMELT_DISPATCH_FIELD(builder, builder.getPtrTy(), dispatch, constants);
      llvm::Value* flag = load_constant(builder, builder.getInt8Ty(), constants, layout.constants[i].defined_offset);
      answer = builder.CreateIsNotNull(flag);
    }
    if (!query->getType()->isIntegerTy(1)) answer = builder.CreateZExtOrTrunc(answer, query->getType());
    query->replaceAllUsesWith(answer);
    query->eraseFromParent();
  }
}

}  // namespace

ConstantsLayout lay_out_constants(const KernelEntry& info, const llvm::DataLayout& layout) {
  ConstantsLayout result;
  uint64_t at = 0;
  for (const FunctionConstant& constant : info.constants) {
    llvm::Type* type = constant.initialiser->getValueType();
    const uint64_t bytes = layout.getTypeStoreSize(type);
    at = llvm::alignTo(at, layout.getABITypeAlign(type));
    result.constants.push_back({constant.index, static_cast<uint32_t>(at), static_cast<uint32_t>(bytes), 0});
    at += layout.getTypeAllocSize(type);
  }
  for (schema::CpuConstant& constant : result.constants) constant.defined_offset = static_cast<uint32_t>(at++);
  result.bytes = static_cast<uint32_t>(llvm::alignTo(at, 16));
  return result;
}

Result<void> bind_function_constants(llvm::Function& function, llvm::Value* dispatch, const KernelEntry& info,
                                     const ConstantsLayout& layout) {
  llvm::Module& module = *function.getParent();
  llvm::SmallVector<llvm::Constant*> globals;
  llvm::SmallVector<llvm::GlobalVariable*> thread_owned;
  for (const FunctionConstant& constant : info.constants) globals.push_back(constant.initialiser);
  for (llvm::GlobalVariable& global : module.globals())
    if (global.getAddressSpace() == 2 && !global.isConstant()) {
      thread_owned.push_back(&global);
      globals.push_back(&global);
    }
  if (globals.empty()) return {};
  llvm::convertUsersOfConstantsToInstructions(globals, &function);
  replace_defined_queries(function, dispatch, info, layout);

  llvm::IRBuilder<> builder(&*function.getEntryBlock().getFirstInsertionPt());
  llvm::Value* constants = nullptr;
  const auto uses_in_function = [&](llvm::GlobalVariable* global) {
    llvm::SmallVector<llvm::Use*> uses;
    for (llvm::Use& use : global->uses())
      if (const auto* user = llvm::dyn_cast<llvm::Instruction>(use.getUser()))
        if (user->getFunction() == &function) uses.push_back(&use);
    return uses;
  };
  for (size_t i = 0; i < info.constants.size(); ++i) {
    llvm::GlobalVariable* global = info.constants[i].initialiser;
    const auto uses = uses_in_function(global);
    if (uses.empty()) continue;
    if (constants == nullptr)
      constants = load_constant(builder, llvm::PointerType::get(function.getContext(), 2), dispatch,
                                offsetof(smelt_cpu_dispatch, constants), "constants");
    llvm::Value* address =
        builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), constants, layout.constants[i].offset);
    for (llvm::Use* use : uses) {
      if (auto* load = llvm::dyn_cast<llvm::LoadInst>(use->getUser()))
        load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(function.getContext(), {}));
      use->set(address);
    }
  }
  for (llvm::GlobalVariable* global : thread_owned) {
    const auto uses = uses_in_function(global);
    if (uses.empty()) continue;
    if (!global->hasInitializer())
      return fail(Errc::unsupported, "constant {} has no value in this module", global->getName().str());
    llvm::AllocaInst* own = builder.CreateAlloca(global->getValueType(), nullptr, global->getName());
    builder.CreateStore(global->getInitializer(), own);
    // A placeholder of the global's own pointer type lets all uses move at once.
    llvm::Value* seen = builder.CreateAddrSpaceCast(own, global->getType());
    for (llvm::Use* use : uses) use->set(seen);
    rebase_pointer(seen, own);
    if (auto* cast = llvm::dyn_cast<llvm::Instruction>(seen); cast != nullptr && cast->use_empty())
      cast->eraseFromParent();
  }
  return {};
}

}  // namespace smelt::aot::cpu
