// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Texels of a gang. Reads, writes and samples are one call for all lanes (runtime/texture_lanes.c); what else the
// runtime does for a thread is called lane after lane.
#include "lanes/access.hpp"
#include "lanes/memory.hpp"
#include "runtime/runtime.hpp"

#include "llvm/IR/Function.h"

namespace smelt::aot::cpu::lanes {
namespace {

constexpr llvm::StringLiteral kTexture = "smelt_rt_texture_";

/// Those that have a form for all lanes.
bool has_lane_form(llvm::StringRef name) {
  name.consume_front(kTexture);
  return name == "read" || name == "write" || name == "sample";
}

/// Whether it may be code of its own (texture_near.c, sample_near.c): it has an x, and is of level 0 without slices. A
/// sample is of two axes, too.
bool has_inline_form(const llvm::CallInst& call) {
  llvm::StringRef name = call.getCalledFunction()->getName();
  name.consume_front(kTexture);
  const bool samples = name == "sample";
  constexpr unsigned kShape = 9;
  const unsigned x = samples ? 2 : 1;
  const auto is_zero = [](const llvm::Value* operand) {
    const auto* const constant = llvm::dyn_cast<llvm::Constant>(operand);
    return constant != nullptr && constant->isNullValue();
  };
  if (samples) {
    const auto* const shape = llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(kShape));
    if (shape == nullptr || !shape->equalsInt(2)) return false;
  }
  if (is_zero(call.getArgOperand(x))) return false;
  for (unsigned i = x + 2; i < call.arg_size(); ++i) {
    const llvm::Value* const operand = call.getArgOperand(i);
    const bool is_texel = operand->getType()->isVectorTy();
    if (!is_zero(operand) && !is_texel && !(samples && i == kShape)) return false;
  }
  return true;
}

/// Memory for one call. Where a function is called, the next call's may be the same; what is written in place becomes
/// registers, and a place of its own does better there.
class CallMemory {
 public:
  CallMemory(GangContext& gang, bool is_inline) : gang_(gang), is_inline_(is_inline) {}
  llvm::AllocaInst* get(uint64_t bytes) {
    const bool is_own = is_inline_ || next_ == GangContext::kMostScratch;
    return is_own ? gang_.allocate(bytes) : gang_.scratch(next_++, bytes);
  }

 private:
  GangContext& gang_;
  const bool is_inline_;
  unsigned next_ = 4;  // behind those of loads and stores
};

/// Where the lanes' numbers lie; null where all of them are zero.
llvm::Value* texture_row(GangContext& gang, llvm::Value* operand, CallMemory& memory) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(operand);
  if (constant != nullptr && constant->isNullValue()) return llvm::ConstantPointerNull::get(gang.builder.getPtrTy());
  llvm::AllocaInst* row = memory.get(uint64_t{4} * gang.options.lanes);
  gang.builder.CreateAlignedStore(gang.part(operand), row, row->getAlign());
  return row;
}

void texture_call_by_lane(GangContext& gang, llvm::CallInst& call) {
  llvm::IRBuilder<>& builder = gang.builder;
  CallMemory memory(gang, false);
  llvm::SmallVector<llvm::SmallVector<llvm::AllocaInst*, 4>, 16> rows;
  const auto row_of_part = [&](llvm::Value* values) {
    const uint64_t bytes = gang.layout.getTypeAllocSize(values->getType()->getScalarType()).getFixedValue();
    llvm::AllocaInst* row = memory.get(bytes * gang.options.lanes);
    builder.CreateStore(values, row);
    return row;
  };
  for (llvm::Value* argument : call.args()) {
    rows.emplace_back();
    if (gang.shape(argument).is_uniform()) continue;
    for (llvm::Value* one : gang.parts(argument)) rows.back().push_back(row_of_part(one));
  }
  llvm::SmallVector<llvm::AllocaInst*, 4> results;
  const LaneLayout made = call.getType()->isVoidTy() ? LaneLayout() : layout_of(call.getType(), gang.layout);
  for (const LaneLayout::Field& field : made.fields)
    results.push_back(memory.get(gang.layout.getTypeAllocSize(field.type).getFixedValue() * gang.options.lanes));
  each_lane(
      gang,
      [&](llvm::Value* lane) {
        llvm::Instruction* copy = call.clone();
        for (unsigned i = 0; i < rows.size(); ++i) {
          llvm::Value* argument = call.getArgOperand(i);
          if (rows[i].empty()) {
            copy->setOperand(i, gang.scalar(argument));
            continue;
          }
          llvm::Type* element = argument->getType()->getScalarType();
          const auto load = [&](unsigned part) {
            return builder.CreateLoad(element, builder.CreateInBoundsGEP(element, rows[i][part], lane));
          };
          llvm::Value* value = nullptr;
          if (argument->getType()->isVectorTy()) {
            value = llvm::PoisonValue::get(argument->getType());
            for (unsigned part = 0; part < rows[i].size(); ++part)
              value = builder.CreateInsertElement(value, load(part), uint64_t{part});
          } else {
            value = load(0);
          }
          copy->setOperand(i, value);
        }
        copy->dropUnknownNonDebugMetadata();
        builder.Insert(copy);
        for (unsigned i = 0; i < results.size(); ++i) {
          llvm::Type* element = made.fields[i].type;
          llvm::Value* one = call.getType()->isVectorTy() ? builder.CreateExtractElement(copy, uint64_t{i}) : copy;
          builder.CreateStore(one, builder.CreateInBoundsGEP(element, results[i], lane));
        }
      },
      true);
  Parts all;
  for (unsigned i = 0; i < results.size(); ++i)
    all.push_back(builder.CreateLoad(gang.wide(made.fields[i].type), results[i]));
  if (!all.empty()) gang.set_parts(&call, std::move(all));
}

}  // namespace

bool is_texture_call(const llvm::Function& callee) {
  return callee.getName().starts_with(kTexture) && stays_called(callee);
}

void Memory::emit_texture_call(llvm::CallInst& call) {
  const llvm::StringRef name = call.getCalledFunction()->getName();
  const bool one_texture = llvm::all_of(call.args(), [&](const llvm::Use& argument) {
    return !argument->getType()->isPointerTy() || gang_.shape(argument).is_uniform();
  });
  llvm::Function* for_all = nullptr;
  bool is_inline = false;
  if (one_texture && has_lane_form(name)) {
    // Code of its own for each call would make a kernel with hundreds of them large.
    is_inline = has_inline_form(call) && inline_texels_++ < gang_.options.inline_texels;
    const llvm::StringRef form = name.substr(kRuntimePrefix.size());
    for_all = declare_runtime(*gang_.target.getParent(), ((is_inline ? "inline_" : "") + form + "_lanes").str());
  }
  if (for_all == nullptr) return texture_call_by_lane(gang_, call);

  CallMemory memory(gang_, is_inline);
  llvm::SmallVector<llvm::Value*, 16> operands;
  for (llvm::Value* argument : call.args()) {
    // Handles, and which kind of coordinates a sample has.
    if (for_all->getFunctionType()->getParamType(static_cast<unsigned>(operands.size()))->isIntegerTy() ||
        argument->getType()->isPointerTy()) {
      operands.push_back(gang_.scalar(argument));
    } else if (argument->getType()->isVectorTy()) {
      const Parts all = gang_.parts(argument);
      const uint64_t bytes = uint64_t{4} * gang_.options.lanes;
      llvm::AllocaInst* rows = memory.get(all.size() * bytes);
      for (unsigned i = 0; i < all.size(); ++i)
        builder_.CreateAlignedStore(all[i], builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), rows, i * bytes),
                                    llvm::commonAlignment(rows->getAlign(), bytes));
      operands.push_back(rows);
    } else {
      operands.push_back(texture_row(gang_, argument, memory));
    }
  }
  operands.push_back(builder_.CreateZExt(gang_.bits(gang_.mask()), builder_.getInt32Ty()));
  operands.push_back(builder_.getInt32(gang_.options.lanes));
  llvm::AllocaInst* result = nullptr;
  unsigned count = 0;
  if (!call.getType()->isVoidTy()) {
    count = static_cast<unsigned>(layout_of(call.getType(), gang_.layout).fields.size());
    result = memory.get(uint64_t{4} * gang_.options.lanes * count);
    operands.push_back(result);
  }
  builder_.CreateCall(for_all, operands);
  if (result == nullptr) return;
  Parts made;
  for (unsigned i = 0; i < count; ++i)
    made.push_back(builder_.CreateAlignedLoad(
        gang_.wide(call.getType()->getScalarType()),
        builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), result, uint64_t{4} * gang_.options.lanes * i),
        llvm::commonAlignment(result->getAlign(), uint64_t{4} * gang_.options.lanes)));
  gang_.set_parts(&call, std::move(made));
}

}  // namespace smelt::aot::cpu::lanes
