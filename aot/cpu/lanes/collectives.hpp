// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the lanes of a simdgroup do together: votes, reductions, prefixes, lane moves, matrices, and calls of functions
// in which lanes do so (functions.hpp). Calls the context alone.
#pragma once

#include "lanes/context.hpp"
#include "lower/collectives.hpp"

#include <map>
#include <vector>

namespace smelt::aot::cpu::lanes {

class Collectives {
 public:
  explicit Collectives(GangContext& gang) : gang_(gang), builder_(gang.builder) {}

  void emit_call(llvm::CallInst& call);
  /// Copies, choices and changed elements of whole matrices.
  void emit_matrix(llvm::Instruction& instruction);
  void emit_matrix_element(llvm::ExtractElementInst& extract);
  /// An argument that is rows in memory at `pointer`, and a result that becomes such.
  void set_rows(const llvm::Value* value, llvm::Value* pointer);
  void store_rows(llvm::Value* value, llvm::Value* pointer);
  /// When all is emitted: matrices of small floats that were only wanted as floats.
  void drop_unused_matrix_loads();

 private:
  struct MatrixLoad {
    llvm::LoadInst* value = nullptr;  ///< of the copy that `call` makes
    llvm::CallInst* call = nullptr;
    Collective collective;
    llvm::SmallVector<llvm::Value*, 5> operands;
  };

  // collectives.cpp
  void emit_collective(llvm::CallInst& call, const Collective& collective);
  void emit_vote(llvm::CallInst& call, const Collective& collective);
  Parts move_lanes(llvm::CallInst& call, const Collective& collective);
  llvm::Value* active_or(llvm::Value* value, llvm::Value* neutral);
  /// One scalar for the gang whatever the shape: of the lowest lane that is on.
  llvm::Value* of_first_lane(llvm::Value* value);

  // matrices.cpp
  void emit_matrix_operation(llvm::CallInst& call, const Collective& collective);
  llvm::Value* load_matrix(llvm::Type* type, const Collective& collective, llvm::ArrayRef<llvm::Value*> operands);
  llvm::Value* multiply(llvm::Type* type, const Collective& collective, llvm::ArrayRef<llvm::Value*> matrices);
  /// Where all operands are put together from elements and the result is taken apart: no matrix is ever made.
  bool multiply_elements(llvm::CallInst& call, const Collective& collective);
  /// Where a matrix of the gang's function lies in memory: put there where it is made, once.
  llvm::AllocaInst* in_memory(llvm::Value* matrix);
  llvm::AllocaInst* floats_in_memory(llvm::Value* matrix);
  /// For what is done once with a value, where it is made.
  llvm::IRBuilder<> builder_behind(llvm::Value* made);

  // lane_calls.cpp
  void emit_lane_call(llvm::CallInst& call);
  llvm::Value* rows_in_memory(const Parts& all);
  llvm::Value* broadcast_from_row(llvm::Value* values, llvm::ArrayRef<int> sources);

  GangContext& gang_;
  llvm::IRBuilder<>& builder_;
  llvm::DenseMap<llvm::Value*, llvm::AllocaInst*> in_memory_, floats_in_memory_;
  std::vector<MatrixLoad> matrix_loads_;             // of small floats
  llvm::DenseMap<const llvm::Value*, Parts> slots_;  // of products by multiply_elements: what lanes hold at 0 and 1
  std::map<std::vector<llvm::Value*>, llvm::AllocaInst*> rows_;
  llvm::DenseMap<const llvm::Value*, llvm::Value*> row_of_;  // of arguments that are rows: where each one lies
};

}  // namespace smelt::aot::cpu::lanes
