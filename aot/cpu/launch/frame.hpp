// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions between an entry point and a work item all carry the same frame: what the launch gave (dispatch block,
// bound pointers), where this threadgroup's memory lies, and a few numbers of their own.
#pragma once

#include "launch/flow_builder.hpp"
#include "launch/launch.hpp"

#include <array>
#include <map>

namespace smelt::aot::cpu {

/// Values of builtins as far as they are known at some point; component 1 and 2 of scalars stay null.
class BuiltinValues {
 public:
  llvm::Value* get(Builtin builtin, unsigned component = 0) const {
    return values_[static_cast<size_t>(builtin)][component];
  }
  void set(Builtin builtin, llvm::Value* value, unsigned component = 0) {
    values_[static_cast<size_t>(builtin)][component] = value;
  }

 private:
  std::array<std::array<llvm::Value*, 3>, kBuiltinCount> values_{};
};

/// A function with a frame: (dispatch, context, uniforms, threadgroup memory, bound pointers..., i32 numbers...).
class Frame {
 public:
  /// An internal function that is not inlined, so that each is optimised on its own.
  Frame(const LaunchContext& context, const WorkItem& item, llvm::Type* result, unsigned numbers,
        const std::string& name);

  llvm::Function* function() const { return function_; }
  llvm::Value* dispatch() const { return function_->getArg(0); }
  llvm::Value* context() const { return function_->getArg(1); }
  llvm::Value* uniforms() const { return function_->getArg(2); }
  llvm::Value* threadgroup() const { return function_->getArg(3); }
  llvm::Value* number(unsigned i) const { return function_->getArg(first_number_ + i); }
  /// The frame's own values, to be passed on to another function of the same frame.
  llvm::SmallVector<llvm::Value*> values() const;
  llvm::BasicBlock* entry() const { return &function_->getEntryBlock(); }

  /// Operands for a call of the work item (or a region of it), in its parameters' order.
  llvm::SmallVector<llvm::Value*> work_item_operands(llvm::IRBuilderBase& builder, const WorkItem& item,
                                                     const BuiltinValues& builtins, llvm::Value* lanes_on) const;

 private:
  llvm::Function* function_ = nullptr;
  unsigned first_number_ = 0;
  std::vector<int> bound_;  ///< by work item parameter: index of the frame's pointer, or -1
};

/// threads_per_grid, dispatch_threads_per_threadgroup, threadgroups_per_grid from the dispatch block.
void load_grid_builtins(llvm::IRBuilderBase& builder, llvm::Value* dispatch, BuiltinValues& values);

/// Everything that all threads of the group at `position` share. Gives the number of threads.
llvm::Value* load_group_builtins(llvm::IRBuilderBase& builder, llvm::Value* dispatch,
                                 const std::array<llvm::Value*, 3>& position, BuiltinValues& values);

/// The builtins of one thread from its place in the group and its index.
void set_thread_builtins(llvm::IRBuilderBase& builder, const std::array<llvm::Value*, 3>& place, llvm::Value* index,
                         BuiltinValues& values);

/// body(place in the group, index) for `count` threads of a group from index `first` on; at least one. `size`: of the
/// group, along x and y; `one_row`: it has no others. Positions are counted along: a division for each thread takes
/// longer than most regions.
template <class Body>
void loop_over_threads(FlowBuilder& builder, llvm::Value* first, llvm::Value* count,
                       const std::array<llvm::Value*, 2>& size, bool one_row, llvm::MDNode* properties, Body body) {
  llvm::Type* i32 = builder.getInt32Ty();
  std::array<llvm::AllocaInst*, 3> at{};
  if (!one_row) {
    llvm::Value* rest = builder.CreateUDiv(first, size[0]);
    const std::array<llvm::Value*, 3> begin{builder.CreateURem(first, size[0]), builder.CreateURem(rest, size[1]),
                                            builder.CreateUDiv(rest, size[1])};
    for (unsigned axis = 0; axis < 3; ++axis) {
      at[axis] = builder.variable(i32, "at");
      builder.CreateStore(begin[axis], at[axis]);
    }
  }
  builder.loop_at_least_once(builder.getInt32(0), count, properties, [&](llvm::Value* i) {
    llvm::Value* index = builder.CreateAdd(first, i, "", true);
    std::array<llvm::Value*, 3> place{index, builder.getInt32(0), builder.getInt32(0)};
    if (!one_row) {
      for (unsigned axis = 0; axis < 3; ++axis) place[axis] = builder.get(at[axis]);
      llvm::Value* carry = builder.getTrue();
      for (unsigned axis = 0; axis < 3; ++axis) {
        llvm::Value* next = builder.CreateAdd(place[axis], builder.CreateZExt(carry, i32));
        carry = axis < 2 ? builder.CreateICmpEQ(next, size[axis]) : builder.getFalse();
        builder.CreateStore(builder.CreateSelect(carry, builder.getInt32(0), next), at[axis]);
      }
    }
    body(place, index);
  });
}

/// Calls the function of `site`, which must be one of them; gives its answer, the next site.
llvm::Value* call_for_site(FlowBuilder& builder, llvm::Value* site,
                           const std::map<unsigned, llvm::Function*>& functions, llvm::ArrayRef<llvm::Value*> operands);

/// The function of a threadgroup whose units never disagree about the site they wait at (numbers: its position):
/// site = 0; do site = runs[site](frame, position); while (site is no end).
Frame make_group_in_step(const LaunchContext& context, const WorkItem& item, const std::string& name,
                         const std::map<unsigned, llvm::Function*>& runs);

/// Capacity of the context in threads, i64: the dispatch block's nominal_threads.
llvm::Value* load_capacity(llvm::IRBuilderBase& builder, llvm::Value* dispatch);

/// Makes the entry point: binds pointers, then calls `body` for the whole range (kind threads: numbers are low and high
/// of the box) or for each threadgroup (kind groups: numbers are its position).
void make_entry(const LaunchContext& context, const WorkItem& item, const Frame& body, schema::CpuRangeKind kind,
                uint32_t uniforms_offset, uint32_t context_offset);

}  // namespace smelt::aot::cpu
