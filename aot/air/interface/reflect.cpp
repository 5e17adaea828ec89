// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "interface/reflect.hpp"

#include "interface/argument_members.hpp"
#include "interface/entry.hpp"
#include "interface/module_metadata.hpp"
#include "interface/stage_arrays.hpp"
#include "kernel_ir/cpu_only.hpp"
#include "llvm_support/format.hpp"

#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

#include <algorithm>

namespace smelt::aot::air {
namespace {

ArgumentKind kind_of(std::string_view air_kind, uint8_t address_space) {
  if (const std::optional<BindingClass> kind = class_of_kind(air_kind)) {
    const bool is_threadgroup = air_kind == "air.buffer" && address_space == 3;
    return argument_kind(is_threadgroup ? BindingClass::threadgroup : *kind, air_kind == "air.indirect_buffer");
  }
  for (const std::string_view part : {"thread", "grid", "simdgroup", "quadgroup"})
    if (air_kind.find(part) != std::string_view::npos) return ArgumentKind::builtin;
  return ArgumentKind::other;
}

/// { offset, size, array elements, type, name, ... }: what else a member has, of argument buffers, is passed over.
std::vector<FieldInfo> fields_of(const llvm::MDNode& node) {
  std::vector<FieldInfo> fields;
  const auto number = [&](unsigned at) {
    return at < node.getNumOperands() ? llvm::mdconst::dyn_extract_or_null<llvm::ConstantInt>(node.getOperand(at))
                                      : nullptr;
  };
  const auto text = [&](unsigned at) {
    return at < node.getNumOperands() ? llvm::dyn_cast_or_null<llvm::MDString>(node.getOperand(at)) : nullptr;
  };
  for (unsigned at = 0; at + 4 < node.getNumOperands();) {
    const auto *offset = number(at), *size = number(at + 1), *count = number(at + 2);
    const auto *type = text(at + 3), *name = text(at + 4);
    if (!offset || !size || !count || !type || !name) {
      ++at;
      continue;
    }
    fields.push_back({.offset = static_cast<uint32_t>(offset->getLimitedValue()),
                      .size = static_cast<uint32_t>(size->getLimitedValue()),
                      .count = static_cast<uint32_t>(count->getLimitedValue()),
                      .type_name = type->getString().str(),
                      .name = name->getString().str()});
    at += 5;
  }
  return fields;
}

std::string detail_of(const EntryArgumentNode& argument) {
  std::string text;
  for (const std::string_view word : argument.words)
    fmt::format_to(std::back_inserter(text), "{}{}", text.empty() ? "" : ", ",
                   word.starts_with("air.") ? word.substr(4) : word);
  return text;
}

/// How many components of a hardware value the code reads. It counts all of them when the code does anything else with
/// the vector than read one component.
uint32_t components_read(const llvm::Argument& vector) {
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(vector.getType());
  const uint32_t all = type ? type->getNumElements() : 1;
  uint32_t read = 0;
  for (const llvm::User* user : vector.users()) {
    const auto* extract = llvm::dyn_cast<llvm::ExtractElementInst>(user);
    const auto* index = extract ? llvm::dyn_cast<llvm::ConstantInt>(extract->getIndexOperand()) : nullptr;
    if (!index) return all;
    read = std::max(read, static_cast<uint32_t>(index->getZExtValue()) + 1);
  }
  return std::clamp(read, 1U, all);
}

ArgumentInfo info_of(const EntryArgumentNode& argument, const llvm::Function& function) {
  ArgumentInfo info;
  info.index = argument.index;
  info.air_kind = argument.kind;
  if (argument.slots) {
    info.location = argument.slots->first;
    info.count = argument.slots->count;
  }
  info.address_space = static_cast<uint8_t>(argument.address_space.value_or(0));
  // Address spaces are written from AIR 2.5 on; before, the parameter's type says it.
  if (info.address_space == 0 && info.index < function.arg_size())
    if (const auto* type = llvm::dyn_cast<llvm::PointerType>(function.getArg(info.index)->getType()))
      info.address_space = static_cast<uint8_t>(type->getAddressSpace());
  info.access = argument.access;
  info.name = argument.name;
  info.type_name = argument.type_name;
  if (argument.type_size) {
    info.size = static_cast<uint32_t>(argument.type_size->size);
    info.align = static_cast<uint32_t>(argument.type_size->align);
  }
  if (argument.fields) info.fields = fields_of(*argument.fields);
  info.unused = argument.is_unused;
  info.conditional = argument.is_conditional;
  info.kind = kind_of(info.air_kind, info.address_space);
  if (info.kind == ArgumentKind::builtin && info.index < function.arg_size())
    info.count = components_read(*function.getArg(info.index));
  if (argument.fields && info.kind == ArgumentKind::indirect_buffer) info.members = read_members(*argument.fields);
  if (argument.fields && info.kind == ArgumentKind::buffer) info.members = read_structure(*argument.fields);
  return info;
}

bool asked_whether_defined(const llvm::Value* global) {
  if (!global) return false;
  for (const llvm::User* user : global->users()) {
    if (const auto* call = llvm::dyn_cast<llvm::CallBase>(user)) {
      const llvm::Function* callee = call->getCalledFunction();
      if (callee && callee->getName() == "air.is_function_constant_defined") return true;
    } else if (llvm::isa<llvm::ConstantExpr>(user) && asked_whether_defined(user)) {
      return true;
    }
  }
  return false;
}

std::vector<ConstantInfo> read_constants(const llvm::Module& module) {
  std::vector<ConstantInfo> result;
  const llvm::NamedMDNode* list = module.getNamedMetadata(kConstantList);
  if (!list) return result;
  for (const llvm::MDNode* node : list->operands()) {
    if (node->getNumOperands() < 4) continue;
    const EntryConstant row = read_constant(*node);
    result.push_back({.name = row.name,
                      .type_name = row.type_name,
                      .index = static_cast<uint32_t>(row.index.value_or(0)),
                      .required = !asked_whether_defined(row.storage)});
  }
  return result;
}

Result<std::vector<ArgumentInfo>> read_arguments(const llvm::MDNode& entry, const llvm::Function& function) {
  std::vector<ArgumentInfo> arguments;
  const llvm::MDNode* inputs = inputs_of(entry);
  for (unsigned i = 0; inputs && i < inputs->getNumOperands(); ++i) {
    const auto* node = llvm::dyn_cast_or_null<llvm::MDNode>(inputs->getOperand(i));
    const auto argument = node ? read_argument(*node) : std::nullopt;
    if (!argument)
      return fail(Errc::compile_failed, "argument {} of function '{}' has malformed metadata", i, function.getName());
    arguments.push_back(info_of(*argument, function));
  }
  return arguments;
}

/// { "air.patch", "quad", "air.patch_control_point", n } behind the inputs of a vertex function.
void read_patch(const llvm::MDNode& entry, StageInfo& info) {
  for (unsigned i = 3; i < entry.getNumOperands(); ++i) {
    const auto* node = llvm::dyn_cast_or_null<llvm::MDNode>(entry.getOperand(i));
    if (node == nullptr) continue;
    NodeReader reader(*node);
    if (reader.text() != "air.patch") continue;
    info.patch = reader.text().value_or("");
    if (reader.text() == "air.patch_control_point")
      info.control_points = static_cast<uint32_t>(reader.number().value_or(0));
  }
}

/// { index, "air.patch_control_point_input", { function }, attributes... }
void read_control_points(const llvm::MDNode& input, StageInfo& info) {
  NodeReader reader(input);
  if (!reader.number() || reader.text() != "air.patch_control_point_input") return;
  reader.skip();
  while (const llvm::MDNode* node = reader.node()) {
    NodeReader attribute(*node);
    StageAttributeInfo read;
    while (!attribute.at_end()) {
      const auto key = attribute.text();
      if (key == "air.location_index") {
        read.index = static_cast<uint32_t>(attribute.number().value_or(0));
        attribute.skip();
      } else if (key == "air.arg_type_name") {
        read.type_name = attribute.text().value_or("");
      } else if (key == "air.arg_name") {
        read.name = attribute.text().value_or("");
      } else if (key == "air.arg_unused") {
        read.unused = true;
      } else if (!key) {
        attribute.skip();
      }
    }
    info.control_point_attributes.push_back(std::move(read));
  }
}

/// What the CPU makes of a stage; nothing where it does not, which its own error says.
std::vector<ArgumentInfo> arrays_of(const llvm::Module& module, const llvm::MDNode& entry, std::string_view stage) {
  std::vector<ArgumentInfo> arrays;
  const auto found = stage_arrays(module, entry, stage);
  if (!found) return arrays;
  for (const StageArray& array : *found) {
    const bool is_input = array.role == StageArray::Role::input;
    arrays.push_back({.index = array.index,
                      .kind = is_input ? ArgumentKind::stage_input : ArgumentKind::stage_output,
                      .air_kind = "air." + array.kind,
                      .location = array.slot,
                      .address_space = 1,
                      .access = is_input ? ArgumentAccess::read : ArgumentAccess::write,
                      .name = array.name,
                      .type_name = array.type_name,
                      .size = array.bytes,
                      .unused = !array.used,
                      .conditional = array.optional});
  }
  return arrays;
}

StageValueInfo stage_value_of(const EntryArgumentNode& value) {
  return {value.index, value.kind,           detail_of(value), value.type_name,
          value.name,  value.is_conditional, value.is_unused};
}

}  // namespace

uint64_t threadgroup_bytes(const llvm::Module& module) {
  uint64_t total = 0;
  for (const llvm::GlobalVariable& global : module.globals()) {
    if (global.getAddressSpace() != 3) continue;
    const llvm::DataLayout& layout = module.getDataLayout();
    const llvm::TypeSize size = layout.getTypeAllocSize(global.getValueType());
    if (size.isScalable()) continue;
    total = llvm::alignTo(total, layout.getValueOrABITypeAlignment(global.getAlign(), global.getValueType()));
    total += size.getFixedValue();
  }
  return total;
}

Result<std::vector<KernelInfo>> reflect(const llvm::Module& module) {
  std::vector<KernelInfo> result;
  const std::vector<ConstantInfo> constants = read_constants(module);
  for (const std::string_view stage : kStages) {
    const llvm::NamedMDNode* list = entry_list(module, stage);
    if (!list) continue;
    for (const llvm::MDNode* entry : list->operands()) {
      if (entry->getNumOperands() < 1) continue;
      const llvm::Function* function = function_of(*entry);
      if (!function) return fail(Errc::compile_failed, "an entry of !air.{} names no function", stage);
      KernelInfo info;
      info.name = function->getName().str();
      info.stage = std::string(stage);
      info.constants = constants;
      info.threadgroup_bytes = threadgroup_bytes(module);
      info.cpu_only = kernel_ir::is_cpu_only(module);
      info.air = air_version(module).value_or(Version{});
      info.language = language_version(module).value_or(Version{});
      SMELT_TRY(info.arguments, read_arguments(*entry, *function));
      info.arrays = arrays_of(module, *entry, stage);
      info.max_threads = max_threads_of(*entry).value_or(0);
      result.push_back(std::move(info));
    }
  }
  return result;
}

std::vector<StageInfo> stages_of(const llvm::Module& module) {
  std::vector<StageInfo> result;
  for (const EntryPoint& entry : entry_points(module)) {
    const llvm::NamedMDNode* list = entry_list(module, entry.stage);
    for (unsigned i = 0; list && i < list->getNumOperands(); ++i) {
      const llvm::MDNode& node = *list->getOperand(i);
      const llvm::Function* function = function_of(node);
      if (!function || function->getName() != entry.name) continue;
      StageInfo info{entry.name, entry.stage};
      read_patch(node, info);
      if (const llvm::MDNode* inputs = inputs_of(node))
        for (const llvm::MDOperand& operand : inputs->operands())
          if (const auto* input = llvm::dyn_cast_or_null<llvm::MDNode>(operand)) {
            read_control_points(*input, info);
            if (auto argument = read_argument(*input); argument && !class_of_kind(argument->kind)) {
              // Apple's compiler does not mark all that no code reads.
              argument->is_unused |=
                  argument->index < function->arg_size() && function->getArg(argument->index)->use_empty();
              info.inputs.push_back(stage_value_of(*argument));
            }
          }
      if (const llvm::MDNode* outputs = outputs_of(node))
        for (const llvm::MDOperand& operand : outputs->operands())
          if (const auto* output = llvm::dyn_cast_or_null<llvm::MDNode>(operand))
            info.results.push_back(stage_value_of(read_result(*output)));
      result.push_back(std::move(info));
    }
  }
  return result;
}

Result<KernelInfo> reflect(const llvm::Module& module, std::string_view function) {
  SMELT_TRY(std::vector<KernelInfo> all, reflect(module));
  for (KernelInfo& info : all)
    if (info.name == function) return std::move(info);
  return fail(Errc::function_not_found, "the module has no entry point '{}'", function);
}

}  // namespace smelt::aot::air

namespace smelt::aot {}  // namespace smelt::aot
