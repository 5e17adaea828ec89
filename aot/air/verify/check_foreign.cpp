// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What AIR does not have at all, by the lists that stand in front of code generation.
#include "allow_list/allow_list.hpp"
#include "kernel_ir/handles.hpp"
#include "ops/intrinsics.hpp"
#include "verify/checks.hpp"

#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/Module.h"

#include <algorithm>

namespace smelt::aot::verify {
namespace {

constexpr size_t kMostBreaches = 32;

/// Whether it works on imageblocks; that an entry is given one is another check's.
bool has_imageblock(const llvm::Module& module) {
  return std::any_of(module.begin(), module.end(),
                     [](const llvm::Function& function) {
                       return air::stages_of(std::string_view(function.getName())) == air::kInTiles;
                     }) ||
         llvm::StructType::getTypeByName(module.getContext(), kernel_ir::kImageblockType) != nullptr;
}

}  // namespace

void check_foreign(const llvm::Module& module, Findings& findings) {
  const auto spaces = module.getNamedMetadata("air.mesh") || module.getNamedMetadata("air.object")
                          ? allow_list::Spaces::with_mesh
                      : has_imageblock(module) ? allow_list::Spaces::with_tile
                                               : allow_list::Spaces::of_kernels;
  for (const allow_list::Breach& breach : allow_list::find_breaches(module, kMostBreaches, spaces))
    if (!breach.verify_knows) findings.error(Check::foreign, breach.place, "{}", breach.message);
}

}  // namespace smelt::aot::verify
