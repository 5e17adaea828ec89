// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "allow_list/allow_list.hpp"

#include "allow_list/inspector.hpp"
#include "allow_list/lists.hpp"
#include "kernel_ir/handles.hpp"
#include "ops/intrinsics.hpp"

#include "llvm/IR/AttributeMask.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

#include <algorithm>

namespace smelt::aot::allow_list {
namespace {

/// Attributes that are text and not listed.
llvm::AttributeMask unlisted_text(const llvm::AttributeSet& attributes) {
  llvm::AttributeMask unlisted;
  for (const llvm::Attribute attribute : attributes)
    if (attribute.isStringAttribute() && !has_text_attribute(attribute.getKindAsString()))
      unlisted.addAttribute(attribute);
  return unlisted;
}

void keep_listed(llvm::Function& function) {
  function.removeFnAttrs(unlisted_text(function.getAttributes().getFnAttrs()));
  function.clearMetadata();  // profiles, types of calls, sections of program counters; debug information goes anyway
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    instruction.dropUnknownNonDebugMetadata(metadata_kinds());
    if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction))
      call->removeFnAttrs(unlisted_text(call->getAttributes().getFnAttrs()));
  }
}

/// True where an operation or a type of imageblocks is in the module. `verify` checks that an entry point gets one.
bool has_imageblock(const llvm::Module& module) {
  return std::any_of(module.begin(), module.end(),
                     [](const llvm::Function& function) {
                       return air::stages_of(std::string_view(function.getName())) == air::kInTiles;
                     }) ||
         llvm::StructType::getTypeByName(module.getContext(), kernel_ir::kImageblockType) != nullptr;
}

}  // namespace

Spaces spaces_of(const llvm::Module& module) {
  if (module.getNamedMetadata("air.mesh") != nullptr || module.getNamedMetadata("air.object") != nullptr)
    return Spaces::with_mesh;
  return has_imageblock(module) ? Spaces::with_tile : Spaces::of_kernels;
}

std::vector<Breach> find_breaches(const llvm::Module& module, size_t most, Spaces spaces) {
  return Inspector(module, most, spaces).inspect();
}

Result<void> admit(llvm::Module& module) {
  const std::vector<Breach> found = find_breaches(module, 1);
  if (!found.empty())
    return fail(Errc::unsupported, "{}{}{}: AIR does not allow this, so nothing is compiled from this module",
                found[0].place, found[0].place.empty() ? "" : ": ", found[0].message);
  for (llvm::Function& function : module) keep_listed(function);
  for (llvm::GlobalVariable& global : module.globals()) {
    global.clearMetadata();
    global.setAttributes({});
  }
  for (llvm::NamedMDNode& node : llvm::make_early_inc_range(module.named_metadata()))
    if (!node.getName().starts_with("air.") && !node.getName().starts_with("llvm.dbg.") &&
        node.getName() != "llvm.module.flags" && node.getName() != "llvm.ident")
      module.eraseNamedMetadata(&node);
  return {};
}

}  // namespace smelt::aot::allow_list
