// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Accesses of lanes whose index has wrapped round, which is where guards (docs/design/cpu-lanes.md 3, step 9) lead. It
// hardly ever happens, but each access has code for it: a call, of which the arguments are all that is written in
// place.
#include "lanes/access.hpp"

#include "llvm/ADT/MapVector.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Operator.h"

#include <optional>

namespace smelt::aot::cpu::lanes {
namespace {

constexpr int64_t kMostFactor = int64_t{1} << 31;  // so that no sum of products wraps

/// Reads an address as WrappingIndex has it.
class WrappingAddress {
 public:
  explicit WrappingAddress(GangContext& gang) : gang_(gang) {}

  bool read(llvm::Value* pointer) {
    while (!gang_.guards(pointer).empty()) {
      auto* step = llvm::dyn_cast<llvm::GEPOperator>(pointer);
      if (step == nullptr) return false;
      llvm::MapVector<llvm::Value*, llvm::APInt> indices;
      llvm::APInt constant(64, 0);
      if (gang_.layout.getIndexTypeSizeInBits(pointer->getType()) != 64 ||
          !step->collectOffset(gang_.layout, 64, indices, constant))
        return false;
      for (const auto& [value, scale] : indices)
        if (!value->getType()->isIntegerTy(64) || !add(value, scale.getSExtValue())) return false;
      pointer = step->getPointerOperand();
    }
    return add_lanes(pointer, 1) && narrow_ != nullptr && gang_.scalar(narrow_) != nullptr;
  }

  llvm::Value* narrow() const { return narrow_; }
  const WrappingIndex& index() const { return index_; }

 private:
  /// `value` * `factor` is part of the address.
  bool add(llvm::Value* value, int64_t factor) {
    if (factor <= -kMostFactor || factor >= kMostFactor) return false;
    if (gang_.guards(value).empty()) return add_lanes(value, factor);
    auto* const instruction = llvm::dyn_cast<llvm::Instruction>(value);
    if (instruction == nullptr) return false;
    llvm::Value* const left = instruction->getOperand(0);
    const auto* number =
        instruction->getNumOperands() == 2 ? llvm::dyn_cast<llvm::ConstantInt>(instruction->getOperand(1)) : nullptr;
    switch (instruction->getOpcode()) {
      case llvm::Instruction::ZExt:
      case llvm::Instruction::SExt:
        return add_widened(left, llvm::isa<llvm::SExtInst>(instruction), factor);
      case llvm::Instruction::Add:
        return add(left, factor) && add(instruction->getOperand(1), factor);
      case llvm::Instruction::Sub:
        return add(left, factor) && add(instruction->getOperand(1), -factor);
      case llvm::Instruction::Mul:
        return number != nullptr && number->getValue().isSignedIntN(32) && add(left, factor * number->getSExtValue());
      case llvm::Instruction::Shl:
        return number != nullptr && number->getValue().ult(31) && add(left, factor << number->getZExtValue());
      default:
        return false;
    }
  }

  bool add_widened(llvm::Value* narrow, bool is_signed, int64_t factor) {
    const Shape shape = gang_.shape(narrow);
    if (!shape.is_linear() || shape.guarded || !gang_.guards(narrow).empty()) return false;
    if (narrow_ != nullptr && (narrow != narrow_ || is_signed != index_.is_signed)) return false;
    narrow_ = narrow;
    index_.bits = narrow->getType()->getIntegerBitWidth();
    index_.is_signed = is_signed;
    index_.step = shape.step;
    index_.scale += factor;
    return true;
  }

  bool add_lanes(llvm::Value* value, int64_t factor) {
    const Shape shape = gang_.shape(value);
    if (shape.is_uniform()) return true;
    if (!shape.is_linear() || shape.guarded || shape.step <= -kMostFactor || shape.step >= kMostFactor) return false;
    index_.apart += factor * shape.step;
    return true;
  }

  GangContext& gang_;
  llvm::Value* narrow_ = nullptr;
  WrappingIndex index_;
};

/// Describes the move that the access makes, one lane after another. Returns none if a lane's value is not an array of
/// elements.
std::optional<Move> wrapped_move(const GangContext& gang, const Access& access) {
  if (!access.layout.is_array || access.layout.fields.front().type->isIntegerTy(1)) return std::nullopt;
  return Move{static_cast<unsigned>(8 * access.layout.element_bytes),
              static_cast<unsigned>(access.layout.fields.size()), 0, gang.options.lanes, false};
}

llvm::SmallVector<llvm::Value*, 3> arguments_of(GangContext& gang, const Access& access, llvm::Value* rows) {
  llvm::IRBuilder<>& builder = gang.builder;
  return {builder.CreateAddrSpaceCast(gang.scalar(access.pointer), builder.getPtrTy()), rows,
          builder.CreateZExt(gang.bits(gang.mask()), builder.getInt32Ty())};
}

}  // namespace

Parts load_where_lanes_wrap(GangContext& gang, const Access& access, llvm::function_ref<Parts()> otherwise) {
  const std::optional<Move> move = wrapped_move(gang, access);
  WrappingAddress address(gang);
  if (!move || !address.read(access.pointer)) return otherwise();
  llvm::AllocaInst* rows = rows_of(gang, *move);
  call_wrapping_load(gang.builder, *move, address.index(), arguments_of(gang, access, rows),
                     gang.scalar(address.narrow()));
  return load_moved_rows(gang, access, *move, rows);
}

void store_where_lanes_wrap(GangContext& gang, const Access& access, const Parts& values,
                            llvm::function_ref<void()> otherwise) {
  const std::optional<Move> move = wrapped_move(gang, access);
  WrappingAddress address(gang);
  if (!move || !address.read(access.pointer)) return otherwise();
  llvm::AllocaInst* rows = rows_of(gang, *move);
  store_rows(gang, *move, values, rows);
  call_wrapping_store(gang.builder, *move, address.index(), arguments_of(gang, access, rows),
                      gang.scalar(address.narrow()));
}

}  // namespace smelt::aot::cpu::lanes
