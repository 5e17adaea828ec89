// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "launch/matrices.hpp"

#include "lower/collectives.hpp"

#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/Local.h"

#include <map>

namespace smelt::aot::cpu {
namespace {

constexpr unsigned kMatrixElements = 64;
constexpr unsigned kOwnElements = 2;

bool is_matrix_value(const llvm::Type* type) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return vector != nullptr && vector->getNumElements() == kMatrixElements;
}

llvm::Type* narrow_type(llvm::Type* type) {
  return is_matrix_value(type) ? llvm::FixedVectorType::get(type->getScalarType(), kOwnElements) : type;
}

class Narrower {
 public:
  explicit Narrower(llvm::Function& function) : function_(function) {}

  Result<void> run() {
    llvm::SmallVector<llvm::Instruction*> touched;
    for (llvm::Instruction& instruction : llvm::instructions(function_))
      if (is_matrix_value(instruction.getType()) ||
          llvm::any_of(instruction.operands(), [](const llvm::Use& use) { return is_matrix_value(use->getType()); }))
        touched.push_back(&instruction);
    // Phis first: whatever order the rest comes in, its operands then have a narrow form or get one by recursion.
    for (llvm::Instruction* instruction : touched)
      if (auto* phi = llvm::dyn_cast<llvm::PHINode>(instruction)) {
        llvm::IRBuilder<> builder(phi);
        narrow_[phi] = builder.CreatePHI(narrow_type(phi->getType()), phi->getNumIncomingValues(), phi->getName());
      }
    for (llvm::Instruction* instruction : touched) SMELT_TRY_VOID(rewrite(*instruction));
    for (llvm::Instruction* instruction : touched)
      if (auto* phi = llvm::dyn_cast<llvm::PHINode>(instruction)) {
        auto* own = llvm::cast<llvm::PHINode>(narrow_[phi]);
        for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i) {
          SMELT_TRY(llvm::Value * value, narrowed(phi->getIncomingValue(i)));
          own->addIncoming(value, phi->getIncomingBlock(i));
        }
      }
    for (llvm::Instruction* instruction : touched) {
      instruction->dropAllReferences();
      if (!instruction->use_empty()) instruction->replaceAllUsesWith(llvm::PoisonValue::get(instruction->getType()));
    }
    for (llvm::Instruction* instruction : touched) instruction->eraseFromParent();
    return {};
  }

 private:
  Result<llvm::Value*> narrowed(llvm::Value* value) {
    if (!is_matrix_value(value->getType())) return value;
    if (auto* constant = llvm::dyn_cast<llvm::Constant>(value)) {
      llvm::SmallVector<llvm::Constant*> elements;
      for (unsigned i = 0; i < kOwnElements; ++i) {
        llvm::Constant* element = constant->getAggregateElement(i);
        if (element == nullptr)
          return fail(Errc::unsupported, "a matrix constant of a form that is not supported on the CPU");
        elements.push_back(element);
      }
      return llvm::ConstantVector::get(elements);
    }
    const auto known = narrow_.find(value);
    if (known != narrow_.end()) return known->second;
    auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
    if (instruction == nullptr) return fail(Errc::unsupported, "a matrix argument: not supported on the CPU");
    SMELT_TRY_VOID(rewrite(*instruction));
    return narrow_.at(value);
  }

  /// Makes the narrow form of `instruction` beside it; users that are not matrices move to it at once.
  Result<void> rewrite(llvm::Instruction& instruction) {
    if (narrow_.contains(&instruction)) return {};
    if (auto* shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(&instruction)) return rewrite_shuffle(*shuffle);
    if (auto* extract = llvm::dyn_cast<llvm::ExtractElementInst>(&instruction)) {
      const auto* index = llvm::dyn_cast<llvm::ConstantInt>(extract->getIndexOperand());
      if (index == nullptr) return refuse(instruction);
      SMELT_TRY(llvm::Value * from, narrowed(extract->getVectorOperand()));
      llvm::IRBuilder<> builder(extract);
      return replace(instruction, index->getZExtValue() < kOwnElements
                                      ? builder.CreateExtractElement(from, index->getZExtValue())
                                      : llvm::PoisonValue::get(extract->getType()));
    }
    if (auto* insert = llvm::dyn_cast<llvm::InsertElementInst>(&instruction)) {
      const auto* index = llvm::dyn_cast<llvm::ConstantInt>(insert->getOperand(2));
      if (index == nullptr) return refuse(instruction);
      SMELT_TRY(llvm::Value * into, narrowed(insert->getOperand(0)));
      llvm::IRBuilder<> builder(insert);
      return replace(instruction, index->getZExtValue() < kOwnElements
                                      ? builder.CreateInsertElement(into, insert->getOperand(1), index->getZExtValue())
                                      : into);
    }
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) return rewrite_call(*call);
    return rewrite_elementwise(instruction);
  }

  Result<void> rewrite_shuffle(llvm::ShuffleVectorInst& shuffle) {
    const bool from_matrix = is_matrix_value(shuffle.getOperand(0)->getType());
    const int width =
        from_matrix
            ? static_cast<int>(kMatrixElements)
            : static_cast<int>(llvm::cast<llvm::FixedVectorType>(shuffle.getOperand(0)->getType())->getNumElements());
    SMELT_TRY(llvm::Value * first, narrowed(shuffle.getOperand(0)));
    SMELT_TRY(llvm::Value * second, narrowed(shuffle.getOperand(1)));
    const size_t length = is_matrix_value(shuffle.getType()) ? kOwnElements : shuffle.getShuffleMask().size();
    const int own = from_matrix ? static_cast<int>(kOwnElements) : width;
    llvm::SmallVector<int> mask;
    for (size_t i = 0; i < length; ++i) {
      const int at = shuffle.getMaskValue(static_cast<unsigned>(i));
      if (at < 0)
        mask.push_back(-1);
      else if (at < width)
        mask.push_back(at < own ? at : -1);
      else
        mask.push_back(at - width < own ? own + at - width : -1);
    }
    llvm::IRBuilder<> builder(&shuffle);
    return replace(shuffle, builder.CreateShuffleVector(first, second, mask));
  }

  Result<void> rewrite_call(llvm::CallInst& call) {
    llvm::Function* callee = call.getCalledFunction();
    const bool known = callee != nullptr && (callee->isIntrinsic() || declarations_.contains(callee) ||
                                             parse_collective(callee->getName()).has_value());
    if (!known) return refuse(call);
    llvm::SmallVector<llvm::Value*> operands;
    llvm::SmallVector<llvm::Type*> types;
    for (llvm::Value* operand : call.args()) {
      SMELT_TRY(llvm::Value * value, narrowed(operand));
      operands.push_back(value);
      types.push_back(value->getType());
    }
    llvm::IRBuilder<> builder(&call);
    llvm::CallInst* made = nullptr;
    if (callee->isIntrinsic()) {
      made = builder.CreateIntrinsic(narrow_type(call.getType()), callee->getIntrinsicID(), operands);
      if (llvm::isa<llvm::FPMathOperator>(made)) made->copyFastMathFlags(&call);
    } else {
      auto* type = llvm::FunctionType::get(narrow_type(call.getType()), types, false);
      made = builder.CreateCall(narrow_declaration(*callee, type), operands);
      made->addFnAttr(llvm::Attribute::Convergent);
    }
    return replace(call, made);
  }

  /// The same name with the narrow type: the wide declaration steps aside.
  llvm::Function* narrow_declaration(llvm::Function& wide, llvm::FunctionType* type) {
    llvm::Function*& made = declarations_[&wide];
    if (made != nullptr) return made;
    const std::string name = wide.getName().str();
    wide.setName(name + ".wide");
    made = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name, function_.getParent());
    made->addFnAttr(llvm::Attribute::Convergent);
    made->addFnAttr(llvm::Attribute::NoMerge);
    return made;
  }

  Result<void> rewrite_elementwise(llvm::Instruction& instruction) {
    llvm::IRBuilder<> builder(&instruction);
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
      return replace(instruction, builder.CreateAlignedLoad(narrow_type(load->getType()), load->getPointerOperand(),
                                                            load->getAlign()));
    if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
      SMELT_TRY(llvm::Value * value, narrowed(store->getValueOperand()));
      builder.CreateAlignedStore(value, store->getPointerOperand(), store->getAlign());
      return {};
    }
    if (!llvm::isa<llvm::BinaryOperator, llvm::UnaryOperator, llvm::CastInst, llvm::SelectInst, llvm::CmpInst,
                   llvm::FreezeInst>(instruction) ||
        (llvm::isa<llvm::CastInst>(instruction) && !is_matrix_value(instruction.getType())))
      return refuse(instruction);
    llvm::SmallVector<llvm::Value*> operands;
    for (llvm::Value* operand : instruction.operands()) {
      SMELT_TRY(llvm::Value * value, narrowed(operand));
      operands.push_back(value);
    }
    llvm::Instruction* copy = instruction.clone();
    for (unsigned i = 0; i < operands.size(); ++i) copy->setOperand(i, operands[i]);
    copy->mutateType(narrow_type(instruction.getType()));
    copy->insertBefore(&instruction);
    return replace(instruction, copy);
  }

  Result<void> replace(llvm::Instruction& old, llvm::Value* value) {
    narrow_[&old] = value;
    if (!is_matrix_value(old.getType()) && !old.getType()->isVoidTy()) old.replaceAllUsesWith(value);
    return {};
  }

  static tl::unexpected<Error> refuse(const llvm::Instruction& instruction) {
    return fail(Errc::unsupported, "'{}' on a simdgroup matrix is not supported on the CPU",
                instruction.getOpcodeName());
  }

  llvm::Function& function_;
  std::map<llvm::Value*, llvm::Value*> narrow_;
  std::map<llvm::Function*, llvm::Function*> declarations_;
};

}  // namespace

Result<void> narrow_matrices(llvm::Function& function) {
  return Narrower(function).run();
}

}  // namespace smelt::aot::cpu
