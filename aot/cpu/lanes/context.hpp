// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What all parts of the emitter (emit.hpp) share: the two functions, what is known of the source, the lanes that are on
// in the code being made, and the form that each value has.
//
//   uniform, matrix   one scalar (or one row-major `<64 x T>`) for the gang: the instruction is copied
//   linear, spread    the value of lane 0, scalar; as a vector, lane 0 + each lane's offset, made where it is needed
//   varying           *parts*: one `<lanes x T>` per scalar in the thread's type, so `<4 x float>` is four vectors
//
// Masks. Every block has one; null means that all lanes are on. A block is only entered with some lane on, which is why
// scalar loads, barriers and atomics need no further care. Lanes that are off hold anything, poison included: masks are
// combined by select, never by and. docs/design/cpu-lanes.md 3.
#pragma once

#include "lanes/layout.hpp"
#include "lanes/structure.hpp"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"

namespace smelt::aot::cpu::lanes {

using Parts = llvm::SmallVector<llvm::Value*, 1>;

class LaneFunctions;

struct EmitOptions {
  unsigned lanes = 32;
  bool native_gather = false;          ///< use gather and scatter instructions; else one lane after another
  bool narrow_masked_moves = false;    ///< the target has masked loads and stores of 8 and 16 bits
  bool calls = false;                  ///< what moves.hpp does is called, not written in place
  unsigned inline_texels = 0;          ///< the first accesses to textures that have code of their own
  LaneFunctions* functions = nullptr;  ///< what is called of functions.hpp
  /// The thread's own pointer to its threadgroup's memory, where that has room round it (kRoundThreadgroupMemory).
  const llvm::Value* threadgroup_memory = nullptr;
};

class GangContext {
 public:
  /// `target` is empty but for its parameters. Everything is referred to, not copied.
  GangContext(llvm::Function& source, llvm::Function& target, const Analysis& analysis, const EmitOptions& options);
  GangContext(const GangContext&) = delete;

  llvm::Function& source;
  llvm::Function& target;
  const Analysis& analysis;
  const EmitOptions options;
  const llvm::DataLayout& layout;
  llvm::IRBuilder<> builder;

  // ---- Masks (masks.cpp)

  /// The lanes that exist; null if all do. `whole` (i1, or null) says whether all do after all.
  void set_entry_mask(llvm::Value* mask, llvm::Value* whole) {
    entry_mask_ = mask;
    whole_ = whole;
  }
  llvm::Value* entry_mask() const { return entry_mask_; }
  llvm::Value* whole() const { return whole_; }
  /// The code from here on is of a block with this mask.
  void set_block_mask(llvm::Value* mask) { block_mask_ = mask; }
  llvm::Value* mask() const { return here_ == Here::all ? nullptr : block_mask_; }
  /// The code being made is for the case that some lane is off.
  bool some_lane_is_off() const { return here_ == Here::not_all; }

  llvm::Value* all_on();
  llvm::Value* bits(llvm::Value* mask);
  llvm::Value* any(llvm::Value* mask);
  llvm::Value* every(llvm::Value* mask);
  llvm::Value* blend(llvm::Value* mask, llvm::Value* on, llvm::Value* off);
  llvm::Value* blend_matrix(llvm::Value* mask, llvm::Value* on, llvm::Value* off);
  /// Two ways to the same value (none for stores); the first is likely.
  Parts choose(llvm::Value* condition, llvm::function_ref<Parts()> first, llvm::function_ref<Parts()> second);
  /// The same, by whether all lanes are on: `fast` is made for no mask.
  Parts choose_all_on(llvm::Value* all, llvm::function_ref<Parts()> fast, llvm::function_ref<Parts()> slow);
  /// `access` under the mask; where that is the entry's, once more for the case that all lanes exist.
  Parts by_wholeness(llvm::function_ref<Parts()> access);
  /// `access` as if all lanes were on.
  Parts as_whole(llvm::function_ref<Parts()> access);

  // ---- Forms of values (values.cpp)

  Shape shape(const llvm::Value* value) const { return analysis.shapes->of(value); }
  llvm::Type* wide(llvm::Type* type) const { return llvm::FixedVectorType::get(type, options.lanes); }
  void set_scalar(const llvm::Value* value, llvm::Value* form) { scalars_[value] = form; }
  void set_parts(const llvm::Value* value, Parts form) { parts_[value] = std::move(form); }
  /// Parts that are made where they are needed: few guarded values ever are.
  void set_parts_on_demand(llvm::Instruction* instruction, Parts (*make)(GangContext&, llvm::Instruction&)) {
    on_demand_[instruction] = make;
  }
  llvm::Value* scalar(llvm::Value* value);
  llvm::Value* matrix(llvm::Value* value);
  Parts parts(llvm::Value* value);
  llvm::Value* part(llvm::Value* value) { return parts(value).front(); }
  /// What holds if no lane of a linear value wraps round; empty where none can.
  llvm::ArrayRef<llvm::Value*> guards(const llvm::Value* value) const;
  void set_guards(const llvm::Value* value, llvm::ArrayRef<llvm::Value*> guards);

  llvm::Value* splat(llvm::Value* scalar);
  llvm::Value* step_vector(llvm::Type* type, int64_t step);
  llvm::Value* shuffle(llvm::Value* vector, llvm::function_ref<int(unsigned)> lane_of);
  llvm::Value* interleave(const Parts& parts, unsigned stride);
  Parts deinterleave(llvm::Value* wide, unsigned stride, unsigned count);

  // ---- Places (context.cpp)

  /// Goes on before the end of a block that was left.
  void return_to(llvm::BasicBlock* block);
  /// Memory for the gang, in the entry block. Scratch of one size is shared: nothing in it outlives one instruction.
  llvm::AllocaInst* allocate(uint64_t bytes);
  llvm::AllocaInst* scratch(unsigned number, uint64_t bytes);
  static constexpr unsigned kMostScratch = 64;  ///< numbers

 private:
  enum class Here : uint8_t { anything, all, not_all };

  llvm::Value* entry_mask_ = nullptr;
  llvm::Value* whole_ = nullptr;
  llvm::Value* block_mask_ = nullptr;
  Here here_ = Here::anything;  // what is known of the lanes in the code being made, besides the block's mask

  llvm::DenseMap<const llvm::Value*, llvm::Value*> scalars_;
  llvm::DenseMap<const llvm::Value*, Parts> parts_;
  llvm::DenseMap<const llvm::Value*, Parts (*)(GangContext&, llvm::Instruction&)> on_demand_;
  llvm::DenseMap<const llvm::Value*, Parts> made_here_;  // vector forms made in the current target block
  llvm::BasicBlock* made_in_ = nullptr;
  llvm::DenseMap<const llvm::Value*, llvm::SmallVector<llvm::Value*, 2>> guards_;
  llvm::DenseMap<uint64_t, llvm::AllocaInst*> scratch_;
};

}  // namespace smelt::aot::cpu::lanes
