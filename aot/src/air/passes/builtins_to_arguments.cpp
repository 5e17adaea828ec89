// In AIR, hardware values are arguments of the entry (docs/air.md 1.6). Calls of smelt.builtin.<attribute>[.<x|y|z>]
// become reads of trailing parameters, one per attribute, in the order of the table below. Positions and sizes are
// always three-component (<3 x i32>), because one kernel must not mix shapes; the rest are i32.
#include "air/passes/builtins.hpp"
#include "air/passes/support.hpp"

#include "llvm/IR/Module.h"

#include <map>

namespace smelt::aot::air {
namespace {

struct Request {
  const BuiltinRow* row = nullptr;
  int component = -1;
};

Result<Request> read_request(const llvm::CallBase& call) {
  llvm::StringRef name = call.getCalledFunction()->getName();
  name.consume_front("smelt.builtin.");
  const auto [attribute, component] = name.split('.');
  Request request{.row = find_builtin(to_view(attribute))};
  if (!request.row) return refuse(call, "'{}' is not a hardware value of a kernel", to_view(attribute));
  if (!component.empty()) request.component = llvm::StringRef("xyz").find(component);
  if (component.size() > 1 || request.component == 3 || (!component.empty() && request.component < 0))
    return refuse(call, "'{}' has no component '{}'; there is x, y, z", to_view(attribute), to_view(component));
  if (request.row->is_vector && request.component < 0)
    return refuse(call, "'{}' is a vector: read .x, .y or .z of it", to_view(attribute));
  if (!request.row->is_vector && request.component >= 0) return refuse(call, "'{}' is a scalar", to_view(attribute));
  if (!call.getType()->isIntegerTy() || call.arg_size() != 0)
    return refuse(call, "hardware values are read as integers, without operands");
  return request;
}

}  // namespace

std::span<const BuiltinRow> builtin_rows() {
  static constexpr BuiltinRow kRows[] = {
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
  return kRows;
}

const BuiltinRow* find_builtin(std::string_view attribute) {
  for (const BuiltinRow& row : builtin_rows())
    if (row.attribute == attribute) return &row;
  return nullptr;
}

Result<void> builtins_to_arguments(PassContext& context) {
  std::map<const BuiltinRow*, std::vector<std::pair<llvm::CallBase*, int>>> requests;  // rows are in one array: stable
  for (llvm::Instruction* instruction : instructions_of(context.module)) {
    auto* call = llvm::dyn_cast<llvm::CallBase>(instruction);
    if (!call || !call->getCalledFunction()) continue;
    if (!call->getCalledFunction()->getName().starts_with("smelt.builtin.")) continue;
    SMELT_TRY(const Request request, read_request(*call));
    if (call->getFunction() != context.entry) return refuse(*call, "reads a hardware value outside the kernel");
    requests[request.row].emplace_back(call, request.component);
  }
  if (requests.empty()) return {};
  if (has_entry_metadata(context))
    return fail(Errc::compile_failed,
                "kernel '{}' has argument metadata and reads hardware values by call; one or the other",
                to_view(context.entry->getName()));

  // A parameter that is this value already serves.
  std::map<const BuiltinRow*, unsigned> parameter_of;
  for (const llvm::Argument& argument : context.entry->args()) {
    const llvm::Attribute builtin = context.entry->getAttributes().getParamAttr(argument.getArgNo(), kBuiltin);
    if (builtin.isValid())
      if (const BuiltinRow* row = find_builtin(to_view(builtin.getValueAsString())))
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
      argument->setName(to_ref(row->attribute));
      entry->addParamAttr(argument->getArgNo(), llvm::Attribute::get(llvm_context, kBuiltin, to_ref(row->attribute)));
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
    if (function.getName().starts_with("smelt.builtin.") && function.use_empty()) function.eraseFromParent();
  return {};
}

}  // namespace smelt::aot::air
