// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "legalise/predicates.hpp"

#include "interface/entry.hpp"
#include "kernel_ir/predicates.hpp"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

#include <fmt/format.h>

namespace smelt::aot::air {
namespace {

constexpr int kPriority = 65535;  // as Apple's compiler has it
constexpr size_t kMostInstructions = 4096;

class PredicateMaker {
 public:
  explicit PredicateMaker(PassContext& context) : context_(context), module_(context.module) {}

  Result<std::map<std::string, llvm::MDNode*, std::less<>>> make() {
    std::vector<llvm::Function*> marks;
    for (llvm::Function& function : module_)
      if (function.getName().starts_with(kernel_ir::kPredicate)) marks.push_back(&function);
    if (marks.empty()) return std::move(rows_);
    constructor_ = llvm::Function::Create(llvm::FunctionType::get(llvm::Type::getVoidTy(module_.getContext()), false),
                                          llvm::GlobalValue::InternalLinkage, "_GLOBAL__sub_I_smelt", module_);
    constructor_->setSection("air.static_init");
    constructor_->addFnAttr(llvm::Attribute::NoUnwind);
    builder_.SetInsertPoint(llvm::BasicBlock::Create(module_.getContext(), "", constructor_));
    for (llvm::Function* mark : marks) SMELT_TRY_VOID(make_one(*mark));
    builder_.CreateRetVoid();
    llvm::appendToGlobalCtors(module_, constructor_, kPriority);
    llvm::appendToCompilerUsed(module_, variables_);
    return std::move(rows_);
  }

 private:
  Result<void> make_one(llvm::Function& mark) {
    auto* const byte = builder_.getInt8Ty();
    auto* variable = new llvm::GlobalVariable(module_, byte, false, llvm::GlobalValue::InternalLinkage,
                                              llvm::ConstantInt::get(byte, 0),
                                              fmt::format("__metal_implicit_fc_pred_{}", variables_.size()), nullptr,
                                              llvm::GlobalValue::NotThreadLocal, kConstant);
    variable->setAlignment(llvm::Align(1));
    variables_.push_back(variable);
    const llvm::StringRef name = mark.getName().drop_front(kernel_ir::kPredicate.size());
    llvm::SmallVector<llvm::WeakTrackingVH, 8> dead;
    bool is_set = false;
    for (llvm::User* user : llvm::make_early_inc_range(mark.users())) {
      auto* call = llvm::cast<llvm::CallInst>(user);
      if (!is_set && call->getFunction() == context_.entry) {
        SMELT_TRY(llvm::Value * value, copy(*call->getArgOperand(0), name));
        builder_.CreateStore(value, variable);
        is_set = true;
      }
      if (llvm::isa<llvm::Instruction>(call->getArgOperand(0))) dead.emplace_back(call->getArgOperand(0));
      call->eraseFromParent();
    }
    llvm::RecursivelyDeleteTriviallyDeadInstructionsPermissive(dead);
    if (!is_set) return fail(Errc::compile_failed, "the value of '{}' is not known in the entry", name);
    rows_[mark.getName().str()] = NodeBuilder(module_.getContext())
                                      .metadata(llvm::ValueAsMetadata::get(variable))
                                      .text("bool")
                                      .text({name.data(), name.size()})
                                      .finish();
    mark.eraseFromParent();
    return {};
  }

  /// The instructions that make `value`, once more in the constructor.
  Result<llvm::Value*> copy(llvm::Value& value, llvm::StringRef name) {
    if (llvm::isa<llvm::Constant>(value)) return &value;
    if (const auto known = copies_.find(&value); known != copies_.end()) return known->second;
    auto* const instruction = llvm::dyn_cast<llvm::Instruction>(&value);
    const auto* load = llvm::dyn_cast_or_null<llvm::LoadInst>(instruction);
    const auto* call = llvm::dyn_cast_or_null<llvm::CallInst>(instruction);
    const bool is_known = instruction != nullptr && !llvm::isa<llvm::PHINode>(instruction) &&
                          !llvm::isa<llvm::AllocaInst>(instruction) && !instruction->mayHaveSideEffects() &&
                          (load == nullptr || llvm::isa<llvm::GlobalVariable>(load->getPointerOperand())) &&
                          (call == nullptr || !call->mayReadFromMemory());
    if (!is_known || copies_.size() > kMostInstructions)
      return fail(Errc::compile_failed,
                  "'{}' decides whether an argument exists, and is not computed from function constants alone", name);
    llvm::SmallVector<llvm::Value*, 4> operands;
    for (llvm::Value* operand : instruction->operands()) {
      if (llvm::isa<llvm::Function>(operand)) {
        operands.push_back(operand);
        continue;
      }
      SMELT_TRY(llvm::Value * copied, copy(*operand, name));
      operands.push_back(copied);
    }
    llvm::Instruction* const made = instruction->clone();
    for (unsigned i = 0; i < operands.size(); ++i) made->setOperand(i, operands[i]);
    made->setDebugLoc({});
    builder_.Insert(made);
    return copies_[&value] = made;
  }

  PassContext& context_;
  llvm::Module& module_;
  llvm::IRBuilder<> builder_{context_.module.getContext()};
  llvm::Function* constructor_ = nullptr;
  std::vector<llvm::GlobalValue*> variables_;
  std::map<llvm::Value*, llvm::Value*> copies_;
  std::map<std::string, llvm::MDNode*, std::less<>> rows_;
};

}  // namespace

Result<std::map<std::string, llvm::MDNode*, std::less<>>> make_predicates(PassContext& context) {
  return PredicateMaker(context).make();
}

}  // namespace smelt::aot::air
