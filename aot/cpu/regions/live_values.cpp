// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "regions/live_values.hpp"

#include "regions/uniformity.hpp"
#include "work_item/work_item.hpp"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/Local.h"

#include <map>
#include <set>

namespace smelt::aot::cpu {
namespace {

constexpr unsigned kMaximalRecomputed = 24;  // instructions in one recomputed expression

llvm::BasicBlock* use_block(const llvm::Use& use) {
  auto* user = llvm::cast<llvm::Instruction>(use.getUser());
  if (auto* phi = llvm::dyn_cast<llvm::PHINode>(user)) return phi->getIncomingBlock(use);
  return user->getParent();
}

bool is_cheap(const llvm::Instruction& instruction) {
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
    return load->hasMetadata(llvm::LLVMContext::MD_invariant_load) && load->isSimple();
  if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) {
    switch (call->getIntrinsicID()) {
      case llvm::Intrinsic::umin:
      case llvm::Intrinsic::umax:
      case llvm::Intrinsic::smin:
      case llvm::Intrinsic::smax:
      case llvm::Intrinsic::abs:
      case llvm::Intrinsic::fabs:
        return true;
      default:
        return false;
    }
  }
  switch (instruction.getOpcode()) {
    case llvm::Instruction::FDiv:
    case llvm::Instruction::FRem:
    case llvm::Instruction::UDiv:
    case llvm::Instruction::SDiv:
    case llvm::Instruction::URem:
    case llvm::Instruction::SRem:
    case llvm::Instruction::Freeze:  // two freezes of one poison may differ
      return false;
    default:
      return instruction.isBinaryOp() || instruction.isUnaryOp() || instruction.isCast() ||
             llvm::isa<llvm::GetElementPtrInst, llvm::CmpInst, llvm::SelectInst, llvm::ExtractElementInst,
                       llvm::InsertElementInst, llvm::ShuffleVectorInst>(instruction);
  }
}

class Keeper {
 public:
  Keeper(llvm::Function& function, const std::vector<MeetingPoint>& sites) : function_(function) {
    for (const MeetingPoint& site : sites) continuations_.insert(site.continuation);
  }

  /// Blocks in which `value` is used after some site was passed since its definition.
  std::set<llvm::BasicBlock*> crossing_uses(llvm::Instruction& value) {
    std::map<llvm::BasicBlock*, bool> known;
    std::set<llvm::BasicBlock*> result;
    for (const llvm::Use& use : value.uses()) {
      llvm::BasicBlock* block = use_block(use);
      if (block == value.getParent()) continue;
      auto [at, fresh] = known.try_emplace(block, false);
      if (fresh) at->second = crosses(value.getParent(), block);
      if (at->second) result.insert(block);
    }
    return result;
  }

  bool is_recomputable(llvm::Value* value) {
    std::set<llvm::Value*> seen;
    return expand(value, seen);
  }

  void recompute(llvm::Instruction& value, const std::set<llvm::BasicBlock*>& blocks) {
    llvm::SmallVector<llvm::Use*> uses;
    for (llvm::Use& use : value.uses())
      if (blocks.contains(use_block(use))) uses.push_back(&use);
    for (llvm::Use* use : uses) use->set(clone_into(value, use_block(*use)));
  }

  llvm::AllocaInst* demote(llvm::Instruction& value) {
    llvm::AllocaInst* slot =
        llvm::DemoteRegToStack(value, false, function_.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
    return slot->getAllocatedType()->isIntegerTy(1) ? widen_flag(slot) : slot;
  }

  /// Some use of the memory may follow another one with a site in between.
  bool array_crosses(llvm::AllocaInst& array) {
    if (continuations_.empty() || array.hasMetadata(kScratch)) return false;
    std::set<llvm::BasicBlock*> blocks;
    llvm::SmallVector<llvm::Value*> work{&array};
    std::set<llvm::Value*> seen{&array};
    while (!work.empty())
      for (llvm::User* user : work.pop_back_val()->users()) {
        auto* instruction = llvm::cast<llvm::Instruction>(user);
        if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(instruction);
            call != nullptr && call->isLifetimeStartOrEnd())
          continue;
        blocks.insert(instruction->getParent());
        if (auto* call = llvm::dyn_cast<llvm::CallBase>(instruction); call != nullptr && call->isConvergent())
          return true;
        if (auto* store = llvm::dyn_cast<llvm::StoreInst>(instruction))
          if (seen.contains(store->getValueOperand())) return true;  // its address is kept somewhere
        if (!instruction->getType()->isVoidTy() && seen.insert(instruction).second) work.push_back(instruction);
      }
    for (llvm::BasicBlock* from : blocks)
      if (reaches_through_site(from, blocks)) return true;
    return false;
  }

 private:
  /// Flags are kept as bytes: the loop vectoriser does not load single bits.
  static llvm::AllocaInst* widen_flag(llvm::AllocaInst* narrow) {
    llvm::IRBuilder<> builder(narrow);
    llvm::AllocaInst* wide = builder.CreateAlloca(builder.getInt8Ty(), nullptr, narrow->getName());
    for (llvm::User* user : llvm::make_early_inc_range(narrow->users())) {
      builder.SetInsertPoint(llvm::cast<llvm::Instruction>(user));
      if (auto* load = llvm::dyn_cast<llvm::LoadInst>(user)) {
        load->replaceAllUsesWith(builder.CreateTrunc(builder.CreateLoad(builder.getInt8Ty(), wide), load->getType()));
        load->eraseFromParent();
      } else {
        auto* store = llvm::cast<llvm::StoreInst>(user);
        builder.CreateStore(builder.CreateZExt(store->getValueOperand(), builder.getInt8Ty()), wide);
        store->eraseFromParent();
      }
    }
    narrow->eraseFromParent();
    return wide;
  }

  bool crosses(llvm::BasicBlock* definition, llvm::BasicBlock* use) {
    std::set<llvm::BasicBlock*> seen;
    llvm::SmallVector<llvm::BasicBlock*> work{use};
    while (!work.empty()) {
      llvm::BasicBlock* block = work.pop_back_val();
      if (!seen.insert(block).second) continue;
      if (continuations_.contains(block)) return true;
      for (llvm::BasicBlock* before : llvm::predecessors(block))
        if (before != definition) work.push_back(before);
    }
    return false;
  }

  bool reaches_through_site(llvm::BasicBlock* from, const std::set<llvm::BasicBlock*>& targets) {
    std::set<std::pair<llvm::BasicBlock*, bool>> seen;
    llvm::SmallVector<std::pair<llvm::BasicBlock*, bool>> work{{from, false}};
    while (!work.empty()) {
      const auto [block, passed] = work.pop_back_val();
      for (llvm::BasicBlock* next : llvm::successors(block)) {
        const bool now = passed || continuations_.contains(next);
        if (now && targets.contains(next)) return true;
        if (seen.insert({next, now}).second) work.push_back({next, now});
      }
    }
    return false;
  }

  /// Known in every region: arguments, constants, and the addresses of private memory.
  bool is_leaf(const llvm::Value* value) const {
    if (const auto* alloca = llvm::dyn_cast<llvm::AllocaInst>(value))
      return alloca->getParent() == &function_.getEntryBlock();
    return llvm::isa<llvm::Argument, llvm::Constant>(value);
  }

  bool expand(llvm::Value* value, std::set<llvm::Value*>& seen) {
    if (is_leaf(value)) return true;
    auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
    if (instruction == nullptr || !is_cheap(*instruction)) return false;
    if (!seen.insert(value).second) return true;
    if (seen.size() > kMaximalRecomputed) return false;
    for (llvm::Value* operand : instruction->operands())
      if (!expand(operand, seen)) return false;
    return true;
  }

  /// The expression again, at the start of `block` and once for each block: its leaves are known everywhere.
  llvm::Value* clone_into(llvm::Value& value, llvm::BasicBlock* block) {
    if (is_leaf(&value)) return &value;
    auto* instruction = llvm::cast<llvm::Instruction>(&value);
    llvm::Value*& made = clones_[{instruction, block}];
    if (made != nullptr) return made;
    llvm::Instruction* copy = instruction->clone();
    for (llvm::Use& operand : copy->operands()) operand.set(clone_into(*operand.get(), block));
    // Operands first: what this one needs was inserted before it by the recursion.
    llvm::Instruction*& last = last_clone_[block];
    if (last != nullptr)
      copy->insertAfter(last);
    else if (block == &function_.getEntryBlock())
      copy->insertBefore(&*block->getFirstNonPHIOrDbgOrAlloca());
    else
      copy->insertBefore(&*block->getFirstInsertionPt());
    last = copy;
    clones_[{instruction, block}] = copy;
    return copy;
  }

  llvm::Function& function_;
  std::set<llvm::BasicBlock*> continuations_;
  std::map<std::pair<llvm::Instruction*, llvm::BasicBlock*>, llvm::Value*> clones_;
  std::map<llvm::BasicBlock*, llvm::Instruction*> last_clone_;
};

}  // namespace

uint64_t estimate_kept(const std::vector<MeetingPoint>& sites, llvm::Function& function) {
  std::set<const llvm::Instruction*> calls;
  for (const MeetingPoint& site : sites) calls.insert(site.call);
  // Sites that come before each instruction, in an order in which values come before what uses them.
  std::map<const llvm::Value*, uint64_t> before;
  uint64_t passed = 0;
  const llvm::ReversePostOrderTraversal<llvm::Function*> order(&function);
  for (llvm::BasicBlock* block : order)
    for (llvm::Instruction& instruction : *block) {
      passed += calls.contains(&instruction) ? 1 : 0;
      before[&instruction] = passed;
    }
  uint64_t kept = 0;
  for (llvm::Instruction& value : llvm::instructions(function)) {
    const auto made = before.find(&value);
    if (made == before.end() || llvm::isa<llvm::AllocaInst>(value)) continue;
    uint64_t last = made->second;
    for (const llvm::Use& use : value.uses()) {
      const auto* user = llvm::cast<llvm::Instruction>(use.getUser());
      if (llvm::isa<llvm::PHINode>(user)) user = use_block(use)->getTerminator();
      const auto own = before.find(user);
      if (own != before.end()) last = std::max(last, own->second);
    }
    kept += last - made->second;
  }
  return kept;
}

LiveState keep_live_values(llvm::Function& function, const std::vector<MeetingPoint>& sites,
                           const Uniformity* uniformity, const std::vector<llvm::AllocaInst*>& slots) {
  LiveState state;
  for (llvm::AllocaInst* slot : slots) state.variables.push_back({slot, false});
  Keeper keeper(function, sites);
  llvm::SmallVector<llvm::Instruction*> values;
  llvm::SmallVector<llvm::AllocaInst*> allocas;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    if (auto* alloca = llvm::dyn_cast<llvm::AllocaInst>(&instruction))
      allocas.push_back(alloca);
    else if (!instruction.getType()->isVoidTy() && !instruction.use_empty())
      values.push_back(&instruction);
  }
  for (llvm::AllocaInst* alloca : allocas)
    if (!llvm::is_contained(slots, alloca) && keeper.array_crosses(*alloca)) state.arrays.push_back(alloca);

  llvm::SmallVector<std::pair<llvm::Instruction*, std::set<llvm::BasicBlock*>>> kept;
  for (llvm::Instruction* value : values) {
    const auto blocks = keeper.crossing_uses(*value);
    if (blocks.empty()) continue;
    if (keeper.is_recomputable(value))
      keeper.recompute(*value, blocks);
    else
      kept.emplace_back(value, blocks);
  }
  for (auto& [value, blocks] : kept) {
    // Recomputing others may have taken over uses; ask again.
    if (keeper.crossing_uses(*value).empty()) continue;
    const bool uniform = uniformity != nullptr && !uniformity->is_varying(value);
    state.variables.push_back({keeper.demote(*value), uniform});
  }
  return state;
}

void compute_liveness(llvm::Function& function, const std::vector<MeetingPoint>& sites, LiveState& state) {
  const unsigned count = static_cast<unsigned>(state.variables.size());
  std::map<const llvm::Value*, unsigned> index;
  for (unsigned i = 0; i < count; ++i) index[state.variables[i].slot] = i;
  struct Flow {
    llvm::BitVector read;  // before any write in the block
    llvm::BitVector written;
    llvm::BitVector live_in;
  };
  std::map<const llvm::BasicBlock*, Flow> flows;
  std::vector<llvm::BasicBlock*> order;
  for (llvm::BasicBlock* block : llvm::post_order(&function)) {
    order.push_back(block);
    Flow flow{llvm::BitVector(count), llvm::BitVector(count), llvm::BitVector(count)};
    for (const llvm::Instruction& instruction : *block) {
      if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
        const auto at = index.find(load->getPointerOperand());
        if (at != index.end() && !flow.written.test(at->second)) flow.read.set(at->second);
      } else if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
        const auto at = index.find(store->getPointerOperand());
        if (at != index.end()) flow.written.set(at->second);
      }
    }
    flows.emplace(block, std::move(flow));
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (llvm::BasicBlock* block : order) {
      Flow& flow = flows[block];
      llvm::BitVector live(count);
      for (const llvm::BasicBlock* next : llvm::successors(block)) live |= flows[next].live_in;
      live.reset(flow.written);
      live |= flow.read;
      if (live != flow.live_in) {
        flow.live_in = std::move(live);
        changed = true;
      }
    }
  }
  state.live_at_site.clear();
  for (const MeetingPoint& site : sites) {
    const auto at = flows.find(site.continuation);
    state.live_at_site.push_back(at != flows.end() ? at->second.live_in : llvm::BitVector(count));
  }
}

}  // namespace smelt::aot::cpu
