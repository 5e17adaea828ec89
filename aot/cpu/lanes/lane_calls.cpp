// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls of functions in which lanes exchange values (functions.hpp), and the rows in memory that they take and give.
#include "lanes/collectives.hpp"
#include "lanes/functions.hpp"

#include "llvm/ADT/Sequence.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

namespace smelt::aot::cpu::lanes {
namespace {

Parts load_rows(GangContext& gang, llvm::Type* type, llvm::Value* pointer) {
  llvm::IRBuilder<>& builder = gang.builder;
  Parts result;
  for (const LaneLayout::Field& field : layout_of(type, gang.layout).fields) {
    llvm::Type* row = gang.wide(field.type);
    llvm::Value* place =
        builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), pointer, result.size() * row_bytes(row, gang.layout));
    result.push_back(builder.CreateAlignedLoad(row, place, llvm::Align(kRowAlignment)));
  }
  return result;
}

}  // namespace

void Collectives::set_rows(const llvm::Value* value, llvm::Value* pointer) {
  const Parts rows = load_rows(gang_, value->getType(), pointer);
  gang_.set_parts(value, rows);
  for (llvm::Value* row : rows) row_of_[row] = llvm::cast<llvm::LoadInst>(row)->getPointerOperand();
}

void Collectives::store_rows(llvm::Value* value, llvm::Value* pointer) {
  const Parts all = gang_.parts(value);
  for (unsigned i = 0; i < all.size(); ++i) {
    llvm::Value* place = builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), pointer,
                                                             i * row_bytes(all[i]->getType(), gang_.layout));
    builder_.CreateAlignedStore(all[i], place, llvm::Align(kRowAlignment));
  }
}

// Put there where they are made, once.
llvm::Value* Collectives::rows_in_memory(const Parts& all) {
  llvm::AllocaInst*& place = rows_[std::vector<llvm::Value*>(all.begin(), all.end())];
  if (place) return place;
  const uint64_t bytes = row_bytes(all.front()->getType(), gang_.layout);
  place = gang_.allocate(all.size() * bytes);
  for (unsigned i = 0; i < all.size(); ++i) {
    llvm::IRBuilder<> builder = builder_behind(all[i]);
    llvm::Value* row = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), place, i * bytes);
    builder.CreateAlignedStore(all[i], row, place->getAlign());
  }
  return place;
}

void Collectives::emit_lane_call(llvm::CallInst& call) {
  llvm::SmallVector<llvm::Constant*, 16> known;
  llvm::SmallVector<llvm::Value*, 16> operands{nullptr};
  for (llvm::Value* argument : call.args()) {
    const Parts all = gang_.parts(argument);
    known.push_back(argument->getType()->isIntegerTy() ? llvm::dyn_cast<llvm::Constant>(all.front()) : nullptr);
    if (!known.back()) operands.push_back(rows_in_memory(all));
  }
  const LaneLayout layout = layout_of(call.getType(), gang_.layout);
  llvm::AllocaInst* result =
      gang_.allocate(layout.fields.size() * row_bytes(gang_.wide(layout.fields.front().type), gang_.layout));
  operands.front() = result;
  gang_.by_wholeness([&] {
    llvm::SmallVector<llvm::Value*, 16> arguments = operands;
    if (gang_.mask()) arguments.push_back(gang_.bits(gang_.mask()));
    builder_.CreateCall(
        gang_.options.functions->get(*call.getCalledFunction(), known, gang_.mask() != nullptr, gang_.options),
        arguments);
    return Parts();
  });
  Parts made = load_rows(gang_, call.getType(), result);
  rows_[std::vector<llvm::Value*>(made.begin(), made.end())] = result;
  gang_.set_parts(&call, std::move(made));
}

// What one lane has for eight or more in a row, from memory: processors fill a register with one number while they load
// it, as often as they multiply.
llvm::Value* Collectives::broadcast_from_row(llvm::Value* values, llvm::ArrayRef<int> sources) {
  constexpr unsigned kLeastRun = 8;
  llvm::Value* row = row_of_.lookup(values);
  llvm::Type* element = values->getType()->getScalarType();
  if (!row || element->getScalarSizeInBits() < 32) return nullptr;
  unsigned run = gang_.options.lanes;
  const auto is_same = [&](unsigned at) { return sources[at] == sources[at / run * run]; };
  while (run >= kLeastRun && !llvm::all_of(llvm::seq(0u, gang_.options.lanes), is_same)) run /= 2;
  if (run < kLeastRun) return nullptr;
  llvm::SmallVector<llvm::Value*, 4> runs;
  for (unsigned at = 0; at < gang_.options.lanes; at += run) {
    llvm::Value* one = builder_.CreateConstInBoundsGEP1_64(element, row, static_cast<uint64_t>(sources[at]));
    runs.push_back(builder_.CreateVectorSplat(run, builder_.CreateLoad(element, one)));
  }
  return llvm::concatenateVectors(builder_, runs);
}

}  // namespace smelt::aot::cpu::lanes
