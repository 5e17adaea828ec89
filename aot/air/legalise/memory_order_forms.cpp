// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// AIR 2.9 gave atomics an operand of memory flags and barriers one of memory order (docs/formats/air.md 3.6, 3.7).
// Whatever form a module was written in, it gets the form of its target:
//
//   <= 2.8   atomic(..., order, scope, volatile)          barrier(flags, scope)
//   >= 2.9   atomic(..., order, scope, flags, volatile)   barrier(flags, order, scope)
//
// An atomic of the older form is relaxed, so its flags are 0. A barrier of the older form orders all that its flags
// name: seq_cst, as Apple's compiler writes it. The way back needs relaxed atomics without flags; a barrier without its
// order is as strong as any. Also runs on finished AIR that crosses the border.
#include "legalise/memory_order.hpp"
#include "legalise/support.hpp"

#include "llvm/IR/Module.h"

namespace smelt::aot::air {
namespace {

bool is_barrier(llvm::StringRef name) {
  return name == "air.wg.barrier" || name == "air.simdgroup.barrier";
}

bool is_air_atomic(llvm::StringRef name) {
  return name.starts_with("air.atomic.global.") || name.starts_with("air.atomic.local.");
}

using CallOperands = llvm::SmallVector<llvm::Value*, 8>;

/// The place of the operand that AIR 2.9 added, in the newer form of `size` operands.
unsigned added_operand(llvm::StringRef name, size_t size) {
  return is_barrier(name) ? 1 : static_cast<unsigned>(size) - 2;
}

int barrier_scope(llvm::StringRef name, Version air) {
  return name == "air.wg.barrier" ? static_cast<int>(MemoryScope::threadgroup) : simdgroup_barrier_scope(air);
}

CallOperands with_order(llvm::IRBuilder<>& builder, llvm::StringRef name, CallOperands operands) {
  if (is_barrier(name))
    operands.back() = builder.getInt32(static_cast<uint32_t>(barrier_scope(name, kFirstMemoryFlags)));
  llvm::Value* const added = builder.getInt32(is_barrier(name) ? kSeqCst : 0);
  operands.insert(operands.begin() + added_operand(name, operands.size() + 1), added);
  return operands;
}

bool is_zero(const llvm::Value* value) {
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(value);
  return constant != nullptr && constant->isZero();
}

Result<CallOperands> without_order(llvm::IRBuilder<>& builder, const llvm::CallBase& call, llvm::StringRef name,
                                   CallOperands operands) {
  const unsigned added = added_operand(name, operands.size());
  if (is_air_atomic(name)) {
    const size_t orders = name.contains(".cmpxchg.") ? 2 : 1;
    bool relaxed = is_zero(operands[added]);
    for (size_t i = 0; i < orders; ++i) relaxed = relaxed && is_zero(operands[added - 2 - i]);
    if (!relaxed) return refuse(call, "ordered atomics need Metal 4.1 (targets macos27, ios27 and tvos27)");
    operands.back() = builder.getTrue();  // before Metal 4.1 every atomic is volatile
  } else {
    const auto* scope = llvm::dyn_cast<llvm::ConstantInt>(operands.back());
    if (scope == nullptr || scope->getSExtValue() != barrier_scope(name, kFirstMemoryFlags))
      return refuse(call, "barriers with a scope of their own need Metal 4.1 (targets macos27, ios27 and tvos27)");
  }
  operands.erase(operands.begin() + added);
  return operands;
}

}  // namespace

Result<void> memory_order_forms(PassContext& context) {
  const bool is_new = context.target.air >= kFirstMemoryFlags;
  std::vector<llvm::Function*> functions;
  for (llvm::Function& function : context.module) {
    const llvm::StringRef name = function.getName();
    if (!function.isDeclaration() || !(is_barrier(name) || is_air_atomic(name))) continue;
    const auto wanted = lookup(name, context.target.air);
    // version_gate reports what no version has.
    if (!wanted || agrees(*wanted, function.getFunctionType())) continue;
    if (function.arg_size() + (is_new ? 1 : 0) != wanted->parameters.size() + (is_new ? 0 : 1)) continue;
    functions.push_back(&function);
  }
  for (llvm::Function* function : functions) {
    const std::string name = function->getName().str();
    function->setName("smelt.replaced");
    SMELT_TRY(llvm::Function* const declared, declare(context.module, name, context.target.air));
    for (llvm::User* user : llvm::make_early_inc_range(function->users())) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(user);
      if (!call || call->getCalledFunction() != function)
        return fail(Errc::compile_failed, "{}: its address is taken, which AIR does not allow", name);
      llvm::IRBuilder<> builder(call);
      CallOperands operands(call->args());
      if (is_new) {
        operands = with_order(builder, name, std::move(operands));
      } else {
        SMELT_TRY(operands, without_order(builder, *call, name, std::move(operands)));
      }
      replace_call(*call, *declared, operands);
    }
    function->eraseFromParent();
  }
  return {};
}

}  // namespace smelt::aot::air
