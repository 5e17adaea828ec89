// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Function constants. A constant is a read-only variable in space 2 that the API fills in when the pipeline is made
// (docs/formats/air.md 1.7). A derived one,
//
//   constant bool use_mask = is_function_constant_defined(has_mask) ? has_mask : false;
//
// is a variable that Clang fills in from a static constructor. AIR runs none but its own, so the constructors' work is
// done at the head of each entry that reads what they write, in a variable of the thread; the optimiser folds it.
#include "msl/kernel/describe_entry.hpp"
#include "msl/kernel/optimise.hpp"

#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <fmt/format.h>

namespace smelt::aot::msl {
namespace {

/// "s" for short: the letter that ends the name of a constant's storage. bool, int, short and float are as seen; the
/// rest follow C++'s mangling, as those do where it was seen. Vectors: inferred.
std::string type_letter(std::string_view type_name) {
  constexpr std::pair<std::string_view, std::string_view> kLetters[] = {
      {"bool", "b"}, {"char", "c"}, {"uchar", "h"}, {"short", "s"}, {"ushort", "t"}, {"int", "i"},
      {"uint", "j"}, {"long", "l"}, {"ulong", "m"}, {"half", "Dh"}, {"float", "f"},
  };
  for (const auto& [name, letter] : kLetters)
    if (type_name == name) return std::string(letter);
  for (const auto& [name, letter] : kLetters)
    if (type_name.starts_with(name) && type_name.size() == name.size() + 1)
      return fmt::format("Dv{}_{}", type_name.substr(name.size()), letter);
  return "v";
}

void give_storage(llvm::Module& module, const std::vector<ConstantFact>& constants) {
  for (const ConstantFact& constant : constants) {
    llvm::GlobalVariable* global = module.getGlobalVariable(constant.symbol, true);
    if (global == nullptr) continue;
    global->setLinkage(llvm::GlobalValue::InternalLinkage);
    global->setInitializer(llvm::UndefValue::get(global->getValueType()));
    global->setExternallyInitialized(true);
    global->setConstant(true);
    global->setSection("air.fc_initializer");
    global->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
    global->setDSOLocal(true);
    global->setName(constant_storage_name(constant));
  }
}

/// The functions in llvm.global_ctors, in order, and the list gone.
std::vector<llvm::Function*> take_constructors(llvm::Module& module) {
  std::vector<llvm::Function*> functions;
  llvm::GlobalVariable* list = module.getGlobalVariable("llvm.global_ctors");
  if (list == nullptr) return functions;
  if (list->hasInitializer())
    if (const auto* array = llvm::dyn_cast<llvm::ConstantArray>(list->getInitializer()))
      for (const llvm::Use& element : array->operands())
        if (auto* function =
                llvm::dyn_cast<llvm::Function>(llvm::cast<llvm::Constant>(element)->getOperand(1)->stripPointerCasts()))
          functions.push_back(function);
  list->eraseFromParent();
  return functions;
}

/// `from`, which points into the constants' space, becomes `to`, which points to the thread's memory.
Result<void> rebase(llvm::Value* from, llvm::Value* to) {
  for (llvm::Use& use : llvm::make_early_inc_range(from->uses())) {
    auto* user = llvm::cast<llvm::Instruction>(use.getUser());
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(user)) {
      load->setOperand(0, to);
    } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(user); store != nullptr && use.getOperandNo() == 1) {
      store->setOperand(1, to);
    } else if (auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(user)) {
      llvm::IRBuilder<> builder(address);
      const llvm::SmallVector<llvm::Value*, 4> indices(address->indices());
      llvm::Value* moved = builder.CreateGEP(address->getSourceElementType(), to, indices);
      SMELT_TRY_VOID(rebase(address, moved));
      address->eraseFromParent();
    } else if (llvm::isa<llvm::AddrSpaceCastInst>(user) && user->getType() == to->getType()) {
      user->replaceAllUsesWith(to);
      user->eraseFromParent();
    } else if (const auto* marker = llvm::dyn_cast<llvm::IntrinsicInst>(user);
               marker != nullptr && marker->getIntrinsicID() == llvm::Intrinsic::invariant_start) {
      // Clang's note that the constant does not change from here on.
      user->replaceAllUsesWith(llvm::PoisonValue::get(user->getType()));
      user->eraseFromParent();
    } else if (auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(user)) {
      llvm::IRBuilder<> builder(copy);
      const bool is_source = copy->getRawSource() == from;
      builder.CreateMemCpy(is_source ? copy->getRawDest() : to, copy->getDestAlign(),
                           is_source ? to : copy->getRawSource(), copy->getSourceAlign(), copy->getLength());
      copy->eraseFromParent();
    } else {
      return fail(Errc::compile_failed, "the address of a constant that is computed from function constants is taken");
    }
  }
  return {};
}

}  // namespace

std::string constant_storage_name(const ConstantFact& constant) {
  return fmt::format("_Z{}{}.MTL_FC_INIT_{}_{}", constant.name.size(), constant.name, constant.index,
                     type_letter(constant.type_name));
}

Result<void> bind_constants(llvm::Module& module, const std::vector<ConstantFact>& constants, llvm::Function& entry) {
  give_storage(module, constants);
  const std::vector<llvm::Function*> constructors = take_constructors(module);
  if (constructors.empty()) return {};
  // The constructors run first thing; those whose result the entry does not read fold away.
  llvm::IRBuilder<> builder(&*entry.getEntryBlock().getFirstInsertionPt());
  std::vector<llvm::CallInst*> calls;
  for (llvm::Function* constructor : constructors) calls.push_back(builder.CreateCall(constructor));
  for (llvm::CallInst* call : calls) {
    llvm::InlineFunctionInfo info;
    if (!llvm::InlineFunction(*call, info).isSuccess())
      return fail(Errc::compile_failed, "kernel '{}': a program-scope constant cannot be computed",
                  std::string(entry.getName()));
  }
  for (llvm::GlobalVariable& global : llvm::make_early_inc_range(module.globals())) {
    if (global.isConstant() || global.isDeclaration() || global.isExternallyInitialized() ||
        global.getAddressSpace() == 3 || global.getName().starts_with("llvm."))
      continue;
    llvm::convertUsersOfConstantsToInstructions({&global}, &entry);
    llvm::SmallVector<llvm::Use*, 8> uses;
    for (llvm::Use& use : global.uses())
      if (auto* user = llvm::dyn_cast<llvm::Instruction>(use.getUser());
          user != nullptr && user->getFunction() == &entry)
        uses.push_back(&use);
    if (uses.empty()) continue;
    llvm::IRBuilder<> head(&*entry.getEntryBlock().getFirstInsertionPt());
    llvm::AllocaInst* own = head.CreateAlloca(global.getValueType());
    own->setAlignment(global.getAlign().valueOrOne());
    head.CreateStore(global.getInitializer(), own);
    // rebase() follows the uses of one instruction; an alloca has another type of pointer than the global.
    auto* seen =
        llvm::cast<llvm::Instruction>(head.Insert(new llvm::FreezeInst(llvm::PoisonValue::get(global.getType()))));
    for (llvm::Use* use : uses) use->set(seen);
    SMELT_TRY_VOID(rebase(seen, own));
    seen->eraseFromParent();
  }
  for (llvm::Function* constructor : constructors)
    if (constructor->use_empty()) constructor->eraseFromParent();
  return {};
}

}  // namespace smelt::aot::msl
