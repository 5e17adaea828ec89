// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "work_item/lane_functions.hpp"

#include "llvm_support/analyses.hpp"
#include "lower/collectives.hpp"
#include "work_item/recursion.hpp"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

namespace smelt::aot::cpu {
namespace {

constexpr llvm::StringRef kLaneFunction = "smelt.lane-function";

/// Instructions from which on a call, which passes values through memory, is shorter than the body.
constexpr unsigned kLeastInstructions = 100;
constexpr unsigned kLeastCalls = 2;

std::optional<Collective> collective_of(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  const llvm::Function* callee = call != nullptr ? call->getCalledFunction() : nullptr;
  return callee != nullptr ? parse_collective(callee->getName()) : std::nullopt;
}

bool moves_lanes(const llvm::Instruction& instruction) {
  const auto collective = collective_of(instruction);
  return collective && is_lane_move(collective->kind);
}

bool is_number(const llvm::Type* type) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  if (vector != nullptr && vector->getNumElements() > 4) return false;
  const llvm::Type* element = type->getScalarType();
  return element->isFloatTy() || element->isHalfTy() || element->isBFloatTy() || element->isIntegerTy(8) ||
         element->isIntegerTy(16) || element->isIntegerTy(32) || element->isIntegerTy(64);
}

/// Calls in other functions; nothing when the function is used in any other way.
std::optional<unsigned> calls_of(const llvm::Function& function) {
  unsigned calls = 0;
  for (const llvm::Use& use : function.uses()) {
    const auto* call = llvm::dyn_cast<llvm::CallInst>(use.getUser());
    if (call == nullptr || !call->isCallee(&use) || call->getFunction() == &function) return std::nullopt;
    ++calls;
  }
  return calls;
}

bool computes_and_moves(llvm::Function& function) {
  if (function.size() != 1 || function.getInstructionCount() < kLeastInstructions) return false;
  return llvm::all_of(llvm::instructions(function), [](const llvm::Instruction& instruction) {
    if (moves_lanes(instruction)) return true;
    if (llvm::isa<llvm::CallInst>(instruction) && !llvm::isa<llvm::IntrinsicInst>(instruction)) return false;
    return !instruction.mayReadOrWriteMemory() && !llvm::isa<llvm::AllocaInst>(instruction);
  });
}

bool could_stay(const llvm::Function& function) {
  if (function.isDeclaration() || !is_number(function.getReturnType())) return false;
  if (!llvm::all_of(function.args(), [](const llvm::Argument& one) { return is_number(one.getType()); })) return false;
  return calls_of(function).value_or(0) >= kLeastCalls && llvm::any_of(llvm::instructions(function), moves_lanes);
}

}  // namespace

void keep_lane_functions(llvm::Module& module, llvm::TargetMachine& target) {
  for (llvm::Function& function : module) {
    if (!could_stay(function) || !inline_calls(function)) continue;
    run_passes(function, "sroa,instcombine<no-verify-fixpoint>,early-cse,simplifycfg,adce", &target);
    if (!computes_and_moves(function)) continue;
    function.addFnAttr(kLaneFunction);
    // As of the operations in it: not merged, not duplicated, not moved across control flow.
    for (const auto attribute : {llvm::Attribute::NoInline, llvm::Attribute::Convergent, llvm::Attribute::NoMerge,
                                 llvm::Attribute::NoUnwind, llvm::Attribute::WillReturn})
      function.addFnAttr(attribute);
  }
}

bool is_lane_function(const llvm::Function& function) {
  return function.hasFnAttribute(kLaneFunction);
}

}  // namespace smelt::aot::cpu
