// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The last look before writing: every operation is one that this AIR version has, with exactly its signature, and
// nothing stays that LLVM 14 could not read or this version's reader refuses (docs/formats/air.md 4.1, 4.3). Hints are
// dropped, meaning is spelt another way, and what has no other way is an error naming the targets that have it.
#include "interface/limits.hpp"
#include "interface/module_metadata.hpp"
#include "legalise/support.hpp"

#include "llvm/IR/AttributeMask.h"
#include "llvm/IR/Module.h"

#include <algorithm>

namespace smelt::aot::air {
namespace {

std::string targets_from(Version air) {
  std::string names;
  for (const Target& target : known_targets())
    if (target.air >= air) names += (names.empty() ? "" : ", ") + target.name;
  return names;
}

Result<void> check_operations(PassContext& context) {
  for (llvm::Function& function : context.module) {
    if (!function.isDeclaration() || !function.getName().starts_with("air.")) continue;
    const std::string name = function.getName().str();
    const auto signature = lookup(name, context.target.air);
    const bool matches = signature && agrees(*signature, function.getFunctionType());
    if (matches) continue;
    if (context.finished && made_by_apple(context.module) && forms(name).empty()) {
      context.warnings.push_back(
          fmt::format("{}: not in our table; passed through as Apple's compiler wrote it", name));
      continue;
    }
    const std::string problem =
        signature ? fmt::format("{}: declared with another signature than AIR {}.{}'s: {}", name,
                                context.target.air.major, context.target.air.minor, typed_text(*signature))
                  : signature.error().message;
    const Errc code = signature ? Errc::compile_failed : signature.error().code;
    for (const llvm::User* user : function.users())
      if (const auto* call = llvm::dyn_cast<llvm::Instruction>(user))
        return fail(code, "{} (target {}); at {}", problem, context.target.name, place_of(*call));
    if (!function.use_empty()) return fail(code, "{} (target {})", problem, context.target.name);
  }
  return {};
}

Result<void> check_bfloat(PassContext& context) {
  if (context.target.air >= kFirstBfloat) return {};
  const auto too_old = [&](const std::string& where) {
    return fail(Errc::unsupported, "bfloat needs AIR {}.{} (targets {}); {} has AIR {}.{}; {}", kFirstBfloat.major,
                kFirstBfloat.minor, targets_from(kFirstBfloat), context.target.name, context.target.air.major,
                context.target.air.minor, where);
  };
  for (const llvm::Instruction* instruction : instructions_of(context.module)) {
    bool found = mentions_bfloat(instruction->getType());
    for (const llvm::Use& operand : instruction->operands()) found = found || mentions_bfloat(operand->getType());
    if (found) return too_old("at " + place_of(*instruction));
  }
  for (const llvm::GlobalVariable& global : context.module.globals())
    if (mentions_bfloat(global.getValueType())) return too_old("global '" + global.getName().str() + "'");
  return {};
}

/// Flags that LLVM 14 has no bit for: dropping them is always sound.
void drop_new_flags(llvm::Instruction& instruction) {
  if (auto* disjoint = llvm::dyn_cast<llvm::PossiblyDisjointInst>(&instruction)) disjoint->setIsDisjoint(false);
  if (llvm::isa<llvm::PossiblyNonNegInst>(instruction)) instruction.setNonNeg(false);
  if (auto* truncation = llvm::dyn_cast<llvm::TruncInst>(&instruction)) {
    truncation->setHasNoUnsignedWrap(false);
    truncation->setHasNoSignedWrap(false);
  }
  if (auto* gep = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction))
    gep->setNoWrapFlags(gep->isInBounds() ? llvm::GEPNoWrapFlags::inBounds() : llvm::GEPNoWrapFlags::none());
}

/// Metadata kinds that Apple's own modules carry.
void drop_foreign_metadata(llvm::Instruction& instruction) {
  llvm::SmallVector<unsigned, 8> kept = {llvm::LLVMContext::MD_tbaa, llvm::LLVMContext::MD_tbaa_struct,
                                         llvm::LLVMContext::MD_alias_scope, llvm::LLVMContext::MD_noalias,
                                         llvm::LLVMContext::MD_loop};
  if (llvm::isa<llvm::LoadInst>(instruction)) kept.push_back(llvm::LLVMContext::MD_range);
  llvm::SmallVector<std::pair<unsigned, llvm::MDNode*>, 4> present;
  instruction.getAllMetadataOtherThanDebugLoc(present);
  for (const auto& [kind, node] : present)
    if (!llvm::is_contained(kept, kind)) instruction.setMetadata(kind, nullptr);
}

/// Before 2.6, fast-math flags stand on operations and calls alone; since then on phi and select too, but all of them
/// or none: some alone are what LLVM 19 works out and LLVM 14 did not.
void drop_join_flags(llvm::Instruction& instruction, Version air) {
  const bool joins = llvm::isa<llvm::PHINode>(instruction) || llvm::isa<llvm::SelectInst>(instruction);
  if (!joins || !llvm::isa<llvm::FPMathOperator>(instruction)) return;
  if (air < kFirstModern || !instruction.isFast()) instruction.copyFastMathFlags(llvm::FastMathFlags());
}

/// freeze of what cannot be poison is the operand; of a constant without value, zero. fneg is a subtraction.
bool spell_older(llvm::Instruction& instruction) {
  llvm::IRBuilder<> builder(&instruction);
  llvm::Value* made = nullptr;
  if (llvm::isa<llvm::FreezeInst>(instruction)) {
    llvm::Value* const operand = instruction.getOperand(0);
    made = llvm::isa<llvm::UndefValue>(operand) ? llvm::Constant::getNullValue(operand->getType()) : operand;
  } else if (instruction.getOpcode() == llvm::Instruction::FNeg) {
    builder.setFastMathFlags(instruction.getFastMathFlags());
    made = builder.Insert(llvm::BinaryOperator::CreateFSub(llvm::ConstantFP::getNegativeZero(instruction.getType()),
                                                           instruction.getOperand(0)));
    llvm::cast<llvm::Instruction>(made)->copyFastMathFlags(&instruction);
  }
  if (!made) return false;
  instruction.replaceAllUsesWith(made);
  instruction.eraseFromParent();
  return true;
}

/// What LLVM 14's attribute list knows and Apple's modules use; the writer maps memory(...) and drops by version.
void drop_new_attributes(llvm::Function& function) {
  using llvm::Attribute;
  llvm::AttributeMask mask;
  for (const auto kind :
       {Attribute::Range, Attribute::Initializes, Attribute::NoFPClass, Attribute::Writable, Attribute::DeadOnUnwind,
        Attribute::AllocKind, Attribute::AllocatedPointer, Attribute::AllocAlign, Attribute::SkipProfile,
        Attribute::FnRetThunkExtern, Attribute::HybridPatchable, Attribute::NoInline, Attribute::AlwaysInline})
    mask.addAttribute(kind);
  function.removeFnAttrs(mask);
  function.removeRetAttrs(mask);
  for (unsigned i = 0; i < function.arg_size(); ++i) function.removeParamAttrs(i, mask);
}

}  // namespace

Result<void> version_gate(PassContext& context) {
  SMELT_TRY_VOID(check_operations(context));
  SMELT_TRY_VOID(check_bfloat(context));
  for (llvm::Instruction* instruction : instructions_of(context.module)) {
    if (context.target.air < kFirstModern && spell_older(*instruction)) continue;
    if (context.target.air < kFirstModern || !context.finished) drop_join_flags(*instruction, context.target.air);
    if (!context.finished) {
      drop_new_flags(*instruction);
      drop_foreign_metadata(*instruction);
    }
  }
  if (!context.finished)
    for (llvm::Function& function : context.module) drop_new_attributes(function);
  return {};
}

}  // namespace smelt::aot::air
