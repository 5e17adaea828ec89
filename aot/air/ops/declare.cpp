// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A signature as a declaration of LLVM's, with the attributes that follow from its effect.
#include "ops/intrinsics.hpp"

#include "llvm/IR/Attributes.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/ModRef.h"

namespace smelt::aot::air {

llvm::FunctionType* function_type(const Signature& signature, llvm::LLVMContext& context) {
  llvm::SmallVector<llvm::Type*, 12> parameters;
  for (const Parameter& parameter : signature.parameters) parameters.push_back(llvm_type(parameter.type, context));
  return llvm::FunctionType::get(llvm_type(signature.result, context), parameters, false);
}

bool agrees(const Signature& signature, const llvm::FunctionType* type) {
  return signature.family_only || function_type(signature, type->getContext()) == type;
}

void annotate(llvm::Function& function, const Signature& signature) {
  using llvm::Attribute;
  using llvm::MemoryEffects;
  function.setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Local);
  if (signature.family_only || signature.effect == Effect::unknown) return;
  const auto add = [&](std::initializer_list<Attribute::AttrKind> kinds) {
    for (const auto kind : kinds) function.addFnAttr(kind);
  };
  add({Attribute::MustProgress, Attribute::NoUnwind, Attribute::WillReturn});
  switch (signature.effect) {
    case Effect::pure:
      add({Attribute::NoFree, Attribute::NoSync});
      function.setMemoryEffects(MemoryEffects::none());
      break;
    case Effect::lanes:
      add({Attribute::Convergent});
      break;
    case Effect::atomic:
    case Effect::texture_atomic:
    case Effect::unknown:
      break;
    case Effect::matrix_load:
      add({Attribute::Convergent, Attribute::NoFree});
      function.setMemoryEffects(MemoryEffects::readOnly());
      break;
    case Effect::matrix_store:
      add({Attribute::Convergent});
      function.setMemoryEffects(MemoryEffects::writeOnly());
      break;
    case Effect::out_argument:
    case Effect::texture_write:
      function.setMemoryEffects(MemoryEffects::argMemOnly());
      break;
    case Effect::texture_sample:
      add({Attribute::Convergent});
      [[fallthrough]];
    case Effect::texture_read:
      add({Attribute::NoFree});
      function.setMemoryEffects(MemoryEffects::argMemOnly(llvm::ModRefInfo::Ref));
      break;
    case Effect::tile_read:
      add({Attribute::NoFree});
      function.setMemoryEffects(MemoryEffects::readOnly());
      break;
    case Effect::tile_write:
      function.setMemoryEffects(MemoryEffects::writeOnly());
      break;
    case Effect::hidden_read:
      add({Attribute::NoFree});
      function.setMemoryEffects(MemoryEffects::inaccessibleMemOnly(llvm::ModRefInfo::Ref));
      break;
  }
  // A tensor is made of an address, which it keeps and does not follow.
  const bool keeps_address = signature.name.starts_with("air.init_strided_private_tensor.");
  for (unsigned i = 0; i < signature.parameters.size() && i < function.arg_size(); ++i) {
    if (!signature.parameters[i].type.is_pointer()) continue;
    if (keeps_address && signature.parameters[i].type.space != 0) {
      function.addParamAttr(i, Attribute::ReadNone);
      continue;
    }
    function.addParamAttr(i, Attribute::NoCapture);
    if (signature.parameters[i].access == Parameter::Access::reads) function.addParamAttr(i, Attribute::ReadOnly);
    if (signature.parameters[i].access == Parameter::Access::writes) function.addParamAttr(i, Attribute::WriteOnly);
  }
}

Result<llvm::Function*> declare(llvm::Module& module, std::string_view name, Version air) {
  SMELT_TRY(const Signature signature, lookup(name, air));
  if (signature.family_only)
    return fail(Errc::compile_failed, "{}: known by its family only, so it cannot be declared", name);
  llvm::FunctionType* type = function_type(signature, module.getContext());
  if (llvm::Function* present = module.getFunction(llvm::StringRef(name.data(), name.size()))) {
    if (present->getFunctionType() == type) return present;
    return fail(Errc::compile_failed, "{}: the module declares it with another signature than AIR's: {}", name,
                typed_text(signature));
  }
  llvm::Function* made = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage,
                                                llvm::StringRef(name.data(), name.size()), module);
  annotate(*made, signature);
  return made;
}

}  // namespace smelt::aot::air
