// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The two rewrites behind structurise(), apart so that each fits on a page. The function is left with variables that
// Variables::promote() turns back into values.
#pragma once

#include "lanes/shapes.hpp"

namespace llvm {
class Loop;
}  // namespace llvm

namespace smelt::aot::cpu::lanes {

class Variables;

/// One latch, and one exit at that latch. Terminators of the loop's blocks must be branches.
void unify_exits(llvm::Loop& loop, Variables& variables);

/// The region from `entry` (excluded) to its post-dominator, as a chain of one-armed ifs. No other edge may lead into
/// the region, and none may lead out of the level's loop. Terminators must be branches.
void linearise(llvm::Function& function, const Levels& levels, const Level& level, const Shapes& shapes, unsigned entry,
               Variables& variables);

/// No edge leads into the region of `node` but from `node`.
bool is_closed(const Level& level, unsigned node);

}  // namespace smelt::aot::cpu::lanes
