// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernel_ir/builtins.hpp"

#include "kernel_ir/predicates.hpp"
#include "kernel_ir/tensor_names.hpp"

#include "llvm/IR/Module.h"

#include <fmt/format.h>

namespace smelt::aot::kernel_ir {
namespace {

constexpr std::string_view kCallPrefix = "smelt.builtin.";

constexpr BuiltinRow kRows[] = {
    {"thread_position_in_grid", true},
    {"threads_per_grid", true},
    {"thread_position_in_threadgroup", true},
    {"threads_per_threadgroup", true},
    {"threadgroup_position_in_grid", true},
    {"threadgroups_per_grid", true},
    {"dispatch_threads_per_threadgroup", true},
    {"grid_origin", true},
    {"grid_size", true},
    {"thread_index_in_threadgroup", false},
    {"thread_index_in_simdgroup", false},
    {"simdgroup_index_in_threadgroup", false},
    {"simdgroups_per_threadgroup", false},
    {"threads_per_simdgroup", false},
    {"thread_execution_width", false},
    {"dispatch_simdgroups_per_threadgroup", false},
    {"thread_index_in_quadgroup", false},
    {"quadgroup_index_in_threadgroup", false},
    {"quadgroups_per_threadgroup", false},
    {"dispatch_quadgroups_per_threadgroup", false},
};

}  // namespace

std::span<const BuiltinRow> builtin_rows() {
  return kRows;
}

const BuiltinRow* find_builtin(std::string_view attribute) {
  for (const BuiltinRow& row : kRows)
    if (row.attribute == attribute) return &row;
  return nullptr;
}

std::optional<BuiltinCall> parse_builtin_call(llvm::StringRef function_name) {
  if (!function_name.consume_front(kCallPrefix)) return std::nullopt;
  const auto [attribute, component] = function_name.split('.');
  return BuiltinCall{attribute, component};
}

bool is_operation(llvm::StringRef function_name) {
  return function_name.starts_with("air.") || function_name.starts_with("llvm.") ||
         function_name.starts_with("___metal_") || function_name.starts_with("smelt.air.") ||
         function_name.starts_with(kPredicate) || is_tensor_operation(function_name) ||
         function_name.starts_with(kNeutralTensor) || function_name.ends_with(kControlPointSuffix) ||
         parse_builtin_call(function_name);
}

llvm::CallInst* call_builtin(llvm::IRBuilderBase& builder, std::string_view attribute, char component) {
  std::string name = fmt::format("{}{}", kCallPrefix, attribute);
  if (component != 0) name += fmt::format(".{}", component);
  llvm::Module& module = *builder.GetInsertBlock()->getModule();
  llvm::FunctionCallee callee = module.getOrInsertFunction(name, builder.getInt32Ty());
  if (auto* function = llvm::dyn_cast<llvm::Function>(callee.getCallee())) {
    function->setDoesNotAccessMemory();
    function->setDoesNotThrow();
    function->setWillReturn();
  }
  return builder.CreateCall(callee);
}

}  // namespace smelt::aot::kernel_ir
