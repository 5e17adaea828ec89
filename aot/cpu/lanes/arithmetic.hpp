// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Instructions that compute each lane's value from the lane's own values. Calls the context alone.
#pragma once

#include "lanes/context.hpp"

namespace smelt::aot::cpu::lanes {

/// llvm.vector.reduce.* of a thread's own vector.
bool is_component_reduction(unsigned intrinsic);

class Arithmetic {
 public:
  explicit Arithmetic(GangContext& gang) : gang_(gang) {}

  void emit(llvm::Instruction& instruction);
  /// One instruction for the gang, on lane 0's operands.
  void emit_copy(llvm::Instruction& instruction);

 private:
  GangContext& gang_;
};

}  // namespace smelt::aot::cpu::lanes
