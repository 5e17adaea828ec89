// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "work_item/prepare_module.hpp"

#include "llvm_support/metal_operations.hpp"

#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Target/TargetMachine.h"

namespace smelt::aot::cpu {
namespace {

/// AIR's layout and the processors' agree on everything that kernels store; this makes sure of it.
Result<void> check_same_shape(const llvm::Module& module, const llvm::DataLayout& to) {
  const llvm::DataLayout& from = module.getDataLayout();
  for (llvm::StructType* type : module.getIdentifiedStructTypes()) {
    if (!type->isSized()) continue;
    const llvm::StructLayout* before = from.getStructLayout(type);
    const llvm::StructLayout* after = to.getStructLayout(type);
    bool same = before->getSizeInBytes() == after->getSizeInBytes();
    for (unsigned i = 0; same && i < type->getNumElements(); ++i)
      same = before->getElementOffset(i) == after->getElementOffset(i);
    if (!same)
      return fail(Errc::unsupported, "struct {} is laid out differently on the processor", type->getName().str());
  }
  return {};
}

/// Apple's GPUs load and store vectors from buffers and threadgroup memory at any multiple of the element's size, and
/// kernels count on it: ggml stores float4 to rows of any length. So what AIR says of a vector's alignment is not
/// believed; the element's own is. Vectors of three are left: their padding is theirs only where they are aligned.
void expect_element_alignment(llvm::Instruction& instruction, const llvm::DataLayout& layout) {
  const auto cap = [&](auto& access, llvm::Type* type) {
    const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
    if (access.getPointerAddressSpace() == 0 || vector == nullptr || vector->getNumElements() == 3) return;
    const llvm::Align element = layout.getABITypeAlign(vector->getElementType());
    access.setAlignment(std::min(access.getAlign(), element));
  };
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) cap(*load, load->getType());
  if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) cap(*store, store->getValueOperand()->getType());
}

/// The value may be that of a shuffle whose mask leaves a component open.
bool may_lack_components(const llvm::Value* value, llvm::SmallPtrSetImpl<const llvm::Value*>& seen) {
  if (!seen.insert(value).second) return false;
  if (const auto* shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(value))
    return llvm::is_contained(shuffle->getShuffleMask(), llvm::PoisonMaskElem);
  if (const auto* choice = llvm::dyn_cast<llvm::SelectInst>(value))
    return may_lack_components(choice->getTrueValue(), seen) || may_lack_components(choice->getFalseValue(), seen);
  if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(value))
    return llvm::any_of(phi->incoming_values(), [&](const llvm::Value* one) { return may_lack_components(one, seen); });
  return false;
}

/// In AIR, which is of LLVM 14, a component that a shuffle takes from nowhere has any bits, as the fourth of a stored
/// uchar3 does. For this LLVM it is poison, and so is the whole integer that it is a part of.
void define_components(llvm::Instruction& instruction) {
  constexpr uint64_t kMostBits = 64;  // of an integer that copies a vector
  const bool is_cast = llvm::isa<llvm::BitCastInst>(instruction), is_store = llvm::isa<llvm::StoreInst>(instruction);
  llvm::Value* const value = is_cast || is_store ? instruction.getOperand(0) : nullptr;
  if (value == nullptr || !value->getType()->isVectorTy()) return;
  if (is_store && value->getType()->getPrimitiveSizeInBits().getFixedValue() > kMostBits) return;
  llvm::SmallPtrSet<const llvm::Value*, 8> seen;
  if (may_lack_components(value, seen)) instruction.setOperand(0, llvm::IRBuilder<>(&instruction).CreateFreeze(value));
}

}  // namespace

Result<void> adopt_target(llvm::Module& module, const llvm::TargetMachine& target, bool keep_lines) {
  const llvm::DataLayout layout = target.createDataLayout();
  SMELT_TRY_VOID(check_same_shape(module, layout));
  if (!keep_lines) llvm::StripDebugInfo(module);
  module.setDataLayout(layout);
  module.setTargetTriple(target.getTargetTriple().str());
  module.setPICLevel(llvm::PICLevel::BigPIC);
  for (const char* name : {"llvm.module.flags", "llvm.ident"})
    if (llvm::NamedMDNode* node = module.getNamedMetadata(name)) module.eraseNamedMetadata(node);
  for (const char* name : {"llvm.used", "llvm.compiler.used"})
    if (llvm::GlobalVariable* global = module.getGlobalVariable(name)) global->eraseFromParent();
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) {
      // Sync sites must stay where they are: not merged, not duplicated, not moved across control flow.
      if (function.getName().starts_with("air.")) function.addFnAttr(llvm::Attribute::NoMerge);
      continue;
    }
    function.setSection("");
    function.setLinkage(llvm::GlobalValue::InternalLinkage);
    for (const auto attribute : {llvm::Attribute::NoInline, llvm::Attribute::OptimizeNone})
      function.removeFnAttr(attribute);
    for (llvm::Argument& argument : function.args()) argument.removeAttr(llvm::Attribute::Alignment);
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      if (auto* division = llvm::dyn_cast<llvm::BinaryOperator>(&instruction); division && division->isIntDivRem())
        guard_division(*division);
      // Kernels pun types at will (docs/formats/air.md 1.6: every access through i8 pointers).
      instruction.setMetadata(llvm::LLVMContext::MD_tbaa, nullptr);
      instruction.setMetadata(llvm::LLVMContext::MD_tbaa_struct, nullptr);
      expect_element_alignment(instruction, layout);
      define_components(instruction);
    }
  }
  return {};
}

void remove_all_but(llvm::Module& module, llvm::Function& kept) {
  for (const char* name : {"air.kernel", "air.function_constants", "air.visible", "air.sampler_states"})
    if (llvm::NamedMDNode* node = module.getNamedMetadata(name)) module.eraseNamedMetadata(node);
  if (llvm::GlobalVariable* list = module.getGlobalVariable("llvm.global_ctors")) list->eraseFromParent();
  for (bool again = true; again;) {
    again = false;
    for (llvm::Function& function : llvm::make_early_inc_range(module)) {
      if (&function == &kept) continue;
      function.removeDeadConstantUsers();
      if (!function.use_empty()) continue;
      function.eraseFromParent();
      again = true;
    }
  }
  for (llvm::GlobalVariable& global : llvm::make_early_inc_range(module.globals())) {
    global.removeDeadConstantUsers();
    if (global.use_empty()) global.eraseFromParent();
  }
}

}  // namespace smelt::aot::cpu
