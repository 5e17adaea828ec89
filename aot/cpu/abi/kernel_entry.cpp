// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "abi/kernel_entry.hpp"

#include "smelt/base/sort.hpp"
#include "smelt/schema/cpu_abi.h"

#include "interface/entry.hpp"
#include "llvm_support/format.hpp"
#include "stages/stage_kernel.hpp"

#include <algorithm>

namespace smelt::aot::cpu {
namespace {

/// What stands for a tensor (smelt_cpu_tensor) or a table (smelt_cpu_function_table) is bound as a buffer. Tensors are
/// run here, though the table of classes refuses them elsewhere.
bool is_record(const air::EntryArgumentNode& argument, BindingClass kind) {
  if (form_of(kind) != BindingForm::record || argument.kind == "air.intersection_function_table") return false;
  return is_run(kind) || kind == BindingClass::tensor;
}

/// What the CPU's code is handed: one address in the dispatch block.
Result<void> check_binding(const Binding& binding, const air::EntryArgumentNode& argument, const llvm::Type& type) {
  const bool is_a_record = is_record(argument, binding.kind);
  const BindingClassRow& row = row_of(is_a_record ? BindingClass::buffer : binding.kind);
  // Of tables only those of visible functions.
  if (row.support == BindingSupport::refused || (binding.kind == BindingClass::table && !is_a_record)) {
    if (row.noun.empty())
      return fail(Errc::unsupported, "argument {} is of kind '{}': not supported on the CPU", argument.index,
                  argument.kind);
    return fail(Errc::unsupported, "argument {} is {}: not supported on the CPU", argument.index, row.noun);
  }
  const std::string_view name = binding.kind == BindingClass::threadgroup ? "buffer" : row.name;
  if (!argument.slots || binding.slot >= row.slots)
    return fail(Errc::unsupported, "argument {}: {} index {} is not one of 0..{}", argument.index, name,
                argument.slots ? fmt::to_string(binding.slot) : "(none)", row.slots - 1);
  const bool is_handle = binding.kind == BindingClass::texture || binding.kind == BindingClass::sampler;
  if (binding.count != 1 && (!is_handle || binding.count == 0 || binding.count > row.slots - binding.slot))
    return fail(Errc::unsupported, "argument {}: an array of {} {}s is not supported on the CPU", argument.index,
                binding.count, name);
  if (!type.isPointerTy())
    return fail(Errc::corrupt, "argument {}: metadata says {}, but the parameter is not a pointer", argument.index,
                name);
  return {};
}

Result<EntryParameter> to_parameter(const air::EntryArgumentNode& argument, const llvm::Type& type, Stage stage) {
  std::optional<EntryParameter> parameter = air::parameter_of(argument, type);
  const auto* input = parameter ? std::get_if<Input>(&*parameter) : nullptr;
  if (!parameter || (input != nullptr && input->kind != InputKind::builtin && stage == Stage::kernel))
    return fail(Errc::unsupported, "argument {} is of kind '{}': not supported on the CPU", argument.index,
                argument.kind);
  if (auto* binding = std::get_if<Binding>(&*parameter)) {
    SMELT_TRY_VOID(check_binding(*binding, argument, type));
    if (binding->kind == BindingClass::table) binding->kind = BindingClass::buffer;  // and read as one
  }
  return std::move(*parameter);
}

Result<void> read_arguments(const llvm::MDNode& entry, KernelEntry& info) {
  const llvm::MDNode* list = air::inputs_of(entry);
  const unsigned parameters = info.function->arg_size();
  if (!list || list->getNumOperands() != parameters)
    return fail(Errc::corrupt, "the entry point has {} parameters and metadata for {}", parameters,
                list ? list->getNumOperands() : 0);
  std::vector<bool> seen(parameters);
  info.interface.parameters.resize(parameters);
  for (const llvm::MDOperand& operand : list->operands()) {
    const auto* node = llvm::dyn_cast_or_null<llvm::MDNode>(operand.get());
    const auto argument = node ? air::read_argument(*node) : std::nullopt;
    if (!argument || argument->index >= parameters || seen[argument->index])
      return fail(Errc::corrupt, "an argument node without an index of its own below {}", parameters);
    seen[argument->index] = true;
    SMELT_TRY(info.interface.parameters[argument->index],
              to_parameter(*argument, *info.function->getArg(argument->index)->getType(), info.interface.stage));
  }
  return {};
}

Result<void> read_function_constants(llvm::Module& module, KernelEntry& info) {
  const llvm::NamedMDNode* rows = module.getNamedMetadata(air::kConstantList);
  if (!rows) return {};
  for (const llvm::MDNode* row : rows->operands()) {
    const air::EntryConstant constant = air::read_constant(*row);
    if (!constant.storage) continue;
    if (!constant.index || *constant.index > 0xffff || !constant.storage->getValueType()->isSized())
      return fail(Errc::corrupt, "function constant {} has no index", constant.storage->getName());
    info.constants.push_back({static_cast<uint32_t>(*constant.index), constant.storage});
  }
  sort_stably(info.constants, [](const FunctionConstant& a, const FunctionConstant& b) { return a.index < b.index; });
  return {};
}

Result<void> read_initialisers(llvm::Module& module, KernelEntry& info) {
  const llvm::GlobalVariable* list = module.getGlobalVariable("llvm.global_ctors");
  if (list == nullptr || !list->hasInitializer()) return {};
  const auto* rows = llvm::dyn_cast<llvm::ConstantArray>(list->getInitializer());
  if (rows == nullptr) return {};  // empty
  std::vector<std::pair<uint64_t, llvm::Function*>> found;
  for (const llvm::Use& use : rows->operands()) {
    const auto* row = llvm::dyn_cast<llvm::ConstantStruct>(use.get());
    auto* function = row != nullptr ? llvm::dyn_cast<llvm::Function>(row->getOperand(1)->stripPointerCasts()) : nullptr;
    const auto* priority = row != nullptr ? llvm::dyn_cast<llvm::ConstantInt>(row->getOperand(0)) : nullptr;
    if (function == nullptr || priority == nullptr || function->isDeclaration() || function->arg_size() != 0 ||
        !function->getReturnType()->isVoidTy())
      return fail(Errc::corrupt, "llvm.global_ctors holds something other than functions of this module");
    found.emplace_back(priority->getZExtValue(), function);
  }
  sort_stably(found, [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [priority, function] : found) info.initialisers.push_back(function);
  return {};
}

bool has_fast_math(const llvm::Module& module) {
  const llvm::NamedMDNode* options = module.getNamedMetadata("air.compile_options");
  return options && llvm::any_of(options->operands(), [](const llvm::MDNode* node) {
           return air::NodeReader(*node).text() == "air.compile.fast_math_enable";
         });
}

}  // namespace

namespace {

struct OnlyEntry {
  std::string_view stage;
  const llvm::MDNode* node = nullptr;
};

Result<OnlyEntry> find_entry(const llvm::Module& module) {
  OnlyEntry found;
  for (const std::string_view stage : {"kernel", "vertex", "fragment"}) {
    const llvm::NamedMDNode* list = air::entry_list(module, stage);
    const unsigned count = list != nullptr ? list->getNumOperands() : 0;
    if (count > 1 || (count == 1 && found.node != nullptr))
      return fail(Errc::unsupported, "{} entry points in one module; a library has one module for each",
                  count + (found.node != nullptr ? 1 : 0));
    if (count == 1) found = {stage, list->getOperand(0)};
  }
  if (found.node != nullptr) return found;
  for (const std::string_view stage : air::kStages)
    if (air::entry_list(module, stage)) return fail(Errc::function_kind, "{}", air::why_not_on_cpu(stage));
  return fail(Errc::function_kind, "no entry point: kernels, vertex and fragment functions run on the CPU");
}

}  // namespace

Result<KernelEntry> read_kernel_entry(llvm::Module& module) {
  SMELT_TRY(const OnlyEntry entry, find_entry(module));
  const bool is_kernel = entry.stage == "kernel";
  KernelEntry info;
  if (!is_kernel) info.interface.stage = entry.stage == "vertex" ? Stage::vertex : Stage::fragment;
  if (entry.node->getNumOperands() >= 3) info.function = air::function_of(*entry.node);
  if (!info.function || info.function->isDeclaration() || info.function->isVarArg() ||
      (is_kernel && !info.function->getReturnType()->isVoidTy()))
    return fail(Errc::corrupt, "!air.{} names no function of this module{}", entry.stage,
                is_kernel ? " that returns void" : "");
  info.name = info.function->getName().str();
  info.fast_math = has_fast_math(module);
  SMELT_TRY_VOID(read_arguments(*entry.node, info));
  SMELT_TRY_VOID(read_function_constants(module, info));
  SMELT_TRY_VOID(read_initialisers(module, info));
  if (!is_kernel) SMELT_TRY_VOID(make_stage_kernel(module, *entry.node, entry.stage, info));
  return info;
}

}  // namespace smelt::aot::cpu
