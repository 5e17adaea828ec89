// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls of textures in the form of the target (ops/texture_operation.hpp), whatever form they came in:
//
//   %c = call <4 x float> @smelt.air.read_texture_2d.v4f32(ptr AS1 %t, <2 x i32> %p, i32 0, i32 1)
//   ->   %s = call ptr AS2 @air.get_read_sampler()                                          ; from AIR 2.8 on
//        %r = call { <4 x float>, i8 } @air.read_texture_2d.v4f32(ptr AS1 %t, ptr AS2 %s, <2 x i32> %p,
//                                                                 <2 x i32> zeroinitializer, i32 0, i32 1)
//        %c = extractvalue %r, 0
//
// A sampler that is known becomes a constant with a row of !air.sampler_states: an i64 up to AIR 2.6, two from 2.7 on.
// Finished AIR too: a library of another version gets the forms of its new target.
#include "legalise/sampler_handles.hpp"
#include "legalise/support.hpp"
#include "ops/texture_operation.hpp"

#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Local.h"

namespace smelt::aot::air {
namespace {

constexpr llvm::StringLiteral kStateName = "__air_sampler_state";
constexpr llvm::StringLiteral kStateWord = "air.sampler_state";
/// Of a sampler in one word.
constexpr uint64_t kNarrowMark = uint64_t{1} << 63;

// ---- Calls

/// The name as AIR has it.
std::string air_name(llvm::StringRef function) {
  function.consume_front("smelt.");
  return function.str();
}

/// What the call gave, out of what the new one gives: the texel alone, or with its residency.
llvm::Value* result_like(llvm::IRBuilder<>& builder, llvm::Type* wanted, llvm::Value* made) {
  if (made->getType() == wanted) return made;
  return builder.CreateExtractValue(made, 0);
}

Result<void> rewrite_call(const PassContext& context, const TextureOperation& operation, llvm::CallInst& call,
                          llvm::Function& declared) {
  SMELT_TRY(const TextureOperands operands, read_texture_operands(operation, call));
  llvm::IRBuilder<> builder(&call);
  llvm::Value* read_sampler = nullptr;
  if (wants_read_sampler(operation, context.target.air) && operands.sampler == nullptr) {
    SMELT_TRY(read_sampler, call_air(builder, context, "air.get_read_sampler", {}));
  }
  const auto arguments = texture_operands_for(operation, operands, builder, context.target.air, read_sampler);
  if (arguments.size() != declared.arg_size())
    return refuse(call, "'{}' takes other operands in AIR {}.{}", declared.getName(), context.target.air.major,
                  context.target.air.minor);
  for (size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i]->getType() != declared.getArg(static_cast<unsigned>(i))->getType())
      return refuse(call, "'{}' has an operand of another type", declared.getName());
  llvm::CallInst* made = builder.CreateCall(&declared, arguments);
  made->setTailCallKind(call.getTailCallKind());
  if (declared.isConvergent()) made->setConvergent();
  if (llvm::isa<llvm::FPMathOperator>(made) && llvm::isa<llvm::FPMathOperator>(call)) made->copyFastMathFlags(&call);
  if (!call.getType()->isVoidTy()) {
    llvm::Value* const result = result_like(builder, call.getType(), made);
    result->takeName(&call);
    call.replaceAllUsesWith(result);
  }
  call.eraseFromParent();
  return {};
}

Result<void> rewrite_operation(const PassContext& context, llvm::Function& function) {
  const std::string name = air_name(function.getName());
  const auto operation = texture_operation_of(name);
  if (!operation) {
    if (function.getName().starts_with(kNeutralPrefix))
      return fail(Errc::compile_failed, "'{}' is not a texture operation", function.getName());
    return {};
  }
  const auto wanted = lookup(name, context.target.air);
  if (!wanted) return tl::make_unexpected(wanted.error());
  const bool is_neutral = function.getName() != name;
  // A form that the table does not have stays as it came: only finished AIR has any.
  if (!is_neutral && (wanted->family_only || agrees(*wanted, function.getFunctionType()))) return {};
  if (!is_neutral) function.setName("smelt.replaced");
  SMELT_TRY(llvm::Function * declared, declare(context.module, name, context.target.air));
  for (llvm::User* user : llvm::make_early_inc_range(function.users())) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(user);
    if (call == nullptr) return fail(Errc::compile_failed, "the address of '{}' is taken", name);
    SMELT_TRY_VOID(rewrite_call(context, *operation, *call, *declared));
  }
  function.eraseFromParent();
  return {};
}

// ---- Samplers

llvm::Constant* state_of(const PassContext& context, uint64_t first, uint64_t second) {
  llvm::Type* const word = llvm::Type::getInt64Ty(context.module.getContext());
  if (context.target.air < kFirstWideSampler) return llvm::ConstantInt::get(word, first | kNarrowMark);
  llvm::Constant* const words[] = {llvm::ConstantInt::get(word, first & ~kNarrowMark),
                                   llvm::ConstantInt::get(word, second)};
  return llvm::ConstantArray::get(llvm::ArrayType::get(word, 2), words);
}

llvm::GlobalVariable* make_state(const PassContext& context, llvm::Constant* state) {
  llvm::Module& module = context.module;
  llvm::NamedMDNode* const list = module.getOrInsertNamedMetadata(kSamplerList);
  for (const llvm::MDNode* row : list->operands())
    if (row->getNumOperands() == 2)
      if (auto* known = llvm::mdconst::dyn_extract_or_null<llvm::GlobalVariable>(row->getOperand(1));
          known != nullptr && known->hasInitializer() && known->getInitializer() == state)
        return known;
  auto* made = new llvm::GlobalVariable(module, state->getType(), true, llvm::GlobalValue::InternalLinkage, state,
                                        kStateName, nullptr, llvm::GlobalValue::NotThreadLocal, kConstant);
  made->setAlignment(llvm::Align(8));
  list->addOperand(llvm::MDNode::get(
      module.getContext(), {llvm::MDString::get(module.getContext(), kStateWord), llvm::ValueAsMetadata::get(made)}));
  return made;
}

Result<void> resolve_samplers(const PassContext& context) {
  llvm::Function* const function = context.module.getFunction(kNeutralSampler);
  if (function == nullptr) return {};
  const auto constant = [&](uint64_t state) -> llvm::Value* {
    return make_state(context, state_of(context, state, 0));
  };
  SamplerHandles handles(constant);
  llvm::SmallVector<llvm::WeakTrackingVH, 16> bits;
  for (llvm::User* user : llvm::make_early_inc_range(function->users())) {
    auto* call = llvm::cast<llvm::CallInst>(user);
    SMELT_TRY(llvm::Value * handle, handles.of(*call));
    bits.emplace_back(call->getArgOperand(0));
    call->replaceAllUsesWith(handle);
    call->eraseFromParent();
  }
  function->eraseFromParent();
  llvm::RecursivelyDeleteTriviallyDeadInstructionsPermissive(bits);
  return {};
}

/// The words of a finished library's sampler in as many as the target has.
Result<void> widen_samplers(const PassContext& context) {
  llvm::NamedMDNode* const list = context.module.getNamedMetadata(kSamplerList);
  if (list == nullptr || !context.finished) return {};
  const std::vector<llvm::MDNode*> rows(list->op_begin(), list->op_end());
  for (const llvm::MDNode* row : rows) {
    auto* old = row->getNumOperands() == 2
                    ? llvm::mdconst::dyn_extract_or_null<llvm::GlobalVariable>(row->getOperand(1))
                    : nullptr;
    if (old == nullptr || !old->hasInitializer()) continue;
    const llvm::Constant* const value = old->getInitializer();
    const auto* word = llvm::dyn_cast<llvm::ConstantInt>(value);
    const auto* first =
        word != nullptr ? word : llvm::dyn_cast_or_null<llvm::ConstantInt>(value->getAggregateElement(0u));
    const auto* second =
        word != nullptr ? nullptr : llvm::dyn_cast_or_null<llvm::ConstantInt>(value->getAggregateElement(1u));
    if (first == nullptr) continue;
    llvm::Constant* const state =
        state_of(context, first->getZExtValue(), second != nullptr ? second->getZExtValue() : 0);
    if (state->getType() == value->getType()) continue;
    if (second != nullptr && !second->isZero())
      return fail(Errc::unsupported, "a constant sampler has a state that AIR {}.{} cannot express",
                  context.target.air.major, context.target.air.minor);
    auto* made = new llvm::GlobalVariable(context.module, state->getType(), true, old->getLinkage(), state, "", nullptr,
                                          llvm::GlobalValue::NotThreadLocal, kConstant);
    made->setAlignment(old->getAlign());
    made->takeName(old);
    old->replaceAllUsesWith(made);
    old->eraseFromParent();
  }
  return {};
}

}  // namespace

Result<void> texture_forms(PassContext& context) {
  SMELT_TRY_VOID(resolve_samplers(context));
  SMELT_TRY_VOID(widen_samplers(context));
  std::vector<llvm::Function*> functions;
  for (llvm::Function& function : context.module)
    if (function.isDeclaration() &&
        (function.getName().starts_with("air.") || function.getName().starts_with(kNeutralPrefix)))
      functions.push_back(&function);
  for (llvm::Function* function : functions) SMELT_TRY_VOID(rewrite_operation(context, *function));
  return {};
}

}  // namespace smelt::aot::air
