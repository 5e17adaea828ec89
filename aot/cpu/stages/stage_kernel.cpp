// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "stages/stage_kernel.hpp"

#include "interface/stage_arrays.hpp"
#include "ops/texture_operation.hpp"
#include "stages/quads.hpp"
#include "work_item/recursion.hpp"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include <map>

namespace smelt::aot::cpu {
namespace {

using air::StageArray;
using llvm::Value;

constexpr unsigned kDeviceSpace = 1;
constexpr llvm::StringLiteral kDiscard = "air.discard_fragment";

/// Whether others could see that it was done.
bool reaches_others(const llvm::Instruction& instruction) {
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) return store->getPointerAddressSpace() != 0;
  if (llvm::isa<llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst>(instruction)) return true;
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  const llvm::Function* const callee = call != nullptr ? call->getCalledFunction() : nullptr;
  if (callee == nullptr) return false;
  const llvm::StringRef name = callee->getName();
  if (name.starts_with("air.atomic") || name.starts_with("air.os_log")) return true;  // of memory and of textures
  if (const auto* memory = llvm::dyn_cast<llvm::MemIntrinsic>(call)) return memory->getDestAddressSpace() != 0;
  const auto operation = air::texture_operation_of(name);
  return operation && operation->verb == air::TextureOperation::Verb::write;
}

class StageKernel {
 public:
  StageKernel(llvm::Module& module, KernelEntry& info, std::vector<StageArray> arrays)
      : module_(module), context_(module.getContext()), info_(info), arrays_(std::move(arrays)), builder_(context_) {}

  Result<void> make(bool has_quads) {
    create();
    if (!arrays_.empty() && arrays_.back().role == StageArray::Role::discarded) {
      discarded_ = builder_.CreateAlloca(builder_.getInt1Ty(), nullptr, "discarded");
      builder_.CreateStore(builder_.getFalse(), discarded_);
    }
    keep_returned(call_function());
    llvm::Instruction* const end = builder_.CreateRetVoid();
    SMELT_TRY_VOID(keep_recursion(module_));
    SMELT_TRY_VOID(inline_calls(*kernel_));
    drop_inlined();
    if (discarded_ != nullptr) discard();
    builder_.SetInsertPoint(end);
    store_results();
    if (has_quads) SMELT_TRY_VOID(lower_quads(*kernel_, *thread_));
    info_.function = kernel_;
    info_.interface.parameters = std::move(parameters_);
    return {};
  }

 private:
  void create() {
    const llvm::Function& function = *info_.function;
    llvm::SmallVector<llvm::Type*> types;
    llvm::SmallVector<unsigned> kept;
    for (unsigned i = 0; i < function.arg_size(); ++i) {
      if (array_of_input(i) != nullptr) continue;
      kept.push_back(i);
      types.push_back(function.getArg(i)->getType());
      parameters_.push_back(info_.interface.parameters[i]);
    }
    auto* const pointer = llvm::PointerType::get(context_, kDeviceSpace);
    for (const StageArray& array : arrays_) {
      types.push_back(pointer);
      const bool is_input = array.role == StageArray::Role::input;
      parameters_.emplace_back(Binding{BindingClass::buffer, array.slot, 1, is_input ? Access::read : Access::write});
    }
    types.push_back(builder_.getInt32Ty());
    parameters_.emplace_back(Input{InputKind::builtin, "thread_position_in_grid"});
    kernel_ = llvm::Function::Create(llvm::FunctionType::get(builder_.getVoidTy(), types, false),
                                     llvm::GlobalValue::ExternalLinkage, "smelt.stage." + info_.name, module_);
    kernel_->setDSOLocal(true);
    for (unsigned i = 0; i < kept.size(); ++i) {
      for (const llvm::Attribute attribute : function.getAttributes().getParamAttrs(kept[i]))
        if (attribute.isStringAttribute()) kernel_->getArg(i)->addAttr(attribute);
      passed_[kept[i]] = kernel_->getArg(i);
    }
    for (unsigned i = 0; i < arrays_.size(); ++i)
      pointers_.push_back(kernel_->getArg(static_cast<unsigned>(kept.size()) + i));
    thread_ = kernel_->getArg(static_cast<unsigned>(types.size()) - 1);
    builder_.SetInsertPoint(llvm::BasicBlock::Create(context_, "entry", kernel_));
  }

  const StageArray* array_of_input(unsigned parameter) const {
    for (const StageArray& array : arrays_)
      if (array.role == StageArray::Role::input && array.index == parameter) return &array;
    return nullptr;
  }

  Value* call_function() {
    llvm::Function& function = *info_.function;
    for (size_t i = 0; i < arrays_.size(); ++i)
      if (arrays_[i].role == StageArray::Role::input)
        passed_[arrays_[i].index] = input(arrays_[i], pointers_[i], function.getArg(arrays_[i].index)->getType());
    llvm::SmallVector<Value*> arguments;
    for (unsigned i = 0; i < function.arg_size(); ++i) arguments.push_back(passed_.at(i));
    return builder_.CreateCall(&function, arguments);
  }

  Value* input(const StageArray& array, Value* pointer, llvm::Type* type) {
    if (!array.used) return llvm::PoisonValue::get(type);
    if (!array.optional) return load(pointer, type);
    auto* const from = builder_.GetInsertBlock();
    auto* const bound = llvm::BasicBlock::Create(context_, "bound", kernel_);
    auto* const after = llvm::BasicBlock::Create(context_, "after", kernel_);
    Value* const usual = usual_number(array, type);
    builder_.CreateCondBr(builder_.CreateIsNull(pointer), after, bound);
    builder_.SetInsertPoint(bound);
    Value* const loaded = load(pointer, type);
    builder_.CreateBr(after);
    builder_.SetInsertPoint(after);
    llvm::PHINode* const either = builder_.CreatePHI(type, 2);
    either->addIncoming(usual, from);
    either->addIncoming(loaded, bound);
    return either;
  }

  Value* usual_number(const StageArray& array, llvm::Type* type) {
    const air::UsualValue* const usual = air::usual_value(array.kind);
    if (usual == nullptr || !type->isIntegerTy()) return llvm::Constant::getNullValue(type);
    if (usual->is_index) return builder_.CreateZExtOrTrunc(thread_, type);
    return builder_.CreateTrunc(builder_.getInt64(usual->number), type);
  }

  /// Of one number of this thread's element.
  Value* address(Value* pointer, const air::ElementParts& parts, uint32_t part) {
    Value* const first =
        builder_.CreateMul(builder_.CreateZExt(thread_, builder_.getInt64Ty()), builder_.getInt64(parts.count));
    return builder_.CreateGEP(in_memory(parts), pointer, builder_.CreateAdd(first, builder_.getInt64(part)));
  }
  static llvm::Type* in_memory(const air::ElementParts& parts) {
    return llvm::Type::getIntNTy(parts.scalar->getContext(), parts.scalar_bytes * 8);
  }

  Value* load(Value* pointer, llvm::Type* type) {
    const air::ElementParts parts = air::parts_of(*type);
    Value* made = llvm::PoisonValue::get(type);
    for (uint32_t i = 0; i < parts.count; ++i) {
      Value* number =
          builder_.CreateAlignedLoad(in_memory(parts), address(pointer, parts, i), llvm::Align(parts.scalar_bytes));
      number = parts.scalar->isIntegerTy(1) ? builder_.CreateIsNotNull(number)
                                            : builder_.CreateBitCast(number, parts.scalar);
      made = put(made, number, i);
    }
    return made;
  }

  Value* put(Value* into, Value* number, uint32_t at) {
    if (into->getType()->isVectorTy()) return builder_.CreateInsertElement(into, number, uint64_t{at});
    return into->getType()->isArrayTy() ? builder_.CreateInsertValue(into, number, at) : number;
  }
  Value* take(Value* from, uint32_t at) {
    if (from->getType()->isVectorTy()) return builder_.CreateExtractElement(from, uint64_t{at});
    return from->getType()->isArrayTy() ? builder_.CreateExtractValue(from, at) : from;
  }

  void store(Value* pointer, Value* value) {
    const air::ElementParts parts = air::parts_of(*value->getType());
    for (uint32_t i = 0; i < parts.count; ++i) {
      Value* number = take(value, i);
      number = parts.scalar->isIntegerTy(1) ? builder_.CreateZExt(number, builder_.getInt8Ty())
                                            : builder_.CreateBitCast(number, in_memory(parts));
      builder_.CreateAlignedStore(number, address(pointer, parts, i), llvm::Align(parts.scalar_bytes));
    }
  }

  /// What is in the kernel now would be refused outside of it: derivatives for one.
  void drop_inlined() {
    for (bool again = true; again;) {
      again = false;
      for (llvm::Function& function : llvm::make_early_inc_range(module_)) {
        if (&function == kernel_ || function.isDeclaration() || !function.use_empty()) continue;
        function.eraseFromParent();
        again = true;
      }
    }
  }

  /// Member by member in variables: inlining replaces the call.
  void keep_returned(Value* returned) {
    for (const StageArray& array : arrays_) {
      if (array.role != StageArray::Role::result) continue;
      Value* const member =
          returned->getType()->isStructTy() ? builder_.CreateExtractValue(returned, array.index) : returned;
      llvm::IRBuilder<> first(&kernel_->getEntryBlock(), kernel_->getEntryBlock().begin());
      returned_.push_back(first.CreateAlloca(member->getType(), nullptr, array.name));
      builder_.CreateStore(member, returned_.back());
    }
  }

  /// A discarded fragment writes nothing from there on.
  void discard() {
    llvm::SmallVector<llvm::Instruction*> calls, writes;
    for (llvm::Instruction& instruction : llvm::instructions(*kernel_)) {
      const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      if (call != nullptr && call->getCalledFunction() != nullptr && call->getCalledFunction()->getName() == kDiscard)
        calls.push_back(&instruction);
      else if (reaches_others(instruction))
        writes.push_back(&instruction);
    }
    for (llvm::Instruction* call : calls) {
      builder_.SetInsertPoint(call);
      builder_.CreateStore(builder_.getTrue(), discarded_);
      call->eraseFromParent();
    }
    for (llvm::Instruction* write : writes) {
      builder_.SetInsertPoint(write);
      llvm::Instruction* const then = llvm::SplitBlockAndInsertIfThen(is_kept(), write, false);
      llvm::BasicBlock* const before = then->getParent()->getSinglePredecessor();
      llvm::BasicBlock* const after = write->getParent();
      write->moveBefore(then);
      if (write->use_empty()) continue;
      builder_.SetInsertPoint(after, after->begin());
      llvm::PHINode* const result = builder_.CreatePHI(write->getType(), 2);
      write->replaceAllUsesWith(result);
      result->addIncoming(write, then->getParent());
      result->addIncoming(llvm::Constant::getNullValue(write->getType()), before);
    }
  }

  Value* is_kept() { return builder_.CreateNot(builder_.CreateLoad(builder_.getInt1Ty(), discarded_)); }

  /// In front of where the kernel ends.
  void store_results() {
    size_t member = 0;
    for (size_t i = 0; i < arrays_.size(); ++i) {
      const StageArray& array = arrays_[i];
      if (array.role == StageArray::Role::input) continue;
      Value* wanted = builder_.CreateIsNotNull(pointers_[i]);
      Value* value = nullptr;
      if (array.role == StageArray::Role::result) {
        llvm::AllocaInst* const from = returned_[member++];
        value = builder_.CreateLoad(from->getAllocatedType(), from);
        if (discarded_ != nullptr) wanted = builder_.CreateAnd(wanted, is_kept());
      } else {
        value = builder_.CreateLoad(builder_.getInt1Ty(), discarded_);
      }
      llvm::Instruction* const end = &*builder_.GetInsertPoint();
      builder_.SetInsertPoint(llvm::SplitBlockAndInsertIfThen(wanted, end, false));
      store(pointers_[i], value);
      builder_.SetInsertPoint(end);
    }
  }

  llvm::Module& module_;
  llvm::LLVMContext& context_;
  KernelEntry& info_;
  const std::vector<StageArray> arrays_;
  llvm::IRBuilder<> builder_;
  llvm::Function* kernel_ = nullptr;
  std::vector<EntryParameter> parameters_;
  std::vector<Value*> pointers_;             ///< of each array
  std::map<unsigned, Value*> passed_;        ///< to each parameter of the stage's function
  std::vector<llvm::AllocaInst*> returned_;  ///< for each result
  Value* thread_ = nullptr;
  llvm::AllocaInst* discarded_ = nullptr;  ///< of functions that discard
};

}  // namespace

Result<void> make_stage_kernel(llvm::Module& module, const llvm::MDNode& entry, std::string_view stage,
                               KernelEntry& info) {
  SMELT_TRY(std::vector<StageArray> arrays, air::stage_arrays(module, entry, stage));
  return StageKernel(module, info, std::move(arrays)).make(stage == "fragment");
}

}  // namespace smelt::aot::cpu
