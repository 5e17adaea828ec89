// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integers of other widths than 1, 8, 16, 32 and 64 do not exist in AIR. Each becomes the next wider one that does
// (above 64: the next multiple of 64, which split_values takes apart). The added upper bits hold anything; where an
// operation looks at them, they are made zero or sign first:
//
//   add sub mul and or xor shl        do not look
//   lshr udiv urem icmp(eq, u*)       zero     zext, store, switch, ... likewise
//   ashr sdiv srem icmp(s*) sext      sign
//
// Memory keeps its bytes: an i24 is loaded as i16 and i8.
#include "legalise/support.hpp"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Local.h"

namespace smelt::aot::air {
namespace {

using llvm::Instruction;

bool is_odd_width(unsigned bits) {
  if (bits > 64) return bits % 64 != 0;
  return bits != 1 && bits != 8 && bits != 16 && bits != 32 && bits != 64;
}

bool is_odd(const llvm::Type* type) {
  const llvm::Type* const scalar = type->getScalarType();
  return scalar->isIntegerTy() && is_odd_width(scalar->getIntegerBitWidth());
}

unsigned wide_width(unsigned bits) {
  for (const unsigned width : {8u, 16u, 32u, 64u})
    if (bits <= width) return width;
  return (bits + 63) / 64 * 64;
}

llvm::Type* wide(llvm::Type* type) {
  if (!is_odd(type)) return type;
  const unsigned bits = wide_width(type->getScalarSizeInBits());
  return type->getWithNewType(llvm::Type::getIntNTy(type->getContext(), bits));
}

class Widening {
 public:
  explicit Widening(llvm::Function& function) : function_(function) {}
  Result<void> run();

 private:
  using Builder = llvm::IRBuilder<>;

  llvm::Value* get(llvm::Value* value) {
    if (!is_odd(value->getType())) return value;
    if (const auto found = values_.find(value); found != values_.end()) return found->second;
    if (auto* constant = llvm::dyn_cast<llvm::Constant>(value)) return widen(constant);
    return nullptr;  // an argument: inline_helpers leaves none
  }
  static llvm::Constant* widen(llvm::Constant* constant) {
    llvm::Type* const type = wide(constant->getType());
    if (llvm::isa<llvm::PoisonValue>(constant)) return llvm::PoisonValue::get(type);
    if (llvm::isa<llvm::UndefValue>(constant)) return llvm::UndefValue::get(type);
    return llvm::ConstantFoldCastInstruction(Instruction::ZExt, constant, type);
  }
  llvm::Value* zero_extended(Builder& builder, llvm::Value* value) {
    llvm::Value* const now = get(value);
    if (!is_odd(value->getType())) return now;
    const unsigned bits = value->getType()->getScalarSizeInBits();
    const llvm::APInt mask = llvm::APInt::getLowBitsSet(now->getType()->getScalarSizeInBits(), bits);
    return builder.CreateAnd(now, llvm::ConstantInt::get(now->getType(), mask));
  }
  llvm::Value* sign_extended(Builder& builder, llvm::Value* value) {
    llvm::Value* const now = get(value);
    if (!is_odd(value->getType())) return now;
    const unsigned shift = now->getType()->getScalarSizeInBits() - value->getType()->getScalarSizeInBits();
    return builder.CreateAShr(builder.CreateShl(now, shift), shift);
  }

  Result<llvm::Value*> rewrite(Builder& builder, Instruction& instruction);
  llvm::Value* binary(Builder& builder, llvm::BinaryOperator& operation);
  Result<llvm::Value*> bitcast(Builder& builder, llvm::BitCastInst& cast);
  llvm::Value* load(Builder& builder, llvm::LoadInst& load);
  void store(Builder& builder, llvm::StoreInst& store);
  void rewrite_switch(Builder& builder, llvm::SwitchInst& branch);

  llvm::Function& function_;
  llvm::DenseMap<llvm::Value*, llvm::Value*> values_;
  std::vector<std::pair<llvm::PHINode*, llvm::PHINode*>> phis_;
};

bool involves_odd(const Instruction& instruction) {
  if (is_odd(instruction.getType())) return true;
  return llvm::any_of(instruction.operands(), [](const llvm::Use& use) { return is_odd(use->getType()); });
}

llvm::Value* Widening::binary(Builder& builder, llvm::BinaryOperator& operation) {
  llvm::Value* const x = operation.getOperand(0);
  llvm::Value* const y = operation.getOperand(1);
  const auto build = [&](llvm::Value* left, llvm::Value* right) {
    return builder.CreateBinOp(operation.getOpcode(), left, right);
  };
  switch (operation.getOpcode()) {
    case Instruction::Shl:
      return build(get(x), zero_extended(builder, y));
    case Instruction::LShr:
    case Instruction::UDiv:
    case Instruction::URem:
      return build(zero_extended(builder, x), zero_extended(builder, y));
    case Instruction::AShr:
      return build(sign_extended(builder, x), zero_extended(builder, y));
    case Instruction::SDiv:
    case Instruction::SRem:
      return build(sign_extended(builder, x), sign_extended(builder, y));
    default:
      return build(get(x), get(y));
  }
}

/// Between an odd integer and a vector: lane 0 is the lowest bits.
Result<llvm::Value*> Widening::bitcast(Builder& builder, llvm::BitCastInst& cast) {
  llvm::Value* const source = cast.getOperand(0);
  const auto* from = llvm::dyn_cast<llvm::FixedVectorType>(source->getType());
  const auto* to = llvm::dyn_cast<llvm::FixedVectorType>(cast.getType());
  if ((from && to) || (!from && !to)) return refuse(cast, "no AIR form of this bitcast");
  const auto* vector = from ? from : to;
  const unsigned lane_bits = vector->getScalarSizeInBits();
  if (is_odd_width(lane_bits) || vector->getElementType()->isPointerTy())
    return refuse(cast, "no AIR form of this bitcast");
  llvm::Type* const lane_integer = builder.getIntNTy(lane_bits);
  if (from) {
    llvm::Type* const type = wide(cast.getType());
    llvm::Value* bits = nullptr;
    for (unsigned i = 0; i < from->getNumElements(); ++i) {
      llvm::Value* lane = builder.CreateExtractElement(source, builder.getInt64(i));
      lane = builder.CreateZExt(builder.CreateBitCast(lane, lane_integer), type);
      if (i != 0) lane = builder.CreateShl(lane, i * lane_bits);
      bits = bits ? builder.CreateOr(bits, lane) : lane;
    }
    return bits;
  }
  llvm::Value* const bits = get(source);
  llvm::Value* result = llvm::PoisonValue::get(cast.getType());
  for (unsigned i = 0; i < to->getNumElements(); ++i) {
    llvm::Value* lane = i == 0 ? bits : builder.CreateLShr(bits, i * lane_bits);
    lane = builder.CreateBitCast(builder.CreateTrunc(lane, lane_integer), to->getElementType());
    result = builder.CreateInsertElement(result, lane, builder.getInt64(i));
  }
  return result;
}

/// The bytes of an odd integer in pieces that are powers of two: (offset, bytes).
std::vector<std::pair<uint64_t, uint64_t>> memory_pieces(uint64_t bytes) {
  std::vector<std::pair<uint64_t, uint64_t>> pieces;
  for (uint64_t at = 0; at < bytes;) {
    uint64_t size = 8;
    while (size > bytes - at) size /= 2;
    pieces.emplace_back(at, size);
    at += size;
  }
  return pieces;
}

llvm::Value* Widening::load(Builder& builder, llvm::LoadInst& load) {
  const uint64_t bytes = load.getModule()->getDataLayout().getTypeStoreSize(load.getType());
  llvm::Type* const type = wide(load.getType());
  llvm::Value* whole = nullptr;
  for (const auto& [at, size] : memory_pieces(bytes)) {
    llvm::Value* place = at == 0
                             ? load.getPointerOperand()
                             : builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), load.getPointerOperand(), at);
    llvm::Value* piece = builder.CreateAlignedLoad(builder.getIntNTy(static_cast<unsigned>(size * 8)), place,
                                                   llvm::commonAlignment(load.getAlign(), at), load.isVolatile());
    piece = builder.CreateZExt(piece, type);
    if (at != 0) piece = builder.CreateShl(piece, at * 8);
    whole = whole ? builder.CreateOr(whole, piece) : piece;
  }
  return whole;
}

void Widening::store(Builder& builder, llvm::StoreInst& store) {
  llvm::Value* const value = zero_extended(builder, store.getValueOperand());
  const uint64_t bytes = store.getModule()->getDataLayout().getTypeStoreSize(store.getValueOperand()->getType());
  for (const auto& [at, size] : memory_pieces(bytes)) {
    llvm::Value* place = at == 0
                             ? store.getPointerOperand()
                             : builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), store.getPointerOperand(), at);
    llvm::Value* piece = at == 0 ? value : builder.CreateLShr(value, at * 8);
    piece = builder.CreateTrunc(piece, builder.getIntNTy(static_cast<unsigned>(size * 8)));
    builder.CreateAlignedStore(piece, place, llvm::commonAlignment(store.getAlign(), at), store.isVolatile());
  }
}

void Widening::rewrite_switch(Builder& builder, llvm::SwitchInst& branch) {
  llvm::Value* const condition = zero_extended(builder, branch.getCondition());
  llvm::SwitchInst* made = builder.CreateSwitch(condition, branch.getDefaultDest(), branch.getNumCases());
  for (const auto& one : branch.cases())
    made->addCase(llvm::cast<llvm::ConstantInt>(widen(one.getCaseValue())), one.getCaseSuccessor());
}

Result<llvm::Value*> Widening::rewrite(Builder& builder, Instruction& instruction) {
  llvm::Type* const type = wide(instruction.getType());
  llvm::Value* const first = instruction.getNumOperands() > 0 ? instruction.getOperand(0) : nullptr;
  const auto lanes_index = [&](unsigned operand) { return zero_extended(builder, instruction.getOperand(operand)); };
  if (auto* operation = llvm::dyn_cast<llvm::BinaryOperator>(&instruction)) return binary(builder, *operation);
  switch (instruction.getOpcode()) {
    case Instruction::ICmp: {
      auto& compare = llvm::cast<llvm::ICmpInst>(instruction);
      const bool is_signed = compare.isSigned();
      const auto side = [&](unsigned i) {
        return is_signed ? sign_extended(builder, compare.getOperand(i))
                         : zero_extended(builder, compare.getOperand(i));
      };
      return builder.CreateICmp(compare.getPredicate(), side(0), side(1));
    }
    case Instruction::Select:
      return builder.CreateSelect(first, get(instruction.getOperand(1)), get(instruction.getOperand(2)));
    case Instruction::Freeze:
      return builder.CreateFreeze(get(first));
    case Instruction::PHI: {
      llvm::PHINode* made = builder.CreatePHI(type, llvm::cast<llvm::PHINode>(instruction).getNumIncomingValues());
      phis_.emplace_back(llvm::cast<llvm::PHINode>(&instruction), made);
      return made;
    }
    case Instruction::Trunc:
      return builder.CreateZExtOrTrunc(get(first), type);
    case Instruction::ZExt:
      return builder.CreateZExtOrTrunc(zero_extended(builder, first), type);
    case Instruction::SExt:
      return builder.CreateSExtOrTrunc(sign_extended(builder, first), type);
    case Instruction::UIToFP:
      return builder.CreateUIToFP(zero_extended(builder, first), type);
    case Instruction::SIToFP:
      return builder.CreateSIToFP(sign_extended(builder, first), type);
    case Instruction::FPToUI:
      return builder.CreateFPToUI(first, type);
    case Instruction::FPToSI:
      return builder.CreateFPToSI(first, type);
    case Instruction::PtrToInt:
      return builder.CreatePtrToInt(first, type);
    case Instruction::IntToPtr:
      return builder.CreateIntToPtr(zero_extended(builder, first), type);
    case Instruction::BitCast:
      return bitcast(builder, llvm::cast<llvm::BitCastInst>(instruction));
    case Instruction::Load:
      return load(builder, llvm::cast<llvm::LoadInst>(instruction));
    case Instruction::Store:
      store(builder, llvm::cast<llvm::StoreInst>(instruction));
      return nullptr;
    case Instruction::Switch:
      rewrite_switch(builder, llvm::cast<llvm::SwitchInst>(instruction));
      return nullptr;
    case Instruction::ExtractElement:
      return builder.CreateExtractElement(get(first), lanes_index(1));
    case Instruction::InsertElement:
      return builder.CreateInsertElement(get(first), get(instruction.getOperand(1)), lanes_index(2));
    case Instruction::ShuffleVector:
      return builder.CreateShuffleVector(get(first), get(instruction.getOperand(1)),
                                         llvm::cast<llvm::ShuffleVectorInst>(instruction).getShuffleMask());
    case Instruction::GetElementPtr: {
      auto& gep = llvm::cast<llvm::GetElementPtrInst>(instruction);
      llvm::SmallVector<llvm::Value*, 4> indices;
      for (const llvm::Use& index : gep.indices()) indices.push_back(sign_extended(builder, index.get()));
      return builder.CreateGEP(gep.getSourceElementType(), gep.getPointerOperand(), indices, "", gep.getNoWrapFlags());
    }
    default:
      return refuse(instruction, "no AIR form of this operation on {}", text_of(*instruction.getType()));
  }
}

Result<void> Widening::run() {
  std::vector<Instruction*> old;
  llvm::ReversePostOrderTraversal<llvm::Function*> order(&function_);
  for (llvm::BasicBlock* block : order)
    for (Instruction& instruction : *block)
      if (involves_odd(instruction)) old.push_back(&instruction);
  for (Instruction* instruction : old) {
    Builder builder(instruction);
    SMELT_TRY(llvm::Value* const made, rewrite(builder, *instruction));
    if (made && is_odd(instruction->getType()))
      values_[instruction] = made;
    else if (made)
      instruction->replaceAllUsesWith(made);
  }
  for (const auto& [before, after] : phis_)
    for (unsigned i = 0; i < before->getNumIncomingValues(); ++i)
      after->addIncoming(get(before->getIncomingValue(i)), before->getIncomingBlock(i));
  for (Instruction* instruction : llvm::reverse(old)) {
    if (!instruction->use_empty()) instruction->replaceAllUsesWith(llvm::PoisonValue::get(instruction->getType()));
    instruction->eraseFromParent();
  }
  return {};
}

}  // namespace

Result<void> odd_integers(PassContext& context) {
  for (llvm::Function& function : context.module) {
    if (function.isDeclaration()) continue;
    llvm::removeUnreachableBlocks(function);
    SMELT_TRY_VOID(Widening(function).run());
  }
  return {};
}

}  // namespace smelt::aot::air
