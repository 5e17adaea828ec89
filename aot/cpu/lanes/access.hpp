// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is known of one load or store of a gang.
#pragma once

#include "lanes/emit.hpp"

namespace smelt::aot::cpu::lanes {

struct Emitter::Access {
  llvm::Value* pointer = nullptr;  // of the source
  llvm::Type* type = nullptr;      // of one lane's value
  LaneLayout layout;
  llvm::Align align;
  unsigned stride = 0;        // elements from one lane to the next, 0 if not a small whole number
  bool whole_blocks = false;  // the unused places between lanes may be read too
  Shape shape;
  bool is_own = false;      // private memory at one index for all lanes: the places of lanes that are off are there too
  bool is_private = false;  // of the kernel's own arrays

  // Lanes side by side, and what is between them may be read.
  bool is_block() const {
    const size_t count = layout.fields.size();
    return stride != 0 && (count == stride || (count < stride && whole_blocks));
  }
};

}  // namespace smelt::aot::cpu::lanes
