// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each matrix has memory of its own, where calls read and write it (lanes/matrices.cpp). A loop of products that was
// unrolled has some for each turn, more in the end than the stack may hold (codegen/private_memory.hpp), although few
// of them are wanted at a time. Those whose whole life lies in one block take turns then, in the order of the block:
//
//   %a and %b, written and read before %c is written   ->   %c lies where %a lay
//
// Shorter functions are left as they are.
#include "lanes/matrix_memory.hpp"

#include "codegen/private_memory.hpp"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <vector>

namespace smelt::aot::cpu::lanes {
namespace {

constexpr const char* kMatrix = "smelt.matrix_memory";

/// A kernel is up to four such functions, full and partial gangs in two layouts, and one may become part of another.
constexpr uint64_t kMost = kArraysOnStack / 4;

struct Life {
  llvm::AllocaInst* memory;
  uint64_t bytes;
  unsigned first, last;  ///< numbers of instructions in the block
};

using Numbers = llvm::DenseMap<const llvm::Instruction*, unsigned>;

/// All that uses the memory, also through addresses in it; nothing when it may be used elsewhere too.
std::optional<std::vector<const llvm::Instruction*>> users_of(const llvm::AllocaInst& memory) {
  std::vector<const llvm::Instruction*> users;
  std::vector<const llvm::Instruction*> work{&memory};
  while (!work.empty()) {
    const llvm::Instruction* const at = work.back();
    work.pop_back();
    for (const llvm::User* user : at->users()) {
      const auto* const instruction = llvm::cast<llvm::Instruction>(user);
      if (llvm::isa<llvm::GetElementPtrInst>(instruction))
        work.push_back(instruction);
      else if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(instruction);
               (store == nullptr || store->getValueOperand() == at) &&
               !llvm::isa<llvm::LoadInst, llvm::CallInst>(instruction))
        return std::nullopt;
      users.push_back(instruction);
    }
  }
  return users;
}

/// The block in which all users are; null when there are several, or none.
llvm::BasicBlock* block_of(llvm::ArrayRef<const llvm::Instruction*> users) {
  if (users.empty()) return nullptr;
  const llvm::BasicBlock* const block = users.front()->getParent();
  const bool one = llvm::all_of(users, [&](const llvm::Instruction* user) { return user->getParent() == block; });
  return one ? const_cast<llvm::BasicBlock*>(block) : nullptr;
}

void take_turns(std::vector<Life> lives) {
  std::sort(lives.begin(), lives.end(), [](const Life& a, const Life& b) { return a.first < b.first; });
  struct Taken {
    unsigned until;
    llvm::AllocaInst* memory;
    bool operator>(const Taken& other) const { return until > other.until; }
  };
  std::map<uint64_t, std::priority_queue<Taken, std::vector<Taken>, std::greater<>>> taken;  // by size
  for (const Life& life : lives) {
    auto& of_size = taken[life.bytes];
    llvm::AllocaInst* place = life.memory;
    if (!of_size.empty() && of_size.top().until < life.first) {
      place = of_size.top().memory;
      of_size.pop();
      life.memory->replaceAllUsesWith(place);
      life.memory->eraseFromParent();
    }
    of_size.push({life.last, place});
  }
}

}  // namespace

void mark_matrix_memory(llvm::AllocaInst& memory) {
  memory.setMetadata(kMatrix, llvm::MDNode::get(memory.getContext(), {}));
}

void share_matrix_memory(llvm::Function& function) {
  const llvm::DataLayout& layout = function.getParent()->getDataLayout();
  uint64_t bytes = 0;
  std::vector<llvm::AllocaInst*> matrices;
  for (llvm::Instruction& instruction : function.getEntryBlock())
    if (auto* memory = llvm::dyn_cast<llvm::AllocaInst>(&instruction); memory != nullptr && memory->isStaticAlloca()) {
      bytes += memory->getAllocationSize(layout)->getFixedValue();
      if (memory->hasMetadata(kMatrix)) matrices.push_back(memory);
    }
  if (bytes <= kMost) return;
  llvm::MapVector<llvm::BasicBlock*, std::vector<std::pair<llvm::AllocaInst*, std::vector<const llvm::Instruction*>>>>
      by_block;
  for (llvm::AllocaInst* memory : matrices)
    if (auto users = users_of(*memory))
      if (llvm::BasicBlock* const block = block_of(*users)) by_block[block].emplace_back(memory, std::move(*users));
  for (const auto& [block, found] : by_block) {
    Numbers numbers;
    for (const llvm::Instruction& instruction : *block) numbers.try_emplace(&instruction, numbers.size());
    std::vector<Life> lives;
    for (const auto& [memory, users] : found) {
      Life life{memory, memory->getAllocationSize(layout)->getFixedValue(), ~0u, 0};
      for (const llvm::Instruction* user : users) {
        life.first = std::min(life.first, numbers.lookup(user));
        life.last = std::max(life.last, numbers.lookup(user));
      }
      lives.push_back(life);
    }
    take_turns(std::move(lives));
  }
}

}  // namespace smelt::aot::cpu::lanes
