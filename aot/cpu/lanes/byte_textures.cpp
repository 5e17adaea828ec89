// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lanes/byte_textures.hpp"

#include "runtime/runtime.hpp"

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Cloning.h"

namespace smelt::aot::cpu {
namespace {

/// Of longer code a copy costs more than it gives: what it does between its texels takes the time.
constexpr unsigned kLongGang = 2000;

/// "read" of a call of `smelt_rt_inline_texture_read_lanes`; empty elsewhere.
llvm::StringRef form_of(const llvm::CallInst& call) {
  const llvm::Function* const callee = call.getCalledFunction();
  if (callee == nullptr) return {};
  llvm::StringRef name = callee->getName();
  if (!name.consume_front(kInlineTexels) || !name.consume_back("_lanes")) return {};
  return name;
}

/// The parameter that it is; null elsewhere.
llvm::Argument* texture_parameter(const llvm::CallInst& call) {
  return llvm::dyn_cast<llvm::Argument>(call.getArgOperand(0)->stripPointerCasts());
}

llvm::SmallVector<llvm::CallInst*> texel_calls(llvm::Function& function) {
  llvm::SmallVector<llvm::CallInst*> found;
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (auto* const call = llvm::dyn_cast<llvm::CallInst>(&instruction);
        call != nullptr && !form_of(*call).empty() && texture_parameter(*call) != nullptr)
      found.push_back(call);
  return found;
}

llvm::Function* named_copy_of(llvm::Function& function, const char* suffix) {
  llvm::ValueToValueMapTy map;
  llvm::Function* const copy = llvm::CloneFunction(&function, map);
  copy->setName(function.getName() + suffix);
  copy->setLinkage(llvm::GlobalValue::InternalLinkage);
  copy->addFnAttr(llvm::Attribute::AlwaysInline);
  return copy;
}

}  // namespace

void copy_for_byte_textures(llvm::Function& gang) {
  if (gang.getInstructionCount() > kLongGang) return;
  llvm::SmallSetVector<llvm::Argument*, 8> textures;
  for (const llvm::CallInst* call : texel_calls(gang)) textures.insert(texture_parameter(*call));
  if (textures.empty()) return;
  llvm::Module& module = *gang.getParent();
  llvm::Function* const general = named_copy_of(gang, ".any");
  llvm::Function* const bytes = named_copy_of(gang, ".bytes");
  for (llvm::CallInst* call : texel_calls(*bytes))
    call->setCalledFunction(declare_runtime(module, ("inline_texture_" + form_of(*call) + "_bytes_lanes").str()));

  gang.deleteBody();
  gang.setLinkage(llvm::GlobalValue::InternalLinkage);
  llvm::LLVMContext& context = module.getContext();
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "", &gang));
  llvm::Value* all = builder.getTrue();
  llvm::Function* const is_bytes = declare_runtime(module, "inline_texture_is_bytes");
  for (llvm::Argument* texture : textures) {
    llvm::Value* const handle = builder.CreatePointerBitCastOrAddrSpaceCast(texture, is_bytes->getArg(0)->getType());
    all = builder.CreateAnd(all, builder.CreateIsNotNull(builder.CreateCall(is_bytes, handle)));
  }
  llvm::SmallVector<llvm::Value*> arguments;
  for (llvm::Argument& argument : gang.args()) arguments.push_back(&argument);
  const auto calls = [&](llvm::Function* function) {
    auto* const block = llvm::BasicBlock::Create(context, "", &gang);
    llvm::IRBuilder<> inside(block);
    inside.CreateCall(function, arguments);
    inside.CreateRetVoid();
    return block;
  };
  llvm::BasicBlock* const if_bytes = calls(bytes);
  builder.CreateCondBr(all, if_bytes, calls(general));
}

}  // namespace smelt::aot::cpu
