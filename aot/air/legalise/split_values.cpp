// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values without an AIR type are taken apart (docs/formats/air.md 3.5): vectors of more than four lanes into fours, <1
// x T> and vectors of pointers into scalars, structs and arrays into their members, i128 into 64-bit words. Each
// instruction on such a value becomes one instruction per piece; loads and stores become one per piece at its offset.
//
//   %v = load <8 x half>, ptr AS1 %p       ->   %v0 = load <4 x half>, ptr AS1 %p
//   %w = fadd <8 x half> %v, %u                 %v1 = load <4 x half>, ptr AS1 %p + 8
//                                               %w0 = fadd <4 x half> %v0, %u0      %w1 = fadd <4 x half> %v1, %u1
//
// <64 x half>, <64 x bfloat> and <64 x float> are simdgroup matrices and stay. Runs behind odd_integers and
// plain_memory.
#include "legalise/split_values.hpp"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Local.h"

namespace smelt::aot::air {
namespace {

using llvm::Instruction;

bool is_matrix(const llvm::FixedVectorType& vector) {
  return vector.getNumElements() == 64 && vector.getElementType()->isFloatingPointTy();
}

void append_pieces(llvm::Type* type, const llvm::DataLayout& layout, uint64_t offset,
                   llvm::SmallVectorImpl<Piece>& out) {
  if (auto* record = llvm::dyn_cast<llvm::StructType>(type)) {
    const llvm::StructLayout* places = layout.getStructLayout(record);
    for (unsigned i = 0; i < record->getNumElements(); ++i)
      append_pieces(record->getElementType(i), layout, offset + places->getElementOffset(i), out);
    return;
  }
  if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type)) {
    const uint64_t stride = layout.getTypeAllocSize(array->getElementType());
    for (uint64_t i = 0; i < array->getNumElements(); ++i)
      append_pieces(array->getElementType(), layout, offset + i * stride, out);
    return;
  }
  if (is_wide_integer(type)) {
    for (unsigned word = 0; word < type->getIntegerBitWidth() / 64; ++word)
      out.push_back({llvm::Type::getInt64Ty(type->getContext()), offset + word * 8});
    return;
  }
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  if (!vector || is_matrix(*vector)) {
    out.push_back({type, offset});
    return;
  }
  llvm::Type* const element = vector->getElementType();
  const unsigned lanes = vector->getNumElements();
  const uint64_t bytes = element->isPointerTy() ? 8 : element->getScalarSizeInBits() / 8;
  if (element->isPointerTy() || is_wide_integer(element)) {
    for (unsigned i = 0; i < lanes; ++i) append_pieces(element, layout, offset + i * bytes, out);
    return;
  }
  for (unsigned at = 0; at < lanes; at += 4) {
    const unsigned count = std::min(4u, lanes - at);
    llvm::Type* const part = count == 1 ? element : llvm::FixedVectorType::get(element, count);
    out.push_back({part, offset + at * bytes});
  }
}

/// What AIR's functions return as it is: a structure, member by member.
bool is_whole_result(llvm::Type* type) {
  if (!type->isAggregateType()) return !must_split(type);
  return llvm::all_of(type->subtypes(), is_whole_result);
}

/// One value of its pieces from `next` on, which ends behind them.
llvm::Value* joined(llvm::IRBuilderBase& builder, llvm::Type* type, llvm::ArrayRef<llvm::Value*> parts, size_t& next) {
  if (!type->isAggregateType()) return parts[next++];
  llvm::Value* all = llvm::PoisonValue::get(type);
  const uint64_t count = type->isStructTy() ? type->getStructNumElements() : type->getArrayNumElements();
  for (uint64_t i = 0; i < count; ++i) {
    llvm::Type* member = llvm::GetElementPtrInst::getTypeAtIndex(type, i);
    all = builder.CreateInsertValue(all, joined(builder, member, parts, next), static_cast<unsigned>(i));
  }
  return all;
}

/// The range of flat pieces that an index path names: (first, count).
std::pair<size_t, size_t> range_of(llvm::Type* type, llvm::ArrayRef<unsigned> path, const llvm::DataLayout& layout) {
  size_t first = 0;
  for (const unsigned index : path) {
    for (unsigned before = 0; before < index; ++before) {
      llvm::Type* const member = llvm::GetElementPtrInst::getTypeAtIndex(type, static_cast<uint64_t>(before));
      first += pieces_of(member, layout).size();
    }
    type = llvm::GetElementPtrInst::getTypeAtIndex(type, static_cast<uint64_t>(index));
  }
  return {first, pieces_of(type, layout).size()};
}

bool involves_split(const Instruction& instruction) {
  if (must_split(instruction.getType())) return true;
  return llvm::any_of(instruction.operands(), [](const llvm::Use& use) { return must_split(use->getType()); });
}

}  // namespace

bool is_wide_integer(const llvm::Type* type) {
  return type->isIntegerTy() && type->getIntegerBitWidth() > 64;
}

llvm::SmallVector<Piece, 8> pieces_of(llvm::Type* type, const llvm::DataLayout& layout) {
  llvm::SmallVector<Piece, 8> all;
  append_pieces(type, layout, 0, all);
  return all;
}

bool must_split(llvm::Type* type) {
  if (type->isAggregateType() || is_wide_integer(type)) return true;
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  if (!vector || is_matrix(*vector)) return false;
  const unsigned lanes = vector->getNumElements();
  return lanes == 1 || lanes > 4 || vector->getElementType()->isPointerTy() ||
         is_wide_integer(vector->getElementType());
}

Splitter::Pieces Splitter::constant_pieces(llvm::Constant* constant) {
  Pieces all;
  llvm::Type* const type = constant->getType();
  if (is_wide_integer(type)) {
    llvm::Type* const word = llvm::Type::getInt64Ty(type->getContext());
    const auto* integer = llvm::dyn_cast<llvm::ConstantInt>(constant);
    for (unsigned i = 0; i < type->getIntegerBitWidth() / 64; ++i)
      all.push_back(integer ? llvm::ConstantInt::get(word, integer->getValue().extractBitsAsZExtValue(64, i * 64))
                            : static_cast<llvm::Constant*>(llvm::UndefValue::get(word)));
    return all;
  }
  if (type->isAggregateType()) {
    const uint64_t count = type->isStructTy() ? type->getStructNumElements() : type->getArrayNumElements();
    for (uint64_t i = 0; i < count; ++i) all.append(pieces(constant->getAggregateElement(static_cast<unsigned>(i))));
    return all;
  }
  const unsigned lanes = llvm::cast<llvm::FixedVectorType>(type)->getNumElements();
  unsigned at = 0;
  for (const Piece& piece : pieces_of(type, layout_)) {
    const auto* part = llvm::dyn_cast<llvm::FixedVectorType>(piece.type);
    llvm::SmallVector<llvm::Constant*, 4> elements;
    for (unsigned i = 0; i < (part ? part->getNumElements() : 1) && at < lanes; ++i)
      elements.push_back(constant->getAggregateElement(at++));
    all.push_back(part ? llvm::ConstantVector::get(elements) : elements[0]);
  }
  return all;
}

Splitter::Pieces Splitter::pieces(llvm::Value* value) {
  if (!must_split(value->getType())) return {value};
  if (const auto found = pieces_.find(value); found != pieces_.end()) return found->second;
  if (auto* constant = llvm::dyn_cast<llvm::Constant>(value)) return constant_pieces(constant);
  return {};
}

Instruction* Splitter::same_operation(Instruction& instruction, llvm::ArrayRef<llvm::Value*> operands,
                                      llvm::Type* type) {
  if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) {
    llvm::Function* const callee = llvm::Intrinsic::getDeclaration(call->getModule(), call->getIntrinsicID(), {type});
    auto* made = llvm::CallInst::Create(callee, operands.drop_back());
    if (llvm::isa<llvm::FPMathOperator>(made)) made->copyFastMathFlags(call);
    return made;
  }
  if (auto* cast = llvm::dyn_cast<llvm::CastInst>(&instruction)) {
    auto* made = llvm::CastInst::Create(cast->getOpcode(), operands[0], type);
    made->copyIRFlags(cast);
    return made;
  }
  Instruction* made = instruction.clone();
  for (unsigned i = 0; i < operands.size(); ++i) made->setOperand(i, operands[i]);
  made->mutateType(type);
  return made;
}

/// A vector operation whose lanes do not meet: once per piece where all vectors are cut alike, else once per lane.
Result<Splitter::Pieces> Splitter::elementwise(Builder& builder, Instruction& instruction) {
  auto* type = llvm::cast<llvm::FixedVectorType>(instruction.getType());
  bool by_lane = type->getElementType()->isPointerTy() || is_wide_integer(type->getElementType());
  for (const llvm::Use& operand : instruction.operands()) {
    llvm::Type* const scalar_type = operand->getType()->getScalarType();
    if (operand->getType()->isVectorTy() && (scalar_type->isPointerTy() || is_wide_integer(scalar_type)))
      by_lane = true;
    if (is_wide_integer(scalar_type))
      return refuse(instruction, "vectors of {} have no AIR form", text_of(*scalar_type));
  }
  if (is_wide_integer(type->getElementType()))
    return refuse(instruction, "vectors of {} have no AIR form", text_of(*type->getElementType()));
  const auto add = [&](llvm::ArrayRef<llvm::Value*> operands, llvm::Type* part) {
    return builder.Insert(same_operation(instruction, operands, part));
  };
  llvm::SmallVector<llvm::Value*, 4> operands(instruction.operands());
  if (by_lane) {
    llvm::SmallVector<Lane, 16> lanes;
    for (unsigned i = 0; i < type->getNumElements(); ++i) {
      llvm::SmallVector<llvm::Value*, 4> now;
      for (llvm::Value* operand : operands)
        now.push_back(operand->getType()->isVectorTy() ? scalar(builder, lane_of(operand, i)) : operand);
      lanes.push_back({add(now, type->getElementType()), -1});
    }
    return build_all(builder, lanes, type);
  }
  llvm::SmallVector<Pieces, 4> parts;
  for (llvm::Value* operand : operands)
    parts.push_back(operand->getType()->isVectorTy() ? pieces(operand) : Pieces{operand});
  Pieces results;
  const auto cut = pieces_of(type, layout_);
  for (size_t i = 0; i < cut.size(); ++i) {
    llvm::SmallVector<llvm::Value*, 4> now;
    for (size_t operand = 0; operand < operands.size(); ++operand)
      now.push_back(operands[operand]->getType()->isVectorTy() ? parts[operand][i] : operands[operand]);
    results.push_back(add(now, cut[i].type));
  }
  return results;
}

/// select by a scalar and freeze, on whatever a value is made of.
Result<Splitter::Pieces> Splitter::piecewise(Builder& builder, Instruction& instruction) {
  Pieces results;
  if (llvm::isa<llvm::FreezeInst>(instruction)) {
    for (llvm::Value* part : pieces(instruction.getOperand(0))) results.push_back(builder.CreateFreeze(part));
    return results;
  }
  auto& select = llvm::cast<llvm::SelectInst>(instruction);
  const Pieces if_true = pieces(select.getTrueValue());
  const Pieces if_false = pieces(select.getFalseValue());
  for (size_t i = 0; i < if_true.size(); ++i)
    results.push_back(builder.CreateSelect(select.getCondition(), if_true[i], if_false[i]));
  return results;
}

Splitter::Pieces Splitter::load(Builder& builder, llvm::LoadInst& load) {
  Pieces results;
  llvm::Value* const base = load.getPointerOperand();
  for (const Piece& piece : pieces_of(load.getType(), layout_)) {
    llvm::Value* place =
        piece.offset == 0 ? base : builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), base, piece.offset);
    const bool is_bool = piece.type->isIntegerTy(1);
    llvm::Value* part =
        builder.CreateAlignedLoad(is_bool ? builder.getInt8Ty() : piece.type, place,
                                  llvm::commonAlignment(load.getAlign(), piece.offset), load.isVolatile());
    results.push_back(is_bool ? builder.CreateTrunc(part, piece.type) : part);
  }
  return results;
}

void Splitter::store(Builder& builder, llvm::StoreInst& store) {
  const Pieces parts = pieces(store.getValueOperand());
  const auto cut = pieces_of(store.getValueOperand()->getType(), layout_);
  llvm::Value* const base = store.getPointerOperand();
  for (size_t i = 0; i < cut.size(); ++i) {
    llvm::Value* place =
        cut[i].offset == 0 ? base : builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), base, cut[i].offset);
    llvm::Value* part = cut[i].type->isIntegerTy(1) ? builder.CreateZExt(parts[i], builder.getInt8Ty()) : parts[i];
    builder.CreateAlignedStore(part, place, llvm::commonAlignment(store.getAlign(), cut[i].offset), store.isVolatile());
  }
}

Splitter::Pieces Splitter::extract_value(llvm::ExtractValueInst& extract) {
  const Pieces whole = pieces(extract.getAggregateOperand());
  const auto [first, count] = range_of(extract.getAggregateOperand()->getType(), extract.getIndices(), layout_);
  return Pieces(whole.begin() + static_cast<ptrdiff_t>(first), whole.begin() + static_cast<ptrdiff_t>(first + count));
}

Splitter::Pieces Splitter::insert_value(llvm::InsertValueInst& insert) {
  Pieces whole = pieces(insert.getAggregateOperand());
  const Pieces part = pieces(insert.getInsertedValueOperand());
  const auto [first, count] = range_of(insert.getType(), insert.getIndices(), layout_);
  for (size_t i = 0; i < count; ++i) whole[first + i] = part[i];
  return whole;
}

void Splitter::give_back(Builder& builder, llvm::ReturnInst& instruction) {
  size_t next = 0;
  llvm::Value* const value = instruction.getReturnValue();
  builder.CreateRet(joined(builder, value->getType(), pieces(value), next));
}

/// The members of what a call answers, or of an argument, taken out one by one.
Splitter::Pieces Splitter::members(Builder& builder, llvm::Value* aggregate) {
  llvm::Type* const type = aggregate->getType();
  if (!must_split(type)) return {aggregate};
  if (!type->isAggregateType()) return {};
  Pieces all;
  const uint64_t count = type->isStructTy() ? type->getStructNumElements() : type->getArrayNumElements();
  for (uint64_t i = 0; i < count; ++i)
    all.append(members(builder, builder.CreateExtractValue(aggregate, static_cast<unsigned>(i))));
  return all;
}

Result<Splitter::Pieces> Splitter::call(Builder& builder, llvm::CallInst& call) {
  for (const llvm::Use& argument : call.args())
    if (must_split(argument->getType()) && !llvm::isa<llvm::IntrinsicInst>(call))
      return refuse(call, "passes {}, which AIR does not allow", text_of(*argument->getType()));
  if (auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&call)) {
    if (call.getType()->isVectorTy() && llvm::isTriviallyVectorizable(intrinsic->getIntrinsicID()))
      return elementwise(builder, call);
    return refuse(call, "'{}' on {} has no AIR form", call.getCalledFunction()->getName(), text_of(*call.getType()));
  }
  builder.SetInsertPoint(call.getNextNode());
  const Pieces all = members(builder, &call);
  if (all.empty() && must_split(call.getType()))
    return refuse(call, "gives {}, which AIR does not allow", text_of(*call.getType()));
  return all;
}

Result<Splitter::Pieces> Splitter::rewrite(Builder& builder, Instruction& instruction) {
  const auto none = [] { return Pieces{}; };
  switch (instruction.getOpcode()) {
    case Instruction::PHI: {
      Pieces made;
      for (const Piece& piece : pieces_of(instruction.getType(), layout_))
        made.push_back(builder.CreatePHI(piece.type, llvm::cast<llvm::PHINode>(instruction).getNumIncomingValues()));
      phis_.push_back(llvm::cast<llvm::PHINode>(&instruction));
      return made;
    }
    case Instruction::Load:
      return load(builder, llvm::cast<llvm::LoadInst>(instruction));
    case Instruction::Store:
      store(builder, llvm::cast<llvm::StoreInst>(instruction));
      return none();
    case Instruction::ExtractValue:
      return extract_value(llvm::cast<llvm::ExtractValueInst>(instruction));
    case Instruction::InsertValue:
      return insert_value(llvm::cast<llvm::InsertValueInst>(instruction));
    case Instruction::Call:
      return call(builder, llvm::cast<llvm::CallInst>(instruction));
    case Instruction::ShuffleVector:
      return shuffle(builder, llvm::cast<llvm::ShuffleVectorInst>(instruction));
    case Instruction::ExtractElement:
      return extract_element(builder, llvm::cast<llvm::ExtractElementInst>(instruction));
    case Instruction::InsertElement:
      return insert_element(builder, llvm::cast<llvm::InsertElementInst>(instruction));
    case Instruction::BitCast:
      return bitcast(builder, llvm::cast<llvm::BitCastInst>(instruction));
    case Instruction::Freeze:
      return piecewise(builder, instruction);
    case Instruction::Select:
      if (!instruction.getOperand(0)->getType()->isVectorTy()) return piecewise(builder, instruction);
      return elementwise(builder, instruction);
    case Instruction::Ret:
      if (!is_whole_result(instruction.getOperand(0)->getType()))
        return refuse(instruction, "returns {}, which AIR does not allow",
                      text_of(*instruction.getOperand(0)->getType()));
      give_back(builder, llvm::cast<llvm::ReturnInst>(instruction));
      return none();
    default:
      break;
  }
  if (is_wide_integer(instruction.getType()) ||
      (instruction.getNumOperands() > 0 && is_wide_integer(instruction.getOperand(0)->getType())))
    return wide_integer(builder, instruction);
  if (instruction.getType()->isVectorTy()) return elementwise(builder, instruction);
  return refuse(instruction, "no AIR form of this operation on {}", text_of(*instruction.getType()));
}

Result<void> Splitter::run() {
  std::vector<Instruction*> old;
  llvm::ReversePostOrderTraversal<llvm::Function*> order(&function_);
  for (llvm::BasicBlock* block : order)
    for (Instruction& instruction : *block)
      if (involves_split(instruction)) old.push_back(&instruction);
  // Those of a visible function, which its callers pass; inline_helpers leaves no other function with such a one.
  for (llvm::Argument& argument : function_.args()) {
    if (!must_split(argument.getType()) || argument.use_empty()) continue;
    Builder builder(&function_.getEntryBlock(), after_allocas(function_));
    pieces_[&argument] = members(builder, &argument);
  }
  std::vector<Instruction*> gone;
  for (Instruction* instruction : old) {
    Builder builder(instruction);
    SMELT_TRY(Pieces made, rewrite(builder, *instruction));
    const bool is_kept_call = llvm::isa<llvm::CallInst>(instruction) && !llvm::isa<llvm::IntrinsicInst>(instruction);
    if (!is_kept_call) gone.push_back(instruction);
    if (instruction->getType()->isVoidTy()) continue;
    if (must_split(instruction->getType()))
      pieces_[instruction] = std::move(made);
    else if (made.size() == 1 && made[0] != instruction)
      instruction->replaceAllUsesWith(made[0]);
  }
  for (llvm::PHINode* phi : phis_) {
    const Pieces made = pieces_[phi];
    for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i) {
      const Pieces incoming = pieces(phi->getIncomingValue(i));
      for (size_t piece = 0; piece < made.size(); ++piece)
        llvm::cast<llvm::PHINode>(made[piece])->addIncoming(incoming[piece], phi->getIncomingBlock(i));
    }
  }
  for (Instruction* instruction : llvm::reverse(gone)) {
    if (!instruction->use_empty()) instruction->replaceAllUsesWith(llvm::PoisonValue::get(instruction->getType()));
    instruction->eraseFromParent();
  }
  return {};
}

Result<void> split_values(PassContext& context) {
  for (llvm::Function& function : context.module) {
    if (function.isDeclaration()) continue;
    llvm::removeUnreachableBlocks(function);
    SMELT_TRY_VOID(Splitter(function).run());
  }
  for (Instruction* instruction : instructions_of(context.module))
    if (llvm::isInstructionTriviallyDead(instruction)) instruction->eraseFromParent();
  return {};
}

}  // namespace smelt::aot::air
