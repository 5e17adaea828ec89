// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lanes/functions.hpp"

#include "abi/memory_function.hpp"
#include "lanes/legal.hpp"
#include "llvm_support/format.hpp"

#include "llvm/ADT/Sequence.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

namespace smelt::aot::cpu::lanes {
namespace {

constexpr uint64_t kRowAlignment = 64;

llvm::SmallVector<Shape, 16> varying_arguments(const llvm::Function& function) {
  return llvm::SmallVector<Shape, 16>(function.arg_size(), Shape::varying());
}

}  // namespace

uint64_t row_bytes(llvm::Type* vector, const llvm::DataLayout& layout) {
  return llvm::alignTo(layout.getTypeStoreSize(vector).getFixedValue(), kRowAlignment);
}

Result<void> LaneFunctions::check(llvm::Function& function) {
  const auto known = checked_.find(&function);
  if (known != checked_.end()) return known->second;
  const Analysis analysis(function, varying_arguments(function), kSimdWidth);
  return checked_[&function] = check_supported(function, analysis, kSimdWidth);
}

llvm::Function* LaneFunctions::get(llvm::Function& function, llvm::ArrayRef<llvm::Constant*> known, bool masked,
                                   const EmitOptions& options) {
  llvm::Function*& made = made_[{&function, masked, known.vec()}];
  if (made) return made;
  llvm::LLVMContext& context = function.getContext();
  llvm::Type* const pointer = llvm::PointerType::get(context, 0);
  llvm::SmallVector<llvm::Type*, 16> types{pointer};
  for (const llvm::Constant* one : known)
    if (!one) types.push_back(pointer);
  if (masked) types.push_back(llvm::Type::getInt32Ty(context));
  const std::string name =
      fmt::format("{}.{}.{}", function.getName().str(), masked ? "some_lanes" : "all_lanes", made_.size());
  made = make_memory_function(*function.getParent(), name, types);
  made->addFnAttr(kStaysCalled);
  made->setOnlyAccessesArgMemory();
  made->addParamAttr(0, llvm::Attribute::WriteOnly);

  const Analysis analysis(function, varying_arguments(function), kSimdWidth);
  Emitter emitter(function, *made, analysis, options);
  unsigned next = 1;
  for (unsigned i = 0; i < known.size(); ++i) {
    if (known[i]) {
      emitter.set_parts(function.getArg(i), {known[i]});
      continue;
    }
    made->addParamAttr(next, llvm::Attribute::ReadOnly);
    emitter.set_rows(function.getArg(i), made->getArg(next++));
  }
  if (masked) {
    auto* const mask = llvm::FixedVectorType::get(llvm::Type::getInt1Ty(context), kSimdWidth);
    emitter.set_entry_mask(emitter.builder().CreateBitCast(made->getArg(next), mask), nullptr);
  }
  emitter.set_result(made->getArg(0));
  emitter.run();
  return made;
}

void LaneFunctions::forget() {
  for (const auto& [key, function] : made_) function->eraseFromParent();
  made_.clear();
}

Parts Emitter::load_rows(llvm::Type* type, llvm::Value* pointer) {
  Parts result;
  for (const LaneLayout::Field& field : layout_of(type, layout_).fields) {
    llvm::Type* row = wide(field.type);
    llvm::Value* place =
        builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), pointer, result.size() * row_bytes(row, layout_));
    result.push_back(builder_.CreateAlignedLoad(row, place, llvm::Align(kRowAlignment)));
  }
  return result;
}

void Emitter::set_rows(const llvm::Value* value, llvm::Value* pointer) {
  parts_[value] = load_rows(value->getType(), pointer);
  for (llvm::Value* row : parts_[value]) row_of_[row] = llvm::cast<llvm::LoadInst>(row)->getPointerOperand();
}

void Emitter::store_result(llvm::Value* value) {
  const Parts all = parts(value);
  for (unsigned i = 0; i < all.size(); ++i) {
    llvm::Value* place =
        builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), result_, i * row_bytes(all[i]->getType(), layout_));
    builder_.CreateAlignedStore(all[i], place, llvm::Align(kRowAlignment));
  }
}

// Put there where they are made, once.
llvm::Value* Emitter::rows_in_memory(const Parts& all) {
  llvm::AllocaInst*& place = rows_[std::vector<llvm::Value*>(all.begin(), all.end())];
  if (place) return place;
  const uint64_t bytes = row_bytes(all.front()->getType(), layout_);
  place = memory(all.size() * bytes);
  for (unsigned i = 0; i < all.size(); ++i) {
    llvm::IRBuilder<> builder(context_);
    set_insert_point_behind(builder, all[i]);
    llvm::Value* row = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), place, i * bytes);
    builder.CreateAlignedStore(all[i], row, place->getAlign());
  }
  return place;
}

void Emitter::emit_lane_call(llvm::CallInst& call) {
  llvm::SmallVector<llvm::Constant*, 16> known;
  llvm::SmallVector<llvm::Value*, 16> operands{nullptr};
  for (llvm::Value* argument : call.args()) {
    const Parts all = parts(argument);
    known.push_back(argument->getType()->isIntegerTy() ? llvm::dyn_cast<llvm::Constant>(all.front()) : nullptr);
    if (!known.back()) operands.push_back(rows_in_memory(all));
  }
  const LaneLayout layout = layout_of(call.getType(), layout_);
  llvm::AllocaInst* result = memory(layout.fields.size() * row_bytes(wide(layout.fields.front().type), layout_));
  operands.front() = result;
  by_wholeness([&] {
    llvm::SmallVector<llvm::Value*, 16> arguments = operands;
    if (mask()) arguments.push_back(bits(mask()));
    builder_.CreateCall(options_.functions->get(*call.getCalledFunction(), known, mask() != nullptr, options_),
                        arguments);
    return Parts();
  });
  Parts made = load_rows(call.getType(), result);
  rows_[std::vector<llvm::Value*>(made.begin(), made.end())] = result;
  parts_[&call] = std::move(made);
}

// What one lane has for eight or more in a row, from memory: processors fill a register with one number while they load
// it, as often as they multiply.
llvm::Value* Emitter::broadcast_from_row(llvm::Value* values, llvm::ArrayRef<int> sources) {
  constexpr unsigned kLeastRun = 8;
  llvm::Value* row = row_of_.lookup(values);
  llvm::Type* element = values->getType()->getScalarType();
  if (!row || element->getScalarSizeInBits() < 32) return nullptr;
  unsigned run = options_.lanes;
  const auto is_same = [&](unsigned at) { return sources[at] == sources[at / run * run]; };
  while (run >= kLeastRun && !llvm::all_of(llvm::seq(0u, options_.lanes), is_same)) run /= 2;
  if (run < kLeastRun) return nullptr;
  llvm::SmallVector<llvm::Value*, 4> runs;
  for (unsigned at = 0; at < options_.lanes; at += run) {
    llvm::Value* one = builder_.CreateConstInBoundsGEP1_64(element, row, static_cast<uint64_t>(sources[at]));
    runs.push_back(builder_.CreateVectorSplat(run, builder_.CreateLoad(element, one)));
  }
  return llvm::concatenateVectors(builder_, runs);
}

}  // namespace smelt::aot::cpu::lanes
