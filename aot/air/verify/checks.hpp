// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The checks of one module, a file each.
#pragma once

#include "smelt/aot/stage_info.hpp"

#include "verify/findings.hpp"
#include "verify/raw_module.hpp"

#include <span>

namespace llvm {
class Function;
class MDNode;
class Module;
}  // namespace llvm

namespace smelt::aot::verify {

/// An entry point as the metadata names it.
struct EntryNode {
  std::string stage;
  const llvm::MDNode* node = nullptr;
  const llvm::Function* function = nullptr;  ///< null: the node names none
};
std::vector<EntryNode> entries_of(const llvm::Module& module);

void check_records(const RawModule& raw, Version air, Findings& findings);
void check_module_metadata(const llvm::Module& module, const ModuleContext& context, Findings& findings);
/// Before AIR 2.3 textures and others have other forms, which the table does not hold.
bool has_known_operations(Version air);
void note_unknown_operations(Version air, Findings& findings);
void check_operations(const RawModule& raw, Version air, bool made_by_apple, Findings& findings);
void check_entries(const llvm::Module& module, const ModuleContext& context, Version air, Findings& findings);
void check_arguments(const EntryNode& entry, Version air, Findings& findings);
/// Results and inputs of a vertex, fragment or visible function.
void check_stage(const EntryNode& entry, Findings& findings);
/// Fragments of a library whose inputs its vertex functions do not give: notes, since others may.
void check_hand_over(std::span<const StageInfo> functions, Findings& findings);
void check_limits(const llvm::Module& module, Findings& findings);
/// By the allow-list (allow_list/allow_list.hpp).
void check_foreign(const llvm::Module& module, Findings& findings);

}  // namespace smelt::aot::verify
