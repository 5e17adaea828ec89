// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What AIR does not have at all, by the lists that stand in front of code generation.
#include "gate/gate.hpp"
#include "verify/checks.hpp"

#include "llvm/IR/Module.h"

namespace smelt::aot::verify {
namespace {

constexpr size_t kMostBreaches = 32;

}  // namespace

void check_foreign(const llvm::Module& module, Findings& findings) {
  const auto spaces = module.getNamedMetadata("air.mesh") || module.getNamedMetadata("air.object")
                          ? gate::Spaces::with_mesh
                          : gate::Spaces::of_kernels;
  for (const gate::Breach& breach : gate::find_breaches(module, kMostBreaches, spaces))
    if (!breach.verify_knows) findings.error(Check::foreign, breach.place, "{}", breach.message);
}

}  // namespace smelt::aot::verify
