// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In AIR, hardware values are arguments of the entry (docs/formats/air.md 1.6). Calls of
// smelt.builtin.<attribute>[.<x|y|z>] become reads of trailing parameters, one per attribute, in the order of the table
// below. Positions and sizes are always three-component (<3 x i32>), because one kernel must not mix shapes; the rest
// are i32.
#include "kernel_ir/builtins.hpp"
#include "legalise/support.hpp"

#include "llvm/IR/Module.h"

#include <map>

namespace smelt::aot::air {
namespace {

struct Request {
  const kernel_ir::BuiltinRow* row = nullptr;
  int component = -1;
};

Result<Request> read_request(const llvm::CallBase& call) {
  const auto [attribute, component] = *kernel_ir::parse_builtin_call(call.getCalledFunction()->getName());
  Request request{.row = kernel_ir::find_builtin(attribute)};
  if (!request.row) return refuse(call, "'{}' is not a hardware value of a kernel", attribute);
  if (!component.empty()) request.component = llvm::StringRef("xyz").find(component);
  if (component.size() > 1 || request.component == 3 || (!component.empty() && request.component < 0))
    return refuse(call, "'{}' has no component '{}'; there is x, y, z", attribute, component);
  if (request.row->is_vector && request.component < 0)
    return refuse(call, "'{}' is a vector: read .x, .y or .z of it", attribute);
  if (!request.row->is_vector && request.component >= 0) return refuse(call, "'{}' is a scalar", attribute);
  if (!call.getType()->isIntegerTy() || call.arg_size() != 0)
    return refuse(call, "hardware values are read as integers, without operands");
  return request;
}

}  // namespace

Result<void> builtins_to_arguments(PassContext& context) {
  std::map<const kernel_ir::BuiltinRow*, std::vector<std::pair<llvm::CallBase*, int>>>
      requests;  // rows are in one array: stable
  for (llvm::Instruction* instruction : instructions_of(context.module)) {
    auto* call = llvm::dyn_cast<llvm::CallBase>(instruction);
    if (!call || !call->getCalledFunction()) continue;
    if (!kernel_ir::parse_builtin_call(call->getCalledFunction()->getName())) continue;
    SMELT_TRY(const Request request, read_request(*call));
    if (call->getFunction() != context.entry) return refuse(*call, "reads a hardware value outside the kernel");
    requests[request.row].emplace_back(call, request.component);
  }
  if (requests.empty()) return {};
  if (has_entry_metadata(context))
    return fail(Errc::compile_failed,
                "kernel '{}' has argument metadata and reads hardware values by call; one or the other",
                context.entry->getName());

  // A parameter that is this value already serves.
  std::map<const kernel_ir::BuiltinRow*, unsigned> parameter_of;
  for (const llvm::Argument& argument : context.entry->args()) {
    const llvm::Attribute builtin =
        context.entry->getAttributes().getParamAttr(argument.getArgNo(), kernel_ir::kBuiltin);
    if (builtin.isValid())
      if (const kernel_ir::BuiltinRow* row = kernel_ir::find_builtin(builtin.getValueAsString()))
        parameter_of.emplace(row, argument.getArgNo());
  }
  llvm::LLVMContext& llvm_context = context.module.getContext();
  llvm::Type* const i32 = llvm::Type::getInt32Ty(llvm_context);
  std::vector<llvm::Type*> types;
  std::vector<int> from_old;
  for (const llvm::Argument& argument : context.entry->args()) {
    types.push_back(argument.getType());
    from_old.push_back(static_cast<int>(argument.getArgNo()));
  }
  for (const auto& [row, calls] : requests) {
    if (parameter_of.count(row)) continue;
    parameter_of.emplace(row, static_cast<unsigned>(types.size()));
    types.push_back(row->is_vector ? static_cast<llvm::Type*>(llvm::FixedVectorType::get(i32, 3)) : i32);
    from_old.push_back(-1);
  }
  llvm::Function* entry = replace_entry(context, types, from_old);

  for (const auto& [row, calls] : requests) {
    llvm::Argument* argument = entry->getArg(parameter_of.at(row));
    if (from_old[argument->getArgNo()] < 0) {
      argument->setName(row->attribute);
      entry->addParamAttr(argument->getArgNo(),
                          llvm::Attribute::get(llvm_context, kernel_ir::kBuiltin, row->attribute));
      entry->addParamAttr(argument->getArgNo(), llvm::Attribute::NoUndef);
    }
    for (const auto& [call, component] : calls) {
      llvm::IRBuilder<> builder(call);
      llvm::Value* value = argument;
      if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType())) {
        if (component >= static_cast<int>(vector->getNumElements()))
          return refuse(*call, "the kernel's own parameter for this value has no such component");
        value = builder.CreateExtractElement(value, builder.getInt64(static_cast<uint64_t>(component)));
      }
      call->replaceAllUsesWith(builder.CreateZExtOrTrunc(value, call->getType()));
      call->eraseFromParent();
    }
  }
  for (llvm::Function& function : llvm::make_early_inc_range(context.module))
    if (kernel_ir::parse_builtin_call(function.getName()) && function.use_empty()) function.eraseFromParent();
  return {};
}

}  // namespace smelt::aot::air
