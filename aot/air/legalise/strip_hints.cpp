// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the input's own compiler and target left behind and AIR has no use for: attributes of other targets, module
// flags, comdats, sections, hints to an optimiser. Nothing here changes what the program computes. What LLVM's
// optimiser can still use (ranges, alignment, aliasing) stays until version_gate.
#include "legalise/support.hpp"

#include "llvm/IR/AttributeMask.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

namespace smelt::aot::air {
namespace {

bool keeps_function_attribute(const llvm::Attribute& attribute) {
  using llvm::Attribute;
  if (attribute.isStringAttribute()) return attribute.getKindAsString().starts_with(kernel_ir::kPrefix);
  switch (attribute.getKindAsEnum()) {
    case Attribute::AlwaysInline:
    case Attribute::Convergent:
    case Attribute::InlineHint:
    case Attribute::Memory:
    case Attribute::MustProgress:
    case Attribute::NoFree:
    case Attribute::NoInline:
    case Attribute::NoRecurse:
    case Attribute::NoReturn:
    case Attribute::NoSync:
    case Attribute::NoUnwind:
    case Attribute::Speculatable:
    case Attribute::WillReturn:
      return true;
    default:
      return false;
  }
}

void keep_attributes(llvm::Function& function) {
  llvm::AttributeMask gone;
  for (const llvm::Attribute& attribute : function.getAttributes().getFnAttrs()) {
    if (keeps_function_attribute(attribute)) continue;
    if (attribute.isStringAttribute())
      gone.addAttribute(attribute.getKindAsString());
    else
      gone.addAttribute(attribute.getKindAsEnum());
  }
  function.removeFnAttrs(gone);
}

void plain_linkage(llvm::GlobalObject& global) {
  global.setComdat(nullptr);
  global.setDSOLocal(false);
  global.setVisibility(llvm::GlobalValue::DefaultVisibility);
  global.setDLLStorageClass(llvm::GlobalValue::DefaultStorageClass);
  global.setPartition("");
  if (!global.getSection().starts_with("air.")) global.setSection("");
}

/// Metadata lists that mean something to AIR, or to those who print errors.
bool keeps_list(llvm::StringRef name) {
  return name.starts_with("air.") || name == "llvm.dbg.cu" || name == "llvm.ident" || name == "llvm.module.flags";
}

bool is_hint(const llvm::IntrinsicInst& call) {
  switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::assume:
    case llvm::Intrinsic::donothing:
    case llvm::Intrinsic::experimental_noalias_scope_decl:
    case llvm::Intrinsic::prefetch:
    case llvm::Intrinsic::pseudoprobe:
    case llvm::Intrinsic::sideeffect:
    case llvm::Intrinsic::var_annotation:
      return true;
    default:
      return false;
  }
}

/// Its answer is its first operand.
bool is_identity(const llvm::IntrinsicInst& call) {
  switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::annotation:
    case llvm::Intrinsic::expect:
    case llvm::Intrinsic::expect_with_probability:
    case llvm::Intrinsic::launder_invariant_group:
    case llvm::Intrinsic::ptr_annotation:
    case llvm::Intrinsic::ssa_copy:
    case llvm::Intrinsic::strip_invariant_group:
      return true;
    default:
      return false;
  }
}

void drop_hint_calls(llvm::Module& module) {
  for (llvm::Instruction* instruction : instructions_of(module)) {
    auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(instruction);
    if (!call) continue;
    if (is_identity(*call)) call->replaceAllUsesWith(call->getArgOperand(0));
    if (is_identity(*call) || is_hint(*call)) call->eraseFromParent();
  }
}

}  // namespace

Result<void> strip_hints(PassContext& context) {
  llvm::Module& module = context.module;
  if (!context.options.debug_lines) llvm::StripDebugInfo(module);
  module.setModuleInlineAsm("");
  for (llvm::Function& function : module) {
    plain_linkage(function);
    keep_attributes(function);
    function.clearGC();
    if (function.hasPersonalityFn()) function.setPersonalityFn(nullptr);
    if (function.hasPrefixData()) function.setPrefixData(nullptr);
    if (function.hasPrologueData()) function.setPrologueData(nullptr);
  }
  for (llvm::GlobalVariable& global : module.globals()) plain_linkage(global);
  for (const char* list : {"llvm.used", "llvm.compiler.used"})
    if (llvm::GlobalVariable* used = module.getGlobalVariable(list)) used->eraseFromParent();
  if (auto* constructors = module.getGlobalVariable("llvm.global_ctors"))
    if (constructors->hasInitializer() && constructors->getInitializer()->isNullValue())
      constructors->eraseFromParent();

  std::vector<llvm::NamedMDNode*> lists;
  for (llvm::NamedMDNode& list : module.named_metadata())
    if (!keeps_list(list.getName())) lists.push_back(&list);
  for (llvm::NamedMDNode* list : lists) list->eraseFromParent();
  drop_hint_calls(module);
  return {};
}

}  // namespace smelt::aot::air
