// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "work_item/builtin_arguments.hpp"

#include <optional>

namespace smelt::aot::cpu {
namespace {

struct NamedBuiltin {
  std::string_view name;
  Builtin builtin;
};
constexpr NamedBuiltin kDirect[] = {
    {"thread_position_in_grid", Builtin::thread_position_in_grid},
    {"thread_position_in_threadgroup", Builtin::thread_position_in_threadgroup},
    {"threadgroup_position_in_grid", Builtin::threadgroup_position_in_grid},
    {"threads_per_threadgroup", Builtin::threads_per_threadgroup},
    {"dispatch_threads_per_threadgroup", Builtin::dispatch_threads_per_threadgroup},
    {"threads_per_grid", Builtin::threads_per_grid},
    {"grid_size", Builtin::threads_per_grid},
    {"threadgroups_per_grid", Builtin::threadgroups_per_grid},
    {"thread_index_in_threadgroup", Builtin::thread_index_in_threadgroup},
    {"thread_index_in_simdgroup", Builtin::thread_index_in_simdgroup},
    {"simdgroup_index_in_threadgroup", Builtin::simdgroup_index_in_threadgroup},
    {"simdgroups_per_threadgroup", Builtin::simdgroups_per_threadgroup},
    {"dispatch_simdgroups_per_threadgroup", Builtin::dispatch_simdgroups_per_threadgroup},
};

std::optional<Builtin> direct_builtin(std::string_view name) {
  for (const NamedBuiltin& row : kDirect)
    if (row.name == name) return row.builtin;
  return std::nullopt;
}

/// Threads in a threadgroup, rounded up to quads.
llvm::Value* emit_quads(llvm::IRBuilderBase& builder, Builtin size, const BuiltinSource& source) {
  llvm::Value* threads = builder.CreateMul(builder.CreateMul(source(size, 0), source(size, 1)), source(size, 2));
  return builder.CreateLShr(builder.CreateAdd(threads, builder.getInt32(3)), 2);
}

/// Values that have one component and are made from others; null when `name` is not one of them.
llvm::Value* emit_derived(llvm::IRBuilderBase& builder, std::string_view name, const BuiltinSource& source) {
  if (name == "threads_per_simdgroup" || name == "thread_execution_width") return builder.getInt32(32);
  if (name == "thread_index_in_quadgroup")
    return builder.CreateAnd(source(Builtin::thread_index_in_simdgroup, 0), builder.getInt32(3));
  if (name == "quadgroup_index_in_threadgroup")
    return builder.CreateLShr(source(Builtin::thread_index_in_threadgroup, 0), 2);
  if (name == "quadgroups_per_threadgroup") return emit_quads(builder, Builtin::threads_per_threadgroup, source);
  if (name == "dispatch_quadgroups_per_threadgroup")
    return emit_quads(builder, Builtin::dispatch_threads_per_threadgroup, source);
  return nullptr;
}

}  // namespace

Result<llvm::Value*> emit_builtin_argument(llvm::IRBuilderBase& builder, std::string_view name, llvm::Type* type,
                                           const BuiltinSource& source) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  llvm::Type* element = type->getScalarType();
  const unsigned components = vector != nullptr ? vector->getNumElements() : 1;
  if (!element->isIntegerTy(16) && !element->isIntegerTy(32))
    return fail(Errc::unsupported, "{} has a type other than ushort or uint", name);

  if (name == "grid_origin") return llvm::Constant::getNullValue(type);  // no stage_in grids on the CPU
  const std::optional<Builtin> builtin = direct_builtin(name);
  const auto component = [&](unsigned i) -> llvm::Value* {
    return builtin ? source(*builtin, static_cast<uint8_t>(i)) : emit_derived(builder, name, source);
  };
  if (components > (builtin ? component_count(*builtin) : 1))
    return fail(Errc::unsupported, "{} with {} components", name, components);
  llvm::Value* first = component(0);
  if (first == nullptr) return fail(Errc::unsupported, "{}: not supported on the CPU", name);
  if (vector == nullptr) return builder.CreateZExtOrTrunc(first, type);
  llvm::Value* result = llvm::PoisonValue::get(type);
  for (unsigned i = 0; i < components; ++i)
    result = builder.CreateInsertElement(result, builder.CreateZExtOrTrunc(i == 0 ? first : component(i), element), i);
  return result;
}

}  // namespace smelt::aot::cpu
