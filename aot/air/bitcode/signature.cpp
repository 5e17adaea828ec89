// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bitcode/signature.hpp"

#include "interface/entry.hpp"
#include "kernel_ir/attributes.hpp"
#include "kernel_ir/builtins.hpp"
#include "kernel_ir/handles.hpp"
#include "kernel_ir/tensor_names.hpp"
#include "ops/intrinsics.hpp"
#include "ops/types.hpp"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Metadata.h"
#include "llvm/IR/Module.h"

#include <fmt/format.h>

namespace smelt::aot::bitcode {
namespace {

using llvm::StringRef;

/// Not a pointer, or what one points to.
TypeId type_of(TypeTable& types, const air::AirType& type) {
  using Kind = air::AirType::Kind;
  if (type.kind == Kind::handle) return types.opaque(fmt::format("struct._{}_t", type.handle_name));
  const TypeId lane = type.kind == Kind::half     ? types.scalar(TypeKind::half)
                      : type.kind == Kind::single ? types.scalar(TypeKind::float_type)
                      : type.kind == Kind::bfloat ? types.scalar(TypeKind::bfloat)
                                                  : types.integer(type.bits);
  return type.lanes > 1 ? types.vector(type.lanes, lane) : lane;
}

/// What a pointer points to; of a pointer to a pointer, that pointer is to thread memory.
TypeId pointee_of(TypeTable& types, const air::AirType& pointer) {
  const TypeId pointee = type_of(types, pointer);
  return pointer.indirections > 1 ? types.pointer(pointee, 0) : pointee;
}

// "texture2d_array<float, sample>" -> "struct._texture_2d_array_t"; empty for what is no handle.
std::string handle_struct(const air::EntryArgumentNode& argument) {
  if (argument.kind == "air.sampler") return kernel_ir::handle_structure("sampler");
  // No structure of an intersection table is known.
  const std::optional<BindingClass> binding = air::class_of_kind(argument.kind);
  if (binding && form_of(*binding) == BindingForm::record && argument.kind != "air.intersection_function_table")
    return "struct._" + argument.kind.substr(StringRef("air.").size()) + "_t";
  if (argument.kind == "air.mesh") return "struct._mesh_t";
  if (argument.kind == "air.mesh_grid_properties") return "struct._mesh_grid_properties_t";
  if (argument.kind == "air.patch_control_point_input") return "struct._patch_control_point_t";
  if (argument.is_interpolant()) return "struct._interpolant_t";
  // Other things that a visible function is given may be named after textures.
  const bool is_visible_handle = argument.kind == "air.visible_input" &&
                                 (argument.type_name == "sampler" || StringRef(argument.type_name).contains('<'));
  if (argument.kind != "air.texture" && !is_visible_handle) return {};
  return kernel_ir::handle_structure(argument.type_name);
}

TypeId intrinsic_pointee(TypeTable& types, const llvm::Function& function, unsigned index) {
  switch (function.getIntrinsicID()) {
    case llvm::Intrinsic::invariant_end:
      if (index == 0) return types.literal_struct({});
      break;
    case llvm::Intrinsic::masked_load:
      return types.of(function.getReturnType());
    case llvm::Intrinsic::masked_store:
      return types.of(function.getFunctionType()->getParamType(0));
    default:
      break;
  }
  return types.integer(8);
}

/// Of a product: what it is told of itself.
TypeId matmul_descriptor(TypeTable& types, llvm::LLVMContext& context) {
  llvm::StructType* known = llvm::StructType::getTypeByName(context, kernel_ir::kMatmulDescriptor);
  return known != nullptr ? types.of(known) : types.integer(8);
}

/// What the source's parameters point to, where a front end kept it.
void add_pointees(TypeTable& types, const llvm::Function& function, HandleParameters& handles) {
  const llvm::MDNode* pointees = function.getMetadata(kernel_ir::kPointees);
  if (pointees == nullptr) return;
  for (unsigned i = 0; i < function.arg_size() && i < pointees->getNumOperands(); ++i) {
    const auto* value = llvm::dyn_cast_or_null<llvm::ConstantAsMetadata>(pointees->getOperand(i).get());
    const llvm::Type* type = function.getArg(i)->getType();
    if (value != nullptr && type->isPointerTy())
      handles.try_emplace({&function, i}, types.pointer(types.of(value->getType()), type->getPointerAddressSpace()));
  }
}

}  // namespace

TypeId pointee_by_name(TypeTable& types, const llvm::Function& function, unsigned index) {
  if (function.isIntrinsic()) return intrinsic_pointee(types, function, index);
  const TypeId byte = types.integer(8);
  const StringRef name = function.getName();
  if (index == 0 && name.starts_with(kernel_ir::kTensorRun)) return matmul_descriptor(types, function.getContext());
  const unsigned space = function.getFunctionType()->getParamType(index)->getPointerAddressSpace();
  const auto known = air::pointer_operand(std::string_view(name), index, space);
  return known ? pointee_of(types, *known) : byte;
}

TypeId result_by_name(TypeTable& types, const llvm::Function& function) {
  llvm::Type* result = function.getReturnType();
  if (result->isPointerTy()) {
    const unsigned space = result->getPointerAddressSpace();
    if (function.getIntrinsicID() == llvm::Intrinsic::invariant_start)
      return types.pointer(types.literal_struct({}), space);
    if (const auto known = air::pointer_result(std::string_view(function.getName()), space))
      return types.pointer(pointee_of(types, *known), space);
  }
  return types.of(result);
}

std::string typed_intrinsic_name(StringRef name) {
  llvm::SmallVector<StringRef, 8> parts;
  name.split(parts, '.');
  const bool masked = name.starts_with("llvm.masked.load") || name.starts_with("llvm.masked.store");
  std::string out;
  for (StringRef part : parts) {
    if (!out.empty()) out += '.';
    out += part;
    unsigned count = 0;
    StringRef pointer = part;  // p3, or v4p3
    if (StringRef rest = part; rest.consume_front("v") && !rest.consumeInteger(10, count)) pointer = rest;
    if (pointer.consume_front("p") && !pointer.empty() && llvm::all_of(pointer, llvm::isDigit))
      out += masked && parts.size() > 3 ? parts[3].str() : "i8";
  }
  return out;
}

HandleParameters entry_handles(TypeTable& types, const llvm::Module& module) {
  HandleParameters handles;
  for (const std::string_view stage : air::kStages) {
    const llvm::NamedMDNode* entries = air::entry_list(module, stage);
    if (!entries) continue;
    for (const llvm::MDNode* entry : entries->operands()) {
      const llvm::Function* function = air::function_of(*entry);
      const llvm::MDNode* inputs = air::inputs_of(*entry);
      if (!function || !inputs) continue;
      for (const llvm::MDOperand& input : inputs->operands()) {
        const auto* node = llvm::dyn_cast_or_null<llvm::MDNode>(input);
        const auto argument = node ? air::read_argument(*node) : std::nullopt;
        if (!argument || argument->index >= function->arg_size()) continue;
        const llvm::Type* type = function->getArg(argument->index)->getType();
        const std::string name = handle_struct(*argument);
        if (!type->isPointerTy() || name.empty()) continue;
        const unsigned space = type->getPointerAddressSpace();
        // An array of them is in the thread's memory.
        const bool is_array = space == 0 && argument->slots;
        const unsigned own = argument->kind == "air.sampler" ? 2 : 1;
        const TypeId one = types.pointer(types.opaque(name), is_array ? own : space);
        handles[{function, argument->index}] =
            is_array ? types.pointer(types.array(argument->slots->count, one), space) : one;
      }
    }
  }
  for (const llvm::Function& function : module) {
    add_pointees(types, function, handles);
    if (function.getName().ends_with(kernel_ir::kControlPointSuffix) && function.arg_size() == 2 &&
        function.getArg(1)->getType()->isPointerTy())
      handles[{&function, 1}] = types.pointer(types.opaque("struct._patch_control_point_t"), 0);
  }
  return handles;
}

}  // namespace smelt::aot::bitcode
