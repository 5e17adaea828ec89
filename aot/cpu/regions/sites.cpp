// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "regions/sites.hpp"

#include "regions/uniformity.hpp"
#include "work_item/make_work_item.hpp"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include <map>
#include <set>

namespace smelt::aot::cpu {
namespace {

constexpr const char* kReconverge = "smelt.reconverge";

struct SiteCall {
  MeetingPoint::Kind kind;
  std::optional<Collective> collective;
};

std::optional<SiteCall> classify(const llvm::Instruction& instruction, bool lanes) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  if (call == nullptr || call->getCalledFunction() == nullptr) return std::nullopt;
  const llvm::StringRef name = call->getCalledFunction()->getName();
  if (name == kReconverge) return SiteCall{MeetingPoint::Kind::reconverge, std::nullopt};
  const std::optional<Collective> collective = parse_collective(name);
  if (!collective) return std::nullopt;
  if (collective->kind == CollectiveKind::threadgroup_barrier) return SiteCall{MeetingPoint::Kind::barrier, collective};
  if (collective->kind == CollectiveKind::simdgroup_barrier)
    return SiteCall{lanes ? MeetingPoint::Kind::reconverge : MeetingPoint::Kind::barrier, collective};
  return SiteCall{MeetingPoint::Kind::collective, collective};
}

/// Blocks in an order in which each loop is one run and no edge but a loop's back edges goes backwards. (For
/// irreducible graphs, which have loops that LoopInfo does not know, some other edges may.)
class LoopOrder {
 public:
  LoopOrder(llvm::Function& function, const llvm::LoopInfo& loops) : loops_(loops) {
    place(nullptr, &function.getEntryBlock());
  }
  const std::vector<llvm::BasicBlock*>& blocks() const { return blocks_; }

 private:
  /// What stands for `block` inside `loop`: itself, or the outermost loop around it that lies in `loop`.
  const llvm::Loop* child_around(const llvm::BasicBlock* block, const llvm::Loop* loop) const {
    const llvm::Loop* inner = loops_.getLoopFor(block);
    if (inner == loop) return nullptr;
    while (inner->getParentLoop() != loop) inner = inner->getParentLoop();
    return inner;
  }

  void place(const llvm::Loop* loop, llvm::BasicBlock* first) {
    std::set<llvm::BasicBlock*> seen;  // headers stand for inner loops
    std::vector<llvm::BasicBlock*> finished;
    visit(loop, first, first, seen, finished);
    for (auto at = finished.rbegin(); at != finished.rend(); ++at) {
      if (const llvm::Loop* child = child_around(*at, loop))
        place(child, child->getHeader());
      else
        blocks_.push_back(*at);
    }
  }

  void visit(const llvm::Loop* loop, llvm::BasicBlock* first, llvm::BasicBlock* block,
             std::set<llvm::BasicBlock*>& seen, std::vector<llvm::BasicBlock*>& finished) {
    struct Frame {
      llvm::BasicBlock* node;
      std::vector<llvm::BasicBlock*> next;
    };
    std::vector<Frame> stack;
    const auto enter = [&](llvm::BasicBlock* from) {
      const llvm::Loop* child = child_around(from, loop);
      llvm::BasicBlock* node = child != nullptr ? child->getHeader() : from;
      if (!seen.insert(node).second) return;
      Frame frame{node, {}};
      if (child != nullptr) {
        llvm::SmallVector<llvm::BasicBlock*> exits;
        child->getUniqueExitBlocks(exits);
        frame.next.assign(exits.begin(), exits.end());
      } else {
        frame.next.assign(llvm::succ_begin(node), llvm::succ_end(node));
      }
      std::erase_if(frame.next,
                    [&](llvm::BasicBlock* b) { return b == first || (loop != nullptr && !loop->contains(b)); });
      stack.push_back(std::move(frame));
    };
    enter(block);
    while (!stack.empty()) {
      if (stack.back().next.empty()) {
        finished.push_back(stack.back().node);
        stack.pop_back();
        continue;
      }
      llvm::BasicBlock* next = stack.back().next.back();
      stack.back().next.pop_back();
      enter(next);
    }
  }

  const llvm::LoopInfo& loops_;
  std::vector<llvm::BasicBlock*> blocks_;
};

}  // namespace

bool barriers_are_uniform(const WorkItem& item, const Uniformity& uniformity, bool lanes) {
  for (const llvm::Instruction& instruction : llvm::instructions(*item.function)) {
    const auto site = classify(instruction, lanes);
    if (site && site->kind == MeetingPoint::Kind::barrier && uniformity.is_under_divergence(instruction.getParent()))
      return false;
  }
  return true;
}

void add_reconvergence(const WorkItem& item) {
  llvm::Function& function = *item.function;
  const Uniformity uniformity(item);
  const llvm::DominatorTree dominators(function);
  const llvm::LoopInfo loops(dominators);
  llvm::FunctionCallee reconverge;
  for (const llvm::Loop* loop : loops.getLoopsInPreorder()) {
    bool holds_site = false;
    bool divergent = false;
    for (const llvm::BasicBlock* block : loop->blocks()) {
      divergent |= uniformity.is_divergent(block);
      for (const llvm::Instruction& instruction : *block) holds_site |= classify(instruction, true).has_value();
    }
    if (!holds_site || !divergent) continue;
    if (!reconverge) {
      reconverge = function.getParent()->getOrInsertFunction(kReconverge, llvm::Type::getVoidTy(function.getContext()));
      auto* callee = llvm::cast<llvm::Function>(reconverge.getCallee());
      callee->addFnAttr(llvm::Attribute::Convergent);
      callee->addFnAttr(llvm::Attribute::NoMerge);
    }
    llvm::SmallVector<llvm::BasicBlock*> latches;
    loop->getLoopLatches(latches);
    for (llvm::BasicBlock* latch : latches) {
      // An inner loop may share the latch block's end: one site does for both.
      const llvm::Instruction* last = latch->getTerminator()->getPrevNode();
      const auto* call = llvm::dyn_cast_or_null<llvm::CallInst>(last);
      if (call != nullptr && call->getCalledFunction() == reconverge.getCallee()) continue;
      llvm::CallInst::Create(reconverge, {}, "", latch->getTerminator()->getIterator());
    }
  }
}

std::vector<MeetingPoint> find_sites(const WorkItem& item, bool lanes) {
  const llvm::DominatorTree dominators(*item.function);
  const llvm::LoopInfo loops(dominators);
  const LoopOrder order(*item.function, loops);
  std::vector<MeetingPoint> sites;
  for (llvm::BasicBlock* block : order.blocks())
    for (llvm::Instruction& instruction : *block)
      if (const auto found = classify(instruction, lanes)) {
        MeetingPoint site;
        site.kind = found->kind;
        site.collective = found->collective;
        site.number = static_cast<unsigned>(sites.size()) + 1;
        site.call = llvm::cast<llvm::CallInst>(&instruction);
        sites.push_back(std::move(site));
      }
  return sites;
}

std::optional<std::vector<MeetingPoint>> find_numbered_sites(const WorkItem& item) {
  std::map<uint64_t, MeetingPoint> by_number;
  for (llvm::Instruction& instruction : llvm::instructions(*item.function)) {
    const auto found = classify(instruction, false);
    if (!found) continue;
    const llvm::MDNode* node = instruction.getMetadata(kSiteMetadata);
    if (node == nullptr || found->kind != MeetingPoint::Kind::barrier) return std::nullopt;
    MeetingPoint site;
    site.number = static_cast<unsigned>(llvm::mdconst::extract<llvm::ConstantInt>(node->getOperand(0))->getZExtValue());
    site.collective = found->collective;
    site.call = llvm::cast<llvm::CallInst>(&instruction);
    if (!by_number.emplace(site.number, site).second) return std::nullopt;
  }
  std::vector<MeetingPoint> sites;
  for (auto& [number, site] : by_number) sites.push_back(std::move(site));
  return sites;
}

void split_at_sites(std::vector<MeetingPoint>& sites) {
  for (MeetingPoint& site : sites)
    site.continuation = site.call->getParent()->splitBasicBlock(std::next(site.call->getIterator()), "continue");
}

}  // namespace smelt::aot::cpu
