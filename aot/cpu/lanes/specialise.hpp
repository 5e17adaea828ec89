// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies of code for the usual case that all lanes are on.
//
// `for (i = lane; i < n; i += 32)` keeps all lanes until its last pass, and `if (i < n)` all of them in every gang but
// one. Under a mask each of their loads and stores costs more, up to several times more where the processor has no mask
// registers. So both are written twice, the choice being a branch that all lanes take together:
//
//   loop   a copy runs while `smelt.lanes.all(stays)` holds, and hands over to the masked loop when some lane leaves.
//          The two are one loop in two halves: a lane's passes are divided between them, none is done twice.
//   if     a copy of the arm runs if `smelt.lanes.all(enters)` holds, else the masked arm. Arms with loops are copied,
//          and small ones with several accesses to memory.
//
// Only conditions that compare a linear or spread value with a uniform one are worth it: others part the lanes at once.
#pragma once

#include "lanes/shapes.hpp"

#include <cstddef>

namespace llvm {
class BasicBlock;
class Function;
}  // namespace llvm

namespace smelt::aot::cpu::lanes {

/// `function` must have passed structurise(), and is in that form afterwards. For gangs of which all lanes exist.
/// `spread`: conditions on spread values too, which large kernels have too many of. True if something was copied.
bool specialise(llvm::Function& function, llvm::ArrayRef<Shape> arguments, unsigned lanes, bool spread);

/// Loads and stores.
size_t memory_accesses(const llvm::BasicBlock& block);

}  // namespace smelt::aot::cpu::lanes
