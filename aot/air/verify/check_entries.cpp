// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The entry point's node (docs/formats/air.md 1.5): { function, outputs, inputs [, extras] }.
#include "interface/entry.hpp"
#include "kernel_ir/handles.hpp"
#include "verify/checks.hpp"

#include "llvm/IR/Module.h"

namespace smelt::aot::verify {
namespace {

void check_kernel(const EntryNode& entry, Findings& findings) {
  const std::string place = fmt::format("!air.{}", entry.stage);
  const llvm::Function& function = *entry.function;
  if (!function.getReturnType()->isVoidTy())
    findings.error(Check::entry, place, "the {} returns a value; want void", entry.stage);
  if (function.hasLocalLinkage())
    findings.error(Check::entry, place, "the {} is internal; want external linkage", entry.stage);
  if (function.getCallingConv() != llvm::CallingConv::C)
    findings.error(Check::entry, place, "the {} has calling convention {}; want the default", entry.stage,
                   function.getCallingConv());
  const auto* outputs = llvm::dyn_cast_or_null<llvm::MDNode>(entry.node->getOperand(1));
  if (!outputs || outputs->getNumOperands() != 0)
    findings.error(Check::entry, place, "the outputs of a {} are the empty node", entry.stage);
}

/// An array of textures or samplers is passed byval (docs/formats/air.md 1.6), and nothing else is. Before it is
/// written, a structure stands for each.
bool is_array_of_handles(const llvm::Type& type) {
  const auto* array = llvm::dyn_cast<llvm::ArrayType>(&type);
  if (!array) return false;
  if (const auto* structure = llvm::dyn_cast<llvm::StructType>(array->getElementType()))
    return !kernel_ir::structure_of_handle(*structure).empty();
  if (!array->getElementType()->isPointerTy()) return false;
  const unsigned space = array->getElementType()->getPointerAddressSpace();
  return space == 1 || space == 2;  // device: a texture; constant: a sampler
}

void check_shape(const EntryNode& entry, Version air, Findings& findings) {
  const std::string place = fmt::format("!air.{}", entry.stage);
  if (!entry.function) {
    findings.error(Check::entry, place, "an entry names no function");
    return;
  }
  if (entry.function->isDeclaration())
    findings.error(Check::entry, place, "'{}' has no body", entry.function->getName().str());
  // A caller would copy it for the function. An entry point's arguments are bound, so nothing says whose copy is
  // written.
  for (const llvm::Argument& argument : entry.function->args())
    if ((argument.hasByValAttr() && !is_array_of_handles(*argument.getParamByValType())) || argument.hasByRefAttr() ||
        argument.hasStructRetAttr())
      findings.error(Check::entry, place, "argument {} is byval, byref or sret; an entry point's are bound, not passed",
                     argument.getArgNo());
  if (entry.node->getNumOperands() < 3) {
    findings.error(Check::entry, place, "{} operands; want function, outputs, inputs", entry.node->getNumOperands());
    return;
  }
  if (entry.stage == "kernel" || entry.stage == "mesh" || entry.stage == "object") check_kernel(entry, findings);
  if (entry.stage == "vertex" || entry.stage == "fragment" || entry.stage == "visible") check_stage(entry, findings);
  check_arguments(entry, air, findings);
}

void check_entries_against_container(const std::vector<EntryNode>& entries, const ModuleContext& context,
                                     Findings& findings) {
  if (context.function.empty() || context.stage == "unqualified" || context.stage == "external") return;
  for (const EntryNode& entry : entries)
    if (entry.function && entry.function->getName() == context.function) {
      if (!context.stage.empty() && entry.stage != context.stage)
        findings.error(Check::entry, "", "the container says {}, the module !air.{}", context.stage, entry.stage);
      return;
    }
  std::string names;
  for (const EntryNode& entry : entries)
    if (entry.function) names += (names.empty() ? "'" : ", '") + entry.function->getName().str() + "'";
  findings.error(Check::entry, "", "the module has no entry point of the function's name, but {}",
                 names.empty() ? "none at all" : names);
}

}  // namespace

std::vector<EntryNode> entries_of(const llvm::Module& module) {
  std::vector<EntryNode> entries;
  for (const std::string_view stage : air::kStages) {
    const llvm::NamedMDNode* list = module.getNamedMetadata(fmt::format("air.{}", stage));
    if (!list) continue;
    for (const llvm::MDNode* node : list->operands()) {
      EntryNode entry{std::string(stage), node, nullptr};
      if (node->getNumOperands() > 0)
        entry.function = llvm::mdconst::dyn_extract_or_null<llvm::Function>(node->getOperand(0));
      entries.push_back(entry);
    }
  }
  return entries;
}

void check_entries(const llvm::Module& module, const ModuleContext& context, Version air, Findings& findings) {
  const std::vector<EntryNode> entries = entries_of(module);
  if (entries.empty()) {
    findings.error(Check::entry, "", "no entry point: none of !air.kernel, !air.vertex, !air.fragment, ...");
    return;
  }
  if (entries.size() > 1)
    findings.note(Check::entry, "", "{} entry points in one module; Apple's libraries have one each", entries.size());
  for (const EntryNode& entry : entries) check_shape(entry, air, findings);
  check_entries_against_container(entries, context, findings);
}

}  // namespace smelt::aot::verify
