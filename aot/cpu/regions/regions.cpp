// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "regions/regions.hpp"

#include "smelt/base/sort.hpp"

#include "llvm_support/analyses.hpp"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace smelt::aot::cpu {

uint64_t ContextLayout::add(uint64_t bytes, uint64_t alignment) {
  bytes_ = llvm::alignTo(bytes_, alignment);
  const uint64_t place = bytes_;
  bytes_ += bytes;
  return place;
}

uint64_t ContextLayout::bytes() const {
  return unit_ == Unit::gang ? llvm::alignTo(bytes_, 64) : bytes_;
}

llvm::Value* ContextLayout::address(llvm::IRBuilderBase& builder, llvm::Value* context, llvm::Value* unit,
                                    llvm::Value* capacity, uint64_t place, uint64_t bytes) const {
  llvm::Type* i8 = builder.getInt8Ty();
  if (unit_ == Unit::gang) return builder.CreateConstInBoundsGEP1_64(i8, context, place);
  llvm::Value* array = builder.CreateInBoundsGEP(i8, context, builder.CreateMul(capacity, builder.getInt64(place)));
  return builder.CreateInBoundsGEP(i8, array, builder.CreateMul(unit, builder.getInt64(bytes)));
}

void mark_parallel(llvm::Function& function, llvm::MDNode* access_group) {
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    const llvm::Value* pointer = llvm::getLoadStorePointerOperand(&instruction);
    if (pointer == nullptr || instruction.isVolatile() || instruction.isAtomic()) continue;
    llvm::SmallVector<const llvm::Value*> objects;
    llvm::getUnderlyingObjects(pointer, objects);
    if (llvm::none_of(objects, [](const llvm::Value* object) { return llvm::isa<llvm::AllocaInst>(object); }))
      instruction.setMetadata(llvm::LLVMContext::MD_access_group, access_group);
  }
}

llvm::MDNode* unit_loop_properties(llvm::LLVMContext& context, llvm::MDNode* access_group, bool unroll) {
  auto* parallel =
      llvm::MDNode::get(context, {llvm::MDString::get(context, "llvm.loop.parallel_accesses"), access_group});
  llvm::SmallVector<llvm::Metadata*> properties{nullptr, parallel};
  if (!unroll)
    properties.push_back(llvm::MDNode::get(context, {llvm::MDString::get(context, "llvm.loop.unroll.disable")}));
  auto* loop = llvm::MDNode::getDistinct(context, properties);
  loop->replaceOperandWith(0, loop);
  return loop;
}

namespace {

class RegionMaker {
 public:
  RegionMaker(const WorkItem& item, const std::vector<MeetingPoint>& sites, const LiveState& state,
              ContextLayout& layout, Regions& regions)
      : item_(item),
        sites_(sites),
        state_(state),
        layout_(layout),
        regions_(regions),
        context_(item.function->getContext()),
        data_layout_(item.function->getParent()->getDataLayout()) {
    for (const LiveVariable& variable : state_.variables)
      if (variable.uniform) {
        uniform_index_[variable.slot] = static_cast<unsigned>(regions_.uniform_types.size());
        regions_.uniform_types.push_back(variable.slot->getAllocatedType());
      }
    place_variables();
  }

  /// Where a region begins; null for the start of the kernel.
  using Start = const MeetingPoint*;

  llvm::Function* make(llvm::ArrayRef<Start> starts, const std::string& name) {
    function_ = create_function(name);
    map_.clear();
    for (unsigned i = 0; i < item_.function->arg_size(); ++i) map_[item_.function->getArg(i)] = function_->getArg(i);
    clone_blocks(starts);
    bind_arrays();
    if (starts.size() == 1) {
      go_on(entry_, starts.front());
    } else {
      auto* choice = llvm::SwitchInst::Create(number_, nullptr, static_cast<unsigned>(starts.size()), entry_);
      for (const Start from : starts) {
        auto* way = llvm::BasicBlock::Create(context_, "from", function_);
        choice->addCase(llvm::ConstantInt::get(llvm::Type::getInt32Ty(context_), number_of(from)), way);
        go_on(way, from);
      }
      choice->setDefaultDest(llvm::BasicBlock::Create(context_, "never", function_));
      new llvm::UnreachableInst(context_, choice->getDefaultDest());
    }
    close_ends();
    promote();
    mark_parallel(*function_, regions_.access_group);
    return function_;
  }

  static unsigned number_of(Start start) { return start != nullptr ? start->number : 0; }

  /// The blocks of a region: those that can be reached without passing a site.
  std::vector<llvm::BasicBlock*> blocks_from(llvm::ArrayRef<Start> starts) {
    if (site_of_block_.empty())
      for (size_t i = 0; i < sites_.size(); ++i) site_of_block_[sites_[i].call->getParent()] = i;
    std::vector<llvm::BasicBlock*> reached;
    std::set<const llvm::BasicBlock*> seen;
    const auto reach = [&](llvm::BasicBlock* block) {
      if (seen.insert(block).second) reached.push_back(block);
    };
    for (const Start start : starts) reach(first_block(start));
    for (size_t i = 0; i < reached.size(); ++i) {
      if (is_site_block(reached[i])) continue;
      for (llvm::BasicBlock* next : llvm::successors(reached[i])) reach(next);
    }
    return reached;
  }

 private:
  llvm::BasicBlock* first_block(Start start) const {
    return start != nullptr ? start->continuation : &item_.function->getEntryBlock();
  }

  /// At the end of `block`: takes up what lives across the site, and goes on behind it.
  void go_on(llvm::BasicBlock* block, Start from) {
    llvm::IRBuilder<> builder(block);
    if (from != nullptr) load_live(builder, *from);
    builder.CreateBr(llvm::cast<llvm::BasicBlock>(map_[first_block(from)]));
  }

  uint64_t bytes_of(const llvm::AllocaInst* slot) const {
    return data_layout_.getTypeAllocSize(slot->getAllocatedType());
  }
  uint64_t array_bytes(const llvm::AllocaInst* array) const {
    return llvm::alignTo(*array->getAllocationSize(data_layout_), 16);
  }

  /// Largest first, so that every array of a structure of arrays is aligned like its element.
  void place_variables() {
    std::vector<size_t> order(state_.variables.size());
    std::iota(order.begin(), order.end(), size_t{0});
    sort_stably(order, [&](size_t a, size_t b) {
      return bytes_of(state_.variables[a].slot) > bytes_of(state_.variables[b].slot);
    });
    for (const llvm::AllocaInst* array : state_.arrays)
      places_[array] = layout_.add(array_bytes(array), std::max<uint64_t>(16, array->getAlign().value()));
    for (const size_t i : order) {
      if (state_.variables[i].uniform) continue;
      const llvm::AllocaInst* slot = state_.variables[i].slot;
      const uint64_t alignment = data_layout_.getABITypeAlign(slot->getAllocatedType()).value();
      places_[slot] = layout_.add(bytes_of(slot), std::min<uint64_t>(alignment, 64));
    }
    regions_.place_of_slot = places_;
  }

  llvm::Function* create_function(const std::string& name) {
    llvm::SmallVector<llvm::Type*> parameters;
    for (const llvm::Argument& argument : item_.function->args()) parameters.push_back(argument.getType());
    first_own_ = static_cast<unsigned>(parameters.size());
    parameters.append({llvm::PointerType::get(context_, 0), llvm::Type::getInt64Ty(context_),
                       llvm::Type::getInt64Ty(context_), llvm::Type::getInt32Ty(context_)});
    parameters.append(regions_.uniform_types.begin(), regions_.uniform_types.end());
    llvm::SmallVector<llvm::Type*> fields{llvm::Type::getInt32Ty(context_)};
    fields.append(regions_.uniform_types.begin(), regions_.uniform_types.end());
    answer_type_ = llvm::StructType::get(context_, fields);
    auto* function = llvm::Function::Create(llvm::FunctionType::get(answer_type_, parameters, false),
                                            llvm::GlobalValue::InternalLinkage, name, item_.function->getParent());
    function->setAttributes(
        item_.function->getAttributes().getFnAttrs().hasAttributes()
            ? llvm::AttributeList::get(context_, item_.function->getAttributes().getFnAttrs(), {}, {})
            : llvm::AttributeList());
    function->removeFnAttr(llvm::Attribute::NoInline);
    function->addFnAttr(llvm::Attribute::AlwaysInline);
    number_ = function->getArg(first_own_ + 3);
    entry_ = llvm::BasicBlock::Create(context_, "region", function);
    return function;
  }

  bool is_site_block(const llvm::BasicBlock* block) const { return site_of_block_.contains(block); }

  void clone_blocks(llvm::ArrayRef<Start> starts) {
    const std::vector<llvm::BasicBlock*> reached = blocks_from(starts);
    const std::set<const llvm::BasicBlock*> seen(reached.begin(), reached.end());
    clones_.clear();
    for (llvm::BasicBlock* block : reached) {
      llvm::BasicBlock* copy = llvm::CloneBasicBlock(block, map_, "", function_);
      map_[block] = copy;
      clones_.emplace_back(block, copy);
    }
    // A site block still names its continuation; that edge is cut in close_ends.
    for (auto& [block, copy] : clones_)
      for (llvm::PHINode& phi : llvm::make_early_inc_range(copy->phis()))
        for (unsigned i = phi.getNumIncomingValues(); i-- > 0;) {
          const llvm::BasicBlock* before = phi.getIncomingBlock(i);
          if (!seen.contains(before) || is_site_block(before)) phi.removeIncomingValue(i, false);
        }
    // Slots and arrays belong to the entry, which may not be part of this region.
    // Of the variables only those that it names: the others' number grows with that of the sites.
    written_.clear();
    for (auto& [block, copy] : clones_)
      for (llvm::Instruction& instruction : *block) {
        for (llvm::Value* operand : instruction.operands())
          if (auto* alloca = llvm::dyn_cast<llvm::AllocaInst>(operand)) own_alloca(alloca);
        if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
          written_.insert(store->getPointerOperand());
      }
    for (llvm::AllocaInst* array : state_.arrays) own_alloca(array);
    for (llvm::Instruction& instruction : item_.function->getEntryBlock())
      if (auto* alloca = llvm::dyn_cast<llvm::AllocaInst>(&instruction); alloca && map_.lookup(alloca))
        own_alloca(alloca);
    for (auto& [block, copy] : clones_)
      for (llvm::Instruction& instruction : *copy)
        llvm::RemapInstruction(&instruction, map_, llvm::RF_NoModuleLevelChanges | llvm::RF_IgnoreMissingLocals);
  }

  /// The region's own copy of an entry alloca, at the begin of the region's entry: that may have its end already when a
  /// variable is first asked for.
  void own_alloca(llvm::AllocaInst* original) {
    llvm::Value* copy = map_.lookup(original);
    if (copy == nullptr) {
      auto* fresh = llvm::cast<llvm::AllocaInst>(original->clone());
      fresh->insertInto(entry_, entry_->begin());
      map_[original] = fresh;
    } else if (auto* there = llvm::cast<llvm::AllocaInst>(copy); there->getParent() != entry_) {
      there->moveBefore(*entry_, entry_->begin());
    }
  }

  llvm::Value* address(llvm::IRBuilderBase& builder, uint64_t place, uint64_t bytes) {
    return layout_.address(builder, function_->getArg(first_own_), function_->getArg(first_own_ + 1),
                           function_->getArg(first_own_ + 2), place, bytes);
  }

  llvm::Align slot_alignment(const llvm::AllocaInst* slot) const {
    return std::min(data_layout_.getABITypeAlign(slot->getAllocatedType()), llvm::Align(64));
  }

  /// Arrays live in the context.
  void bind_arrays() {
    llvm::IRBuilder<> builder(entry_);
    for (llvm::AllocaInst* array : state_.arrays) {
      auto* copy = llvm::cast<llvm::AllocaInst>(map_[array]);
      drop_lifetimes(copy);
      copy->replaceAllUsesWith(address(builder, places_.at(array), array_bytes(array)));
      copy->eraseFromParent();
      map_.erase(array);
    }
  }

  /// Variables start from the context, or from uniform parameters. Those of the context that the region does not name
  /// stay there, and it gives back only those that it writes: else each region would take up and give back what lives
  /// across it, and the code would grow by the square of the number of sites.
  void load_live(llvm::IRBuilderBase& builder, const MeetingPoint& from) {
    const llvm::BitVector& live = state_.live_at_site[static_cast<size_t>(&from - sites_.data())];
    for (unsigned i : live.set_bits()) {
      const LiveVariable& variable = state_.variables[i];
      if (!variable.uniform && map_.lookup(variable.slot) == nullptr) continue;
      llvm::Value* value = nullptr;
      if (variable.uniform) {
        value = function_->getArg(first_own_ + 4 + uniform_index_.at(variable.slot));
      } else {
        llvm::Value* at = address(builder, places_.at(variable.slot), bytes_of(variable.slot));
        value = builder.CreateAlignedLoad(variable.slot->getAllocatedType(), at, slot_alignment(variable.slot));
      }
      builder.CreateStore(value, slot_of(variable));
    }
  }

  /// The region's own copy of a variable's slot.
  llvm::Value* slot_of(const LiveVariable& variable) {
    own_alloca(variable.slot);
    return map_[variable.slot];
  }

  static void drop_lifetimes(llvm::AllocaInst* alloca) {
    for (llvm::User* user : llvm::make_early_inc_range(alloca->users()))
      if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(user); call != nullptr && call->isLifetimeStartOrEnd())
        call->eraseFromParent();
  }

  void close_ends() {
    for (auto& [block, copy] : clones_) {
      llvm::Instruction* terminator = copy->getTerminator();
      if (llvm::isa<llvm::ReturnInst>(terminator)) {
        give_answer(terminator, nullptr);
      } else if (is_site_block(block)) {
        const MeetingPoint& site = sites_[site_of_block_[block]];
        auto* call = llvm::cast<llvm::CallInst>(map_[site.call]);
        if (!call->use_empty()) call->replaceAllUsesWith(llvm::PoisonValue::get(call->getType()));
        call->eraseFromParent();
        give_answer(terminator, &site);
      }
    }
  }

  void give_answer(llvm::Instruction* terminator, const MeetingPoint* to) {
    llvm::IRBuilder<> builder(terminator);
    const llvm::BitVector* live =
        to != nullptr ? &state_.live_at_site[static_cast<size_t>(to - sites_.data())] : nullptr;
    llvm::Value* answer = llvm::PoisonValue::get(answer_type_);
    answer = builder.CreateInsertValue(answer, builder.getInt32(to != nullptr ? to->number : kEnded), 0);
    if (live != nullptr)
      for (unsigned i : live->set_bits()) {
        const LiveVariable& variable = state_.variables[i];
        if (!variable.uniform && written_.count(variable.slot) == 0) continue;
        llvm::Value* value = builder.CreateLoad(variable.slot->getAllocatedType(), slot_of(variable));
        if (variable.uniform) {
          answer = builder.CreateInsertValue(answer, value, uniform_index_.at(variable.slot) + 1);
        } else {
          llvm::Value* at = address(builder, places_.at(variable.slot), bytes_of(variable.slot));
          builder.CreateAlignedStore(value, at, slot_alignment(variable.slot));
        }
      }
    builder.CreateRet(answer);
    terminator->eraseFromParent();
  }

  void promote() {
    llvm::removeUnreachableBlocks(*function_);
    llvm::SmallVector<llvm::AllocaInst*> slots;
    for (const LiveVariable& variable : state_.variables)
      if (llvm::Value* slot = map_.lookup(variable.slot)) slots.push_back(llvm::cast<llvm::AllocaInst>(slot));
    llvm::DominatorTree dominators(*function_);
    llvm::PromoteMemToReg(slots, dominators);
  }

  const WorkItem& item_;
  const std::vector<MeetingPoint>& sites_;
  const LiveState& state_;
  ContextLayout& layout_;
  Regions& regions_;
  llvm::LLVMContext& context_;
  const llvm::DataLayout& data_layout_;
  std::map<const llvm::AllocaInst*, unsigned> uniform_index_;
  std::map<const llvm::AllocaInst*, uint64_t> places_;
  std::map<const llvm::BasicBlock*, size_t> site_of_block_;
  llvm::Function* function_ = nullptr;
  llvm::BasicBlock* entry_ = nullptr;
  llvm::StructType* answer_type_ = nullptr;
  unsigned first_own_ = 0;
  llvm::Value* number_ = nullptr;
  llvm::ValueToValueMapTy map_;
  std::set<const llvm::Value*> written_;  ///< of the function's variables, those that the region stores to
  std::vector<std::pair<llvm::BasicBlock*, llvm::BasicBlock*>> clones_;
};

/// Instructions that two regions have in common, from which on they share them.
constexpr size_t kWorthSharing = 300;

struct Group {
  std::vector<RegionMaker::Start> starts;
  std::set<llvm::BasicBlock*> blocks;
};

std::vector<Group> group_regions(RegionMaker& maker, llvm::ArrayRef<RegionMaker::Start> starts, bool share) {
  std::vector<Group> groups;
  for (const RegionMaker::Start start : starts) {
    const auto blocks = maker.blocks_from(start);
    const auto shares_much = [&](const Group& group) {
      size_t common = 0;
      for (llvm::BasicBlock* block : blocks) common += group.blocks.contains(block) ? block->size() : 0;
      return common >= kWorthSharing;
    };
    auto group = share ? llvm::find_if(groups, shares_much) : groups.end();
    if (group == groups.end()) group = groups.insert(groups.end(), Group{});
    group->starts.push_back(start);
    group->blocks.insert(blocks.begin(), blocks.end());
  }
  return groups;
}

/// A loop that is entered in two places, as when a barrier in it is passed by in some rounds: from before it, and from
/// behind the barrier.
bool has_irreducible_loop(llvm::Function& function) {
  const llvm::DominatorTree dominators(function);
  const llvm::LoopInfo loops(dominators);
  const llvm::ReversePostOrderTraversal<llvm::Function*> order(&function);
  return llvm::containsIrreducibleCFG<llvm::BasicBlock*>(order, loops);
}

}  // namespace

Regions make_regions(const WorkItem& item, const std::vector<MeetingPoint>& sites, const LiveState& state,
                     ContextLayout& layout, const std::string& name, bool share) {
  Regions regions;
  regions.access_group = llvm::MDNode::getDistinct(item.function->getContext(), {});
  RegionMaker maker(item, sites, state, layout, regions);
  const auto make = [&](llvm::ArrayRef<RegionMaker::Start> starts) {
    llvm::Function* body = maker.make(starts, name + "." + std::to_string(maker.number_of(starts.front())));
    for (const RegionMaker::Start start : starts) regions.bodies[maker.number_of(start)] = body;
    return body;
  };
  std::vector<RegionMaker::Start> starts{nullptr};
  for (const MeetingPoint& site : sites) starts.push_back(&site);
  for (const Group& group : group_regions(maker, starts, share)) {
    llvm::Function* body = make(group.starts);
    if (group.starts.size() == 1 || !has_irreducible_loop(*body)) continue;
    run_passes(*body, "lower-switch,fix-irreducible");
    if (!has_irreducible_loop(*body)) continue;
    body->eraseFromParent();
    for (const RegionMaker::Start start : group.starts) make(start);
  }
  for (size_t i = 0; i < sites.size(); ++i) {
    const MeetingPoint& site = sites[i];
    std::vector<bool> live;
    for (size_t v = 0; v < state.variables.size(); ++v)
      if (state.variables[v].uniform) live.push_back(state.live_at_site[i].test(static_cast<unsigned>(v)));
    regions.uniform_live[site.number] = std::move(live);
  }
  return regions;
}

}  // namespace smelt::aot::cpu
