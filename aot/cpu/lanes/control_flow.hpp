// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks, phis and terminators of the gang's function, and the mask of every block. Calls the context alone; the
// emitter fills the blocks between open() and close(). The function must have the form of structure.hpp.
#pragma once

#include "lanes/context.hpp"

#include <vector>

namespace smelt::aot::cpu::lanes {

class ControlFlow {
 public:
  explicit ControlFlow(GangContext& gang) : gang_(gang), builder_(gang.builder) {}

  /// The source's blocks, in the order in which to fill them. The entry goes on to the first.
  std::vector<llvm::BasicBlock*> create_blocks();
  void open(llvm::BasicBlock* block);
  void close(llvm::BasicBlock* block);
  /// When all blocks are closed.
  void connect_phis(llvm::BasicBlock* block);

 private:
  struct LoopState {
    llvm::PHINode* mask = nullptr;
    /// Values that leave the loop: what each lane had when it left.
    struct Leaving {
      llvm::PHINode* exit_phi = nullptr;
      llvm::Value* value = nullptr;
      llvm::PHINode* header_phi = nullptr;  ///< keeps the value itself, if its next value is the one that leaves
      llvm::SmallVector<llvm::PHINode*, 1> kept;
    };
    llvm::SmallVector<Leaving, 4> leaving;
  };

  void open_divergent_loop(llvm::Loop* loop);
  void create_phis(llvm::BasicBlock* block);
  void emit_terminator(llvm::BasicBlock* block);
  void emit_divergent_branch(llvm::BasicBlock* block, llvm::BranchInst* branch);
  void close_divergent_loop(llvm::Loop* loop, llvm::BranchInst* branch);
  Parts incoming_parts(llvm::PHINode& phi, llvm::BasicBlock* from);
  llvm::Value* incoming_scalar(llvm::PHINode& phi, llvm::BasicBlock* from);
  llvm::Value* incoming_matrix(llvm::PHINode& phi, llvm::BasicBlock* from);
  llvm::Value* mask_of(llvm::BasicBlock* block);
  llvm::Loop* divergent_loop_left_at(llvm::BasicBlock* block) const;

  GangContext& gang_;
  llvm::IRBuilder<>& builder_;
  llvm::DenseMap<const llvm::BasicBlock*, llvm::BasicBlock*> first_, last_;
  llvm::DenseMap<const llvm::BasicBlock*, llvm::Value*> mask_, arm_mask_;
  llvm::DenseMap<const llvm::Loop*, LoopState> divergent_loops_;
  llvm::DenseMap<const llvm::PHINode*, Parts> blended_next_;  // header phis that keep their value when a lane leaves
};

}  // namespace smelt::aot::cpu::lanes
