// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "msl/kernel/hardware_variables.hpp"

#include "kernel_ir/builtins.hpp"
#include "msl/facts/stages.hpp"
#include "msl/kernel/thread_variables.hpp"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <optional>

namespace smelt::aot::msl {
namespace {

/// The attribute of a variable of this kind; nothing of another one.
std::optional<std::string> attribute_of(const llvm::GlobalVariable& variable) {
  llvm::StringRef name = variable.getName();
  if (!name.consume_front(kernel_ir::kHardwareVariable)) return std::nullopt;
  return name.take_front(name.find('.')).str();
}

bool is_vector_value(const std::string& attribute) {
  const kernel_ir::BuiltinRow* row = kernel_ir::find_builtin(attribute);
  return row != nullptr && row->is_vector;
}

/// uint3 is a class with a vector in it.
llvm::Type* without_classes(llvm::Type* type) {
  while (type->isStructTy() && type->getStructNumElements() == 1) type = type->getStructElementType(0);
  return type;
}

ValueShape shape_of(llvm::Type* type) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return {.lanes = vector != nullptr ? std::min(vector->getNumElements(), 3u) : 1, .bits = type->getScalarSizeInBits()};
}

llvm::Value* value_of(llvm::IRBuilder<>& head, const std::string& attribute, llvm::Type* type) {
  const auto lane = [&](unsigned index, llvm::Type* wanted) {
    const char component = is_vector_value(attribute) ? "xyz"[index] : '\0';
    return head.CreateZExtOrTrunc(kernel_ir::call_builtin(head, attribute, component), wanted);
  };
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  if (vector == nullptr) return lane(0, type);
  llvm::Value* value = llvm::Constant::getNullValue(vector);
  for (unsigned i = 0; i < std::min(vector->getNumElements(), 3u); ++i)
    value = head.CreateInsertElement(value, lane(i, vector->getElementType()), uint64_t{i});
  return value;
}

/// The variables that `value` refers to.
bool refers_to_one(const llvm::Value* value, llvm::SmallPtrSetImpl<const llvm::Value*>& seen) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(value);
  if (constant == nullptr || llvm::isa<llvm::ConstantData>(constant) || llvm::isa<llvm::Function>(constant) ||
      !seen.insert(constant).second)
    return false;
  if (const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(constant)) return attribute_of(*variable).has_value();
  return llvm::any_of(constant->operands(), [&](const llvm::Use& one) { return refers_to_one(one.get(), seen); });
}

bool reads_one(const llvm::Function& function, llvm::SmallPtrSetImpl<const llvm::Value*>& seen) {
  if (function.isDeclaration() || !seen.insert(&function).second) return false;
  return llvm::any_of(llvm::instructions(function), [&](const llvm::Instruction& instruction) {
    return llvm::any_of(instruction.operands(), [&](const llvm::Use& operand) {
      const auto* callee = llvm::dyn_cast<llvm::Function>(operand.get());
      return callee != nullptr ? reads_one(*callee, seen) : refers_to_one(operand.get(), seen);
    });
  });
}

}  // namespace

Result<void> add_hardware_values(const llvm::Module& module, KernelFact& kernel) {
  const size_t own = kernel.parameters.size();
  unsigned most_lanes = 1;  // all positions of a kernel have as many
  for (const llvm::GlobalVariable& variable : module.globals()) {
    const std::optional<std::string> attribute = attribute_of(variable);
    if (!attribute) continue;
    if (!has_threadgroups(kernel.stage))
      return fail(Errc::compile_failed, "{} function '{}' reads a variable with '{}', which only kernels get",
                  stage_word(kernel.stage), kernel.name, *attribute);
    const ValueShape shape = shape_of(without_classes(variable.getValueType()));
    for (size_t i = 0; i < own && is_vector_value(*attribute); ++i)
      if (const ParameterFact& parameter = kernel.parameters[i];
          !parameter.binding && is_vector_value(parameter.builtin) && parameter.value.lanes < shape.lanes)
        return fail(Errc::compile_failed,
                    "{} '{}' reads a variable with '{}' that has {} components; its parameter '{}' has {}",
                    stage_word(kernel.stage), kernel.name, *attribute, shape.lanes, parameter.name,
                    parameter.value.lanes);
    if (is_vector_value(*attribute)) most_lanes = std::max(most_lanes, shape.lanes);
    const auto same = std::find_if(kernel.parameters.begin(), kernel.parameters.end(),
                                   [&](const ParameterFact& one) { return one.builtin == *attribute; });
    if (same != kernel.parameters.end()) {
      if (static_cast<size_t>(same - kernel.parameters.begin()) >= own)  // of two variables: what holds both
        same->value.bits = std::max(same->value.bits, shape.bits);
      continue;
    }
    ParameterFact fact;
    fact.binding = std::nullopt;
    fact.name = fact.builtin = *attribute;
    fact.source = UINT_MAX;
    fact.value = shape;
    kernel.parameters.push_back(std::move(fact));
  }
  for (size_t i = 0; i < own; ++i)
    if (!kernel.parameters[i].binding && is_vector_value(kernel.parameters[i].builtin))
      most_lanes = std::max(most_lanes, kernel.parameters[i].value.lanes);
  for (size_t i = own; i < kernel.parameters.size(); ++i) {
    ParameterFact& fact = kernel.parameters[i];
    if (is_vector_value(fact.builtin)) fact.value.lanes = most_lanes;
    fact.type_name = fact.value.bits == 16 ? "ushort" : "uint";
    if (fact.value.lanes != 1) fact.type_name += std::to_string(fact.value.lanes);
  }
  return {};
}

Result<void> read_hardware_values(llvm::Module& module, llvm::Function& entry) {
  for (llvm::GlobalVariable& variable : llvm::make_early_inc_range(module.globals())) {
    const std::optional<std::string> attribute = attribute_of(variable);
    if (!attribute) continue;
    SMELT_TRY_VOID(move_to_thread(variable, entry, [&](llvm::IRBuilder<>& head, llvm::AllocaInst& own) {
      head.CreateAlignedStore(value_of(head, *attribute, without_classes(own.getAllocatedType())), &own,
                              own.getAlign());
    }));
    variable.removeDeadConstantUsers();
    if (variable.use_empty()) variable.eraseFromParent();
  }
  return {};
}

bool reads_hardware_values(const llvm::Function& function) {
  llvm::SmallPtrSet<const llvm::Value*, 16> seen;
  return reads_one(function, seen);
}

}  // namespace smelt::aot::msl
