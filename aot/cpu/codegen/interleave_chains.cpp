// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/interleave_chains.hpp"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/BasicBlock.h"
#include "llvm/IR/IntrinsicInst.h"

#include <algorithm>
#include <vector>

namespace smelt::aot::cpu {
namespace {

/// Registers of 512 bits for the sums that go on in turns: so many that none waits for itself, and that their operands
/// have registers too.
constexpr uint64_t kRegistersInTurns = 8;

/// Multiply-adds of which each adds to the one before, and nothing else reads that.
struct Chain {
  std::vector<llvm::Instruction*> links;
  size_t first = 0, last = 0;  // places in the block

  llvm::Type* type() const { return links.front()->getType(); }
};

class Chains {
 public:
  explicit Chains(llvm::BasicBlock& block) {
    llvm::DenseMap<const llvm::Value*, size_t> ends_with;
    for (llvm::Instruction& instruction : block) {
      const size_t at = place_.size();
      place_[&instruction] = at;
      auto* add = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
      if (add == nullptr || add->getIntrinsicID() != llvm::Intrinsic::fma || !add->getType()->isVectorTy()) continue;
      const llvm::Value* sum = add->getArgOperand(2);
      const auto before = ends_with.find(sum);
      const bool goes_on = before != ends_with.end() && sum->hasOneUse();
      const size_t which = goes_on ? before->second : chains_.size();
      if (!goes_on) chains_.push_back({{}, at, at});
      chains_[which].links.push_back(add);
      chains_[which].last = at;
      ends_with[add] = which;
    }
  }

  void interleave() {
    for (size_t begin = 0, end = 0; begin < chains_.size(); begin = end) {
      end = end_of_turns(begin);
      const Chain& last = chains_[end - 1];
      for (size_t link = 0; link < last.links.size(); ++link)
        for (size_t i = begin; i + 1 < end; ++i) chains_[i].links[link]->moveBefore(last.links[link]);
    }
  }

 private:
  /// Behind the last chain that can take turns with the one at `begin`.
  size_t end_of_turns(size_t begin) const {
    const Chain& one = chains_[begin];
    const uint64_t registers = std::max<uint64_t>(1, one.type()->getPrimitiveSizeInBits().getFixedValue() / 512);
    size_t end = begin + 1;
    while (end < chains_.size() && (end - begin + 1) * registers <= kRegistersInTurns &&
           chains_[end].type() == one.type() && chains_[end].links.size() == one.links.size() &&
           chains_[end - 1].last < chains_[end].first)
      ++end;
    // All sums are there when the last one is.
    for (size_t i = begin; i + 1 < end; ++i)
      if (is_read_before(chains_[i], chains_[end - 1].last)) return i + 1;
    return end;
  }

  bool is_read_before(const Chain& chain, size_t place) const {
    return llvm::any_of(chain.links.back()->users(), [&](const llvm::User* user) {
      const auto found = place_.find(user);
      return found != place_.end() && !llvm::isa<llvm::PHINode>(user) && found->second < place;
    });
  }

  std::vector<Chain> chains_;
  llvm::DenseMap<const llvm::Value*, size_t> place_;
};

}  // namespace

void interleave_chains(llvm::BasicBlock& block) {
  Chains(block).interleave();
}

}  // namespace smelt::aot::cpu
