// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "legalise/support.hpp"

#include "interface/entry.hpp"

#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/Support/raw_ostream.h"

namespace smelt::aot::air {

std::string text_of(const llvm::Type& type) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  type.print(stream, false, true);
  return text;
}

std::string place_of(const llvm::Instruction& instruction) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  instruction.print(stream);
  llvm::StringRef line = llvm::StringRef(text).trim().take_until([](char c) { return c == '\n'; });
  if (const size_t metadata = line.find(", !"); metadata != llvm::StringRef::npos) line = line.take_front(metadata);
  std::string place = fmt::format("function '{}': {}", instruction.getFunction()->getName(), line.take_front(160));
  if (const llvm::DILocation* location = instruction.getDebugLoc().get())
    place += fmt::format(" ({}:{})", location->getFilename(), location->getLine());
  return place;
}

Result<llvm::CallInst*> call_air(llvm::IRBuilderBase& builder, const PassContext& context, std::string_view name,
                                 llvm::ArrayRef<llvm::Value*> arguments) {
  SMELT_TRY(llvm::Function* const callee, declare(context.module, name, context.target.air));
  llvm::CallInst* call = builder.CreateCall(callee, arguments);
  if (callee->isConvergent()) call->setConvergent();
  return call;
}

void replace_call(llvm::CallInst& call, llvm::Function& declared, llvm::ArrayRef<llvm::Value*> arguments) {
  llvm::CallInst* made = llvm::IRBuilder<>(&call).CreateCall(&declared, arguments);
  if (call.isConvergent() || declared.isConvergent()) made->setConvergent();
  made->setTailCallKind(call.getTailCallKind());
  if (llvm::isa<llvm::FPMathOperator>(made) && llvm::isa<llvm::FPMathOperator>(call)) made->copyFastMathFlags(&call);
  made->takeName(&call);
  call.replaceAllUsesWith(made);
  call.eraseFromParent();
}

llvm::Function* replace_entry(PassContext& context, llvm::ArrayRef<llvm::Type*> parameters,
                              llvm::ArrayRef<int> from_old) {
  llvm::Function* old = context.entry;
  auto* type = llvm::FunctionType::get(old->getReturnType(), parameters, false);
  llvm::Function* made = llvm::Function::Create(type, old->getLinkage(), old->getAddressSpace());
  context.module.getFunctionList().insert(old->getIterator(), made);
  made->takeName(old);
  made->setCallingConv(old->getCallingConv());
  made->setUnnamedAddr(old->getUnnamedAddr());
  made->copyMetadata(old, 0);
  made->splice(made->begin(), old);

  const llvm::AttributeList before = old->getAttributes();
  llvm::SmallVector<llvm::AttributeSet, 16> sets(parameters.size());
  for (size_t i = 0; i < from_old.size(); ++i) {
    if (from_old[i] < 0) continue;
    const auto from = static_cast<unsigned>(from_old[i]);
    sets[i] = before.getParamAttrs(from);
    llvm::Argument* then = old->getArg(from);
    llvm::Argument* now = made->getArg(static_cast<unsigned>(i));
    now->takeName(then);
    if (then->getType() == now->getType()) then->replaceAllUsesWith(now);
  }
  made->setAttributes(
      llvm::AttributeList::get(context.module.getContext(), before.getFnAttrs(), before.getRetAttrs(), sets));
  old->replaceAllUsesWith(made);
  old->eraseFromParent();
  context.entry = made;
  return made;
}

bool has_entry_metadata(const PassContext& context) {
  return entry_list(context.module, context.stage);
}

std::vector<llvm::Instruction*> instructions_of(llvm::Module& module) {
  std::vector<llvm::Instruction*> all;
  for (llvm::Function& function : module)
    for (llvm::BasicBlock& block : function)
      for (llvm::Instruction& instruction : block) all.push_back(&instruction);
  return all;
}

bool is_plain_memory(const llvm::Type* type) {
  if (type->isPointerTy()) return true;
  if (type->isArrayTy()) return is_plain_memory(type->getArrayElementType());
  if (const auto* record = llvm::dyn_cast<llvm::StructType>(type))
    return llvm::all_of(record->elements(), is_plain_memory) || record->isOpaque();
  const auto known = air_type(type);
  if (!known || (known->is_integer() && known->bits == 1)) return false;
  return known->lanes <= 4 || (known->lanes == 64 && known->is_float());
}

bool mentions_bfloat(const llvm::Type* type) {
  if (type->isBFloatTy()) return true;
  if (type->isPointerTy() || type->isFunctionTy()) return false;
  return llvm::any_of(type->subtypes(), mentions_bfloat);
}

llvm::BasicBlock::iterator after_allocas(llvm::Function& function) {
  auto at = function.getEntryBlock().getFirstInsertionPt();
  while (llvm::isa<llvm::AllocaInst>(*at)) ++at;
  return at;
}

llvm::AllocaInst* make_alloca(llvm::Function& function, llvm::Type* type, const llvm::Twine& name) {
  llvm::IRBuilder<> builder(&function.getEntryBlock(), function.getEntryBlock().getFirstInsertionPt());
  return builder.CreateAlloca(type, builder.getInt32(1), name);
}

}  // namespace smelt::aot::air
