// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads and stores of simdgroup matrices changed their operands at AIR 2.8 (docs/formats/air.md 3.9). Whatever form a
// module was written in, it gets the form of its target:
//
//   <= 2.7   (p, i64 elements_per_row, <2 x i64> origin, i1 transpose)
//   >= 2.8   (p, <2 x i64> dimensions, <2 x i64> strides, <2 x i64> origin)
//            row-major with pitch E: <E, 8>, <1, E>, <column, row>;  transposed: <8, E>, <E, 1>, origin swapped
//
// The way back needs strides of which one is the constant 1. Also runs on finished AIR that crosses the border.
#include "legalise/support.hpp"

#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"

namespace smelt::aot::air {
namespace {

constexpr Version kNewForm{2, 8};

bool is_matrix_memory(llvm::StringRef name) {
  return name.starts_with("air.simdgroup_matrix_8x8_load.") || name.starts_with("air.simdgroup_matrix_8x8_store.");
}

llvm::Value* pair(llvm::IRBuilder<>& builder, llvm::Value* first, llvm::Value* second) {
  auto* type = llvm::FixedVectorType::get(builder.getInt64Ty(), 2);
  llvm::Value* vector = builder.CreateInsertElement(llvm::PoisonValue::get(type), first, builder.getInt64(0));
  return builder.CreateInsertElement(vector, second, builder.getInt64(1));
}

llvm::Value* part(llvm::IRBuilder<>& builder, llvm::Value* vector, unsigned index) {
  return builder.CreateExtractElement(vector, builder.getInt64(index));
}

using Operands = llvm::SmallVector<llvm::Value*, 3>;

Operands to_new_form(llvm::IRBuilder<>& builder, llvm::Value* pitch, llvm::Value* origin, llvm::Value* transpose) {
  llvm::Value* const one = builder.getInt64(1);
  llvm::Value* const eight = builder.getInt64(8);
  llvm::Value* const swapped = builder.CreateShuffleVector(origin, {1, 0});
  if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(transpose)) {
    if (constant->isZero()) return {pair(builder, pitch, eight), pair(builder, one, pitch), origin};
    return {pair(builder, eight, pitch), pair(builder, pitch, one), swapped};
  }
  return {builder.CreateSelect(transpose, pair(builder, eight, pitch), pair(builder, pitch, eight)),
          builder.CreateSelect(transpose, pair(builder, pitch, one), pair(builder, one, pitch)),
          builder.CreateSelect(transpose, swapped, origin)};
}

/// One lane of a vector that is a constant or was put together by insertions; null when it cannot be seen.
llvm::Value* known_lane(llvm::Value* vector, uint64_t index) {
  if (auto* constant = llvm::dyn_cast<llvm::Constant>(vector))
    return constant->getAggregateElement(static_cast<unsigned>(index));
  auto* insert = llvm::dyn_cast<llvm::InsertElementInst>(vector);
  if (!insert) return nullptr;
  const auto* where = llvm::dyn_cast<llvm::ConstantInt>(insert->getOperand(2));
  if (!where) return nullptr;
  return where->getZExtValue() == index ? insert->getOperand(1) : known_lane(insert->getOperand(0), index);
}

bool is_one(const llvm::Value* value) {
  const auto* constant = llvm::dyn_cast_or_null<llvm::ConstantInt>(value);
  return constant && constant->isOne();
}

Result<Operands> to_old_form(llvm::IRBuilder<>& builder, const llvm::CallBase& call, llvm::Value* strides,
                             llvm::Value* origin) {
  const bool row_major = is_one(known_lane(strides, 0));
  const bool transposed = !row_major && is_one(known_lane(strides, 1));
  if (!row_major && !transposed)
    return refuse(call,
                  "AIR 2.7 cannot express a matrix whose strides are not known; targets from macos26 and ios26 can");
  llvm::Value* const pitch = part(builder, strides, row_major ? 1 : 0);
  llvm::Value* const place = row_major ? origin : builder.CreateShuffleVector(origin, {1, 0});
  return Operands{pitch, place, builder.getInt1(transposed)};
}

}  // namespace

Result<void> matrix_memory(PassContext& context) {
  std::vector<llvm::Function*> functions;
  for (llvm::Function& function : context.module)
    if (is_matrix_memory(function.getName())) functions.push_back(&function);
  for (llvm::Function* function : functions) {
    const auto wanted = lookup(function->getName(), context.target.air);
    if (!wanted || agrees(*wanted, function->getFunctionType())) continue;  // version_gate reports the unknown
    const std::string name = function->getName().str();
    const bool known =
        llvm::any_of(forms(name), [&](const Signature& form) { return agrees(form, function->getFunctionType()); });
    if (!known)
      return fail(Errc::compile_failed, "{}: declared with a signature that no AIR version has; AIR {}.{} has {}", name,
                  context.target.air.major, context.target.air.minor, typed_text(*wanted));
    function->setName("smelt.replaced");
    SMELT_TRY(llvm::Function* const declared, declare(context.module, name, context.target.air));
    const unsigned leading = llvm::StringRef(name).contains("_store.") ? 2 : 1;
    for (llvm::User* user : llvm::make_early_inc_range(function->users())) {
      auto* call = llvm::cast<llvm::CallInst>(user);
      llvm::IRBuilder<> builder(call);
      llvm::Value* const a = call->getArgOperand(leading);
      llvm::Value* const b = call->getArgOperand(leading + 1);
      llvm::Value* const c = call->getArgOperand(leading + 2);
      Operands operands;
      if (context.target.air >= kNewForm) {
        operands = to_new_form(builder, a, b, c);
      } else {
        SMELT_TRY(operands, to_old_form(builder, *call, b, c));
      }
      llvm::SmallVector<llvm::Value*, 6> arguments(call->arg_begin(), call->arg_begin() + leading);
      arguments.append(operands.begin(), operands.end());
      replace_call(*call, *declared, arguments);
    }
    function->eraseFromParent();
  }
  return {};
}

}  // namespace smelt::aot::air
