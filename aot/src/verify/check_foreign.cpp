// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What AIR does not have at all, by the lists that stand in front of code generation.
#include "air/entry.hpp"
#include "gate/gate.hpp"
#include "verify/checks.hpp"

#include "llvm/IR/Module.h"

namespace smelt::aot::verify {
namespace {

constexpr size_t kMostBreaches = 32;

/// Whether an entry is given an imageblock.
bool has_imageblock(const llvm::Module& module) {
  const llvm::NamedMDNode* list = air::entry_list(module, "kernel");
  for (unsigned i = 0; list != nullptr && i < list->getNumOperands(); ++i)
    if (const llvm::MDNode* inputs = air::inputs_of(*list->getOperand(i)))
      for (const llvm::MDOperand& input : inputs->operands())
        if (const auto* node = llvm::dyn_cast_or_null<llvm::MDNode>(input))
          if (const auto argument = air::read_argument(*node); argument && argument->kind == "air.imageblock")
            return true;
  return false;
}

}  // namespace

void check_foreign(const llvm::Module& module, Findings& findings) {
  const auto spaces = module.getNamedMetadata("air.mesh") || module.getNamedMetadata("air.object")
                          ? gate::Spaces::with_mesh
                      : has_imageblock(module) ? gate::Spaces::with_tile
                                               : gate::Spaces::of_gpus;
  for (const gate::Breach& breach : gate::find_breaches(module, kMostBreaches, spaces))
    if (!breach.verify_knows) findings.error(Check::foreign, breach.place, "{}", breach.message);
}

}  // namespace smelt::aot::verify
