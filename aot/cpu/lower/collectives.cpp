// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/collectives.hpp"

#include "lower/air_name.hpp"
#include "lower/operation.hpp"
#include "runtime/runtime.hpp"

#include "llvm/IR/Intrinsics.h"

namespace smelt::aot::cpu {
namespace {

using llvm::Value;
using Kind = CollectiveKind;

bool takes_type(Kind kind) {
  return kind <= Kind::fill_down;
}

std::optional<Collective> parse_group_operation(const AirName& name, Kind kind) {
  Collective result;
  result.kind = kind;
  result.group_width = static_cast<uint8_t>(name.operation.starts_with("quad_") ? kQuadWidth : kSimdWidth);
  if (takes_type(kind)) {
    const auto type = parse_trailing_type(name);
    if (!type || type->components > 4) return std::nullopt;
    result.element = type->element;
    result.components = type->components;
    const bool bitwise = kind >= Kind::bit_and && kind <= Kind::bit_xor;
    if (bitwise && type->element.is_float()) return std::nullopt;
  }
  return result;
}

std::optional<Collective> parse_matrix(const AirName& name, Kind kind) {
  Collective result;
  result.kind = kind;
  result.components = 64;
  const auto matrix_type = [&](size_t part) -> std::optional<Element> {
    const auto type = parse_operand_type({}, name.part(part));
    if (!type || type->components != 64 || !type->element.is_float()) return std::nullopt;
    return type->element;
  };
  const auto element = matrix_type(0);
  if (!element) return std::nullopt;
  result.element = *element;
  if (kind != Kind::matrix_multiply_accumulate) return result;
  for (size_t i = 0; i < 3; ++i) {
    const auto operand = matrix_type(i + 1);
    if (!operand) return std::nullopt;
    result.operands[i] = *operand;
  }
  return result;
}

Collective of_kind(Kind kind) {
  Collective result;
  result.kind = kind;
  return result;
}

}  // namespace

std::optional<Collective> parse_collective(std::string_view text) {
  llvm::StringRef trimmed(text.data(), text.size());
  for (const Kind kind : {Kind::tensor_product, Kind::tensor_reduce})
    if (llvm::StringRef rest = trimmed; rest.consume_front("smelt.") && rest == llvm::StringRef(*tensor_function(kind)))
      return of_kind(kind);
  trimmed.consume_back(".lane");  // narrowed matrices, see work_item/work_item.hpp
  const auto name = parse_air_name(trimmed);
  if (!name || name->fast) return std::nullopt;
  const NameAnswers* const answers = find_answers(*name);
  if (answers == nullptr || answers->answer->kind != CpuAnswer::Kind::collective) return std::nullopt;
  const Kind kind = answers->answer->collective;
  if (is_matrix(kind)) return parse_matrix(*name, kind);
  if (kind <= Kind::active_threads_mask) return parse_group_operation(*name, kind);
  return of_kind(kind);
}

std::optional<std::string_view> tensor_function(Kind kind) {
  if (kind == Kind::tensor_product) return "tensor_product";
  if (kind == Kind::tensor_reduce) return "tensor_reduce";
  return std::nullopt;
}

bool is_reduction(Kind kind) {
  return kind <= Kind::bit_xor;
}
bool is_prefix(Kind kind) {
  return kind >= Kind::prefix_inclusive_sum && kind <= Kind::prefix_exclusive_product;
}
bool is_lane_move(Kind kind) {
  return kind >= Kind::broadcast_first && kind <= Kind::fill_down;
}
bool is_matrix(Kind kind) {
  return kind >= Kind::matrix_load && kind <= Kind::matrix_diagonal;
}

Value* emit_widen(llvm::IRBuilderBase& builder, const Collective&, Value* value) {
  return is_small_float(value->getType()) ? emit_to_float(builder, value) : value;
}
Value* emit_narrow(llvm::IRBuilderBase& builder, const Collective& collective, Value* value) {
  if (collective.element.kind != ElementKind::half && collective.element.kind != ElementKind::bfloat) return value;
  const bool half = collective.element.kind == ElementKind::half;
  llvm::Type* element = half ? builder.getHalfTy() : builder.getBFloatTy();
  return emit_from_float(builder, value, with_element(value->getType(), element));
}

llvm::Constant* identity(const Collective& collective, llvm::Type* widened) {
  const bool is_float = collective.element.is_float();
  const bool is_signed = collective.element.kind == ElementKind::signed_integer;
  const unsigned bits = widened->getScalarSizeInBits();
  const auto integer = [&](const llvm::APInt& value) { return llvm::ConstantInt::get(widened, value); };
  switch (collective.kind) {
    case Kind::product:
    case Kind::prefix_inclusive_product:
    case Kind::prefix_exclusive_product:
      return is_float ? llvm::ConstantFP::get(widened, 1.0) : llvm::ConstantInt::get(widened, 1);
    case Kind::minimum:
      if (is_float) return llvm::ConstantFP::getNaN(widened);
      return integer(is_signed ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getMaxValue(bits));
    case Kind::maximum:
      if (is_float) return llvm::ConstantFP::getNaN(widened);
      return integer(is_signed ? llvm::APInt::getSignedMinValue(bits) : llvm::APInt::getMinValue(bits));
    case Kind::bit_and:
      return llvm::Constant::getAllOnesValue(widened);
    case Kind::sum:
    case Kind::prefix_inclusive_sum:
      // Adding -0 leaves every float as it is, -0 too. An exclusive sum begins with +0, so no lane of it gets -0.
      if (is_float) return llvm::ConstantFP::getZero(widened, /*Negative=*/true);
      return llvm::Constant::getNullValue(widened);
    default:
      return llvm::Constant::getNullValue(widened);
  }
}

Value* emit_combine(llvm::IRBuilderBase& b, const Collective& collective, Value* left, Value* right) {
  const bool is_float = collective.element.is_float();
  const bool is_signed = collective.element.kind == ElementKind::signed_integer;
  const llvm::IRBuilderBase::FastMathFlagGuard guard(b);
  llvm::FastMathFlags flags;
  flags.setAllowReassoc();
  flags.setAllowContract();
  b.setFastMathFlags(flags);
  switch (collective.kind) {
    case Kind::sum:
    case Kind::prefix_inclusive_sum:
    case Kind::prefix_exclusive_sum:
      return is_float ? b.CreateFAdd(left, right) : b.CreateAdd(left, right);
    case Kind::product:
    case Kind::prefix_inclusive_product:
    case Kind::prefix_exclusive_product:
      return is_float ? b.CreateFMul(left, right) : b.CreateMul(left, right);
    case Kind::minimum:
      b.clearFastMathFlags();
      if (is_float) return b.CreateBinaryIntrinsic(llvm::Intrinsic::minnum, left, right);
      return b.CreateBinaryIntrinsic(is_signed ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, left, right);
    case Kind::maximum:
      b.clearFastMathFlags();
      if (is_float) return b.CreateBinaryIntrinsic(llvm::Intrinsic::maxnum, left, right);
      return b.CreateBinaryIntrinsic(is_signed ? llvm::Intrinsic::smax : llvm::Intrinsic::umax, left, right);
    case Kind::bit_and:
      return b.CreateAnd(left, right);
    case Kind::bit_or:
      return b.CreateOr(left, right);
    case Kind::bit_xor:
      return b.CreateXor(left, right);
    default:
      return nullptr;  // not a reduction or prefix: the caller asked is_reduction, is_prefix
  }
}

SourceLane emit_source_lane(llvm::IRBuilderBase& b, const Collective& collective, Value* lane, Value* amount,
                            Value* modulo) {
  llvm::Type* type = lane->getType();
  const auto number = [&](uint64_t n) { return llvm::ConstantInt::get(type, n); };
  const auto as_lane = [&](Value* value) {
    value = b.CreateZExtOrTrunc(value, with_element(value->getType(), b.getInt32Ty()));
    const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
    return vector && !value->getType()->isVectorTy() ? b.CreateVectorSplat(vector->getNumElements(), value) : value;
  };
  const uint64_t width = collective.group_width;
  Value* mask = number(width - 1);
  Value* first = b.CreateAnd(lane, number(~uint64_t{width - 1} & 0xffffffff));  // of the group
  Value* position = b.CreateAnd(lane, mask);
  amount = as_lane(amount);
  SourceLane result;
  switch (collective.kind) {
    case Kind::shuffle_xor:
      result.index = b.CreateOr(first, b.CreateAnd(b.CreateXor(position, amount), mask));
      break;
    case Kind::shuffle_up: {
      Value* inside = b.CreateICmpULE(amount, position);
      result.index = b.CreateSelect(inside, b.CreateSub(lane, amount), lane);
      break;
    }
    case Kind::shuffle_down: {
      Value* inside = b.CreateICmpULT(amount, b.CreateSub(number(width), position));
      result.index = b.CreateSelect(inside, b.CreateAdd(lane, amount), lane);
      break;
    }
    case Kind::rotate_up:
      result.index = b.CreateOr(first, b.CreateAnd(b.CreateSub(position, amount), mask));
      break;
    case Kind::rotate_down:
      result.index = b.CreateOr(first, b.CreateAnd(b.CreateAdd(position, amount), mask));
      break;
    case Kind::fill_up:
    case Kind::fill_down: {
      // Parts of `modulo` lanes, a power of two, each filled from its own other end.
      Value* part_mask = modulo ? b.CreateAnd(b.CreateSub(as_lane(modulo), number(1)), mask) : mask;
      Value* in_part = b.CreateAnd(lane, part_mask);
      Value* start = b.CreateSub(lane, in_part);
      const bool up = collective.kind == Kind::fill_up;
      Value* moved = up ? b.CreateSub(in_part, amount) : b.CreateAdd(in_part, amount);
      result.index = b.CreateAdd(start, b.CreateAnd(moved, part_mask));
      result.from_fill = up ? b.CreateICmpUGT(amount, in_part) : b.CreateICmpUGT(moved, part_mask);
      break;
    }
    default:  // broadcast, shuffle: a lane past the group is undefined; wrapped, so that it is some lane
      result.index = b.CreateOr(first, b.CreateAnd(amount, mask));
      break;
  }
  return result;
}

Value* emit_async_copy(llvm::IRBuilderBase& b, const Collective& collective, llvm::ArrayRef<Value*> operands) {
  llvm::Module& module = *b.GetInsertBlock()->getModule();
  const bool flat = collective.kind == Kind::async_copy_1d;
  llvm::Function* copy = declare_runtime(module, flat ? "async_copy_1d" : "async_copy_2d");
  llvm::SmallVector<Value*, 16> arguments;
  for (Value* operand : operands) {
    if (operand->getType()->isPointerTy()) {
      arguments.push_back(b.CreateAddrSpaceCast(operand, b.getPtrTy()));
    } else if (operand->getType()->isVectorTy()) {  // (x, y)
      arguments.push_back(b.CreateExtractElement(operand, uint64_t{0}));
      arguments.push_back(b.CreateExtractElement(operand, uint64_t{1}));
    } else {
      arguments.push_back(operand);
    }
  }
  b.CreateCall(copy, arguments);
  return llvm::ConstantPointerNull::get(b.getPtrTy());
}

}  // namespace smelt::aot::cpu
