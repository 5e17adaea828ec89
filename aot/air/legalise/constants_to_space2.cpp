// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constant tables live in address space 2 as internal unnamed_addr constants (docs/formats/air.md 1.9); one left in
// space 0 fails at pipeline creation. A variable that is written has no home in AIR: program-scope memory is constant
// or threadgroup.
#include "legalise/support.hpp"

#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/Module.h"

namespace smelt::aot::air {
namespace {

bool holds_addresses(const llvm::Constant& constant) {
  if (constant.getType()->isPointerTy()) return !constant.isNullValue() && !llvm::isa<llvm::UndefValue>(constant);
  for (const llvm::Use& operand : constant.operands())
    if (holds_addresses(*llvm::cast<llvm::Constant>(operand.get()))) return true;
  return false;
}

/// Reads through casts and address arithmetic only.
bool is_only_read(const llvm::Value& pointer) {
  for (const llvm::User* user : pointer.users()) {
    if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(user)) {
      if (store->getPointerOperand() == &pointer) return false;
      continue;
    }
    if (llvm::isa<llvm::AtomicRMWInst>(user) || llvm::isa<llvm::AtomicCmpXchgInst>(user)) return false;
    const auto* operation = llvm::dyn_cast<llvm::Operator>(user);
    const bool is_address =
        operation && (llvm::isa<llvm::GEPOperator>(operation) || llvm::isa<llvm::AddrSpaceCastOperator>(operation) ||
                      llvm::isa<llvm::BitCastOperator>(operation));
    if (is_address && !is_only_read(*user)) return false;
  }
  return true;
}

}  // namespace

Result<void> constants_to_space2(PassContext& context) {
  llvm::Module& module = context.module;
  std::vector<llvm::GlobalVariable*> globals;
  for (llvm::GlobalVariable& global : module.globals())
    if (global.getAddressSpace() != kThreadgroup && !global.getName().starts_with("llvm.")) globals.push_back(&global);

  for (llvm::GlobalVariable* global : globals) {
    global->removeDeadConstantUsers();
    if (global->use_empty()) {
      global->eraseFromParent();
      continue;
    }
    const std::string name = llvm::demangle(global->getName());
    if (!global->hasInitializer())
      return fail(Errc::compile_failed, "global '{}' is declared but not defined, and there is nothing to link it with",
                  name);
    if (global->isExternallyInitialized()) continue;  // a function constant's own storage
    if (!global->isConstant() && !is_only_read(*global))
      return fail(Errc::compile_failed,
                  "global '{}' is written; AIR's globals are constant or threadgroup memory, so pass it as a buffer",
                  name);
    if (holds_addresses(*global->getInitializer()))
      return fail(Errc::compile_failed, "constant '{}' holds addresses, which are not known before the kernel runs",
                  name);
    global->setConstant(true);
    global->setLinkage(llvm::GlobalValue::InternalLinkage);
    global->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
    if (global->getAddressSpace() == kConstant) continue;
    auto* moved =
        new llvm::GlobalVariable(module, global->getValueType(), true, llvm::GlobalValue::InternalLinkage,
                                 global->getInitializer(), "", global, llvm::GlobalValue::NotThreadLocal, kConstant);
    moved->takeName(global);
    moved->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
    moved->setAlignment(global->getAlign());
    global->replaceAllUsesWith(llvm::ConstantExpr::getAddrSpaceCast(moved, global->getType()));
    global->eraseFromParent();
  }
  return {};
}

}  // namespace smelt::aot::air
