// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lane operations on what they have no form for (docs/formats/air.md 3.8). Moving data needs no arithmetic, so it is
// done on parts:
//
//   i64         two u.i32 halves         bfloat   as u.i16
//   i1          as u.i8                  vectors of more than 4, or of i64: in pieces
//
// Sums and the like of bfloat go through float. Names say the type that they were asked for, e.g.
// air.simd_shuffle_xor.s.i64; what stays unknown after this is reported by version_gate.
#include "legalise/support.hpp"

#include "llvm/IR/Module.h"

namespace smelt::aot::air {
namespace {

constexpr std::string_view kMoves[] = {
    "shuffle",           "shuffle_xor",         "shuffle_up",          "shuffle_down",
    "shuffle_rotate_up", "shuffle_rotate_down", "shuffle_and_fill_up", "shuffle_and_fill_down",
    "broadcast",         "broadcast_first"};
constexpr std::string_view kReductions[] = {"sum",
                                            "product",
                                            "min",
                                            "max",
                                            "prefix_inclusive_sum",
                                            "prefix_exclusive_sum",
                                            "prefix_inclusive_product",
                                            "prefix_exclusive_product"};

/// "air.simd_shuffle_xor.s.i64": group "simd_", operation "shuffle_xor".
struct LaneCall {
  std::string group, operation;
  bool moves = false;
};

std::optional<LaneCall> read_name(llvm::StringRef name) {
  LaneCall call;
  if (!name.consume_front("air.")) return std::nullopt;
  for (const char* group : {"simd_", "quad_"})
    if (name.consume_front(group)) call.group = group;
  if (call.group.empty()) return std::nullopt;
  call.operation = name.take_until([](char c) { return c == '.'; }).str();
  call.moves = llvm::is_contained(kMoves, call.operation);
  if (!call.moves && !llvm::is_contained(kReductions, call.operation)) return std::nullopt;
  return call;
}

class Mover {
 public:
  Mover(llvm::IRBuilder<>& builder, PassContext& context, const LaneCall& call, llvm::CallBase& old)
      : builder_(builder), context_(context), call_(call), old_(old) {}

  /// The operation on `data` (one value, or two for the filling shuffles), with the old call's lane operands.
  Result<llvm::Value*> apply(llvm::ArrayRef<llvm::Value*> data) {
    llvm::Type* const type = data[0]->getType();
    if (const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type)) {
      const bool direct =
          vector->getNumElements() <= 4 && vector->getNumElements() > 1 && has_form(vector->getElementType());
      if (!direct) return in_lanes(data, *vector);
    }
    llvm::Type* const scalar = type->getScalarType();
    if (scalar->isBFloatTy() && !call_.moves) return through_float(data);
    if (scalar->isBFloatTy()) return as_bits(data, builder_.getInt16Ty());
    if (scalar->isIntegerTy(1)) return as_byte(data);
    if (scalar->isIntegerTy(64) && call_.moves) return in_halves(data);
    return emit(data);
  }

 private:
  static bool has_form(const llvm::Type* type) {
    return type->isFloatTy() || type->isHalfTy() || type->isIntegerTy(8) || type->isIntegerTy(16) ||
           type->isIntegerTy(32);
  }

  Result<llvm::Value*> emit(llvm::ArrayRef<llvm::Value*> data) {
    const auto type = air_type(data[0]->getType());
    if (!type) return refuse(old_, "no lane operation on {}", text_of(*data[0]->getType()));
    const std::string name = mangle(call_.group + call_.operation, *type, type->is_integer() ? signedness() : '\0');
    llvm::SmallVector<llvm::Value*, 4> operands(data);
    for (unsigned i = static_cast<unsigned>(data.size()); i < old_.arg_size(); ++i)
      operands.push_back(old_.getArgOperand(i));
    auto made = call_air(builder_, context_, name, operands);
    if (!made) return refuse(old_, "{}", made.error().message);
    return *made;
  }
  /// Of the name as it was asked for; moves do not care.
  char signedness() const { return old_.getCalledFunction()->getName().contains(".s.") && !call_.moves ? 's' : 'u'; }
  Result<llvm::Value*> in_lanes(llvm::ArrayRef<llvm::Value*> data, const llvm::FixedVectorType& vector) {
    llvm::Value* result = llvm::PoisonValue::get(data[0]->getType());
    for (unsigned i = 0; i < vector.getNumElements(); ++i) {
      llvm::SmallVector<llvm::Value*, 2> lanes;
      for (llvm::Value* value : data) lanes.push_back(builder_.CreateExtractElement(value, builder_.getInt64(i)));
      SMELT_TRY(llvm::Value* const lane, apply(lanes));
      result = builder_.CreateInsertElement(result, lane, builder_.getInt64(i));
    }
    return result;
  }
  Result<llvm::Value*> as_bits(llvm::ArrayRef<llvm::Value*> data, llvm::Type* bits) {
    llvm::SmallVector<llvm::Value*, 2> raw;
    for (llvm::Value* value : data) raw.push_back(builder_.CreateBitCast(value, bits));
    SMELT_TRY(llvm::Value* const moved, emit(raw));
    return builder_.CreateBitCast(moved, data[0]->getType());
  }
  Result<llvm::Value*> as_byte(llvm::ArrayRef<llvm::Value*> data) {
    llvm::SmallVector<llvm::Value*, 2> raw;
    for (llvm::Value* value : data) raw.push_back(builder_.CreateZExt(value, builder_.getInt8Ty()));
    SMELT_TRY(llvm::Value* const moved, emit(raw));
    return builder_.CreateTrunc(moved, builder_.getInt1Ty());
  }
  Result<llvm::Value*> in_halves(llvm::ArrayRef<llvm::Value*> data) {
    llvm::Value* halves[2] = {};
    for (unsigned half = 0; half < 2; ++half) {
      llvm::SmallVector<llvm::Value*, 2> raw;
      for (llvm::Value* value : data)
        raw.push_back(builder_.CreateTrunc(half ? builder_.CreateLShr(value, 32) : value, builder_.getInt32Ty()));
      SMELT_TRY(llvm::Value* const moved, emit(raw));
      halves[half] = builder_.CreateZExt(moved, builder_.getInt64Ty());
    }
    return builder_.CreateOr(halves[0], builder_.CreateShl(halves[1], 32));
  }
  Result<llvm::Value*> through_float(llvm::ArrayRef<llvm::Value*> data) {
    llvm::SmallVector<llvm::Value*, 2> wide;
    for (llvm::Value* value : data) wide.push_back(builder_.CreateFPExt(value, builder_.getFloatTy()));
    SMELT_TRY(llvm::Value* const result, emit(wide));
    return builder_.CreateFPTrunc(result, data[0]->getType());
  }

  llvm::IRBuilder<>& builder_;
  PassContext& context_;
  const LaneCall& call_;
  llvm::CallBase& old_;
};

}  // namespace

Result<void> lane_values(PassContext& context) {
  for (llvm::Instruction* instruction : instructions_of(context.module)) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(instruction);
    if (!call || !call->getCalledFunction() || call->arg_empty()) continue;
    const auto lane_call = read_name(call->getCalledFunction()->getName());
    if (!lane_call || !forms(call->getCalledFunction()->getName()).empty()) continue;
    const size_t data_count = lane_call->operation.starts_with("shuffle_and_fill") ? 2 : 1;
    if (call->arg_size() < data_count || call->getType() != call->getArgOperand(0)->getType()) continue;
    llvm::IRBuilder<> builder(call);
    if (llvm::isa<llvm::FPMathOperator>(call)) builder.setFastMathFlags(call->getFastMathFlags());
    llvm::SmallVector<llvm::Value*, 2> data(call->arg_begin(), call->arg_begin() + data_count);
    SMELT_TRY(llvm::Value* const made, Mover(builder, context, *lane_call, *call).apply(data));
    call->replaceAllUsesWith(made);
    call->eraseFromParent();
  }
  for (llvm::Function& function : llvm::make_early_inc_range(context.module))
    if (function.isDeclaration() && function.use_empty() && function.getName().starts_with("air."))
      function.eraseFromParent();
  return {};
}

}  // namespace smelt::aot::air
