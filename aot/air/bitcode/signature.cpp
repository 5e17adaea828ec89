// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bitcode/signature.hpp"

#include "interface/entry.hpp"
#include "kernel_ir/attributes.hpp"
#include "kernel_ir/builtins.hpp"
#include "kernel_ir/handles.hpp"
#include "kernel_ir/tensor_names.hpp"
#include "ops/types.hpp"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Metadata.h"
#include "llvm/IR/Module.h"

namespace smelt::aot::bitcode {
namespace {

using llvm::StringRef;

TypeId type_of(TypeTable& types, const air::AirType& type) {
  using Kind = air::AirType::Kind;
  const TypeId lane = type.kind == Kind::half     ? types.scalar(TypeKind::half)
                      : type.kind == Kind::single ? types.scalar(TypeKind::float_type)
                      : type.kind == Kind::bfloat ? types.scalar(TypeKind::bfloat)
                                                  : types.integer(type.bits);
  return type.lanes > 1 ? types.vector(type.lanes, lane) : lane;
}

// "read_texture_2d_array" -> "struct._texture_2d_array_t"; the longest known kind wins, as "2d" starts "2d_array".
std::string texture_struct(StringRef operation) {
  for (StringRef family : {"texture", "depth"}) {
    const size_t at = operation.find((family + "_").str());
    if (at == StringRef::npos) continue;
    const StringRef rest = operation.substr(at + family.size() + 1);
    for (StringRef kind :
         {"1d_array", "1d", "2d_ms_array", "2d_ms", "2d_array", "2d", "3d", "cube_array", "cube", "buffer_1d"}) {
      if (StringRef tail = rest; tail.consume_front(kind) && (tail.empty() || tail[0] == '_'))
        return ("struct._" + family + "_" + kind + "_t").str();
    }
  }
  return {};
}

/// What operand `index` of an operation on acceleration structures points to (docs/formats/air.md 3.15).
std::string ray_struct(StringRef operation, llvm::ArrayRef<StringRef> parts, unsigned index, unsigned space) {
  if (operation.contains("intersection_query") && space == 0) return "struct._intersection_query_t";
  if (operation.ends_with("_instance_acceleration_structure")) return "struct._instance_acceleration_structure_t";
  if (operation.ends_with("_primitive_acceleration_structure")) return "struct._primitive_acceleration_structure_t";
  if (space != 1 || (operation != "intersect" && operation != "reset_intersection_query")) return {};
  if (operation == "intersect" && index != 4) return "struct._intersection_function_table_t";
  const bool has_instances = llvm::is_contained(parts, "instancing");
  return has_instances ? "struct._instance_acceleration_structure_t" : "struct._primitive_acceleration_structure_t";
}

// "texture2d_array<float, sample>" -> "struct._texture_2d_array_t"; empty for what is no handle.
std::string handle_struct(const air::EntryArgument& argument) {
  if (argument.kind == "air.sampler") return kernel_ir::handle_structure("sampler");
  if (argument.kind == "air.visible_function_table") return "struct._visible_function_table_t";
  if (StringRef(argument.kind).ends_with("_acceleration_structure"))
    return "struct._" + argument.kind.substr(StringRef("air.").size()) + "_t";
  if (argument.kind == "air.tensor") return "struct._tensor_t";
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

TypeId event(TypeTable& types) {
  return types.opaque("struct._simdgroup_event_t");
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

// Functions whose out-parameter has the last type of their name.
bool last_type_is_pointee(StringRef operation) {
  operation.consume_front("fast_");
  return operation == "atomic" || operation == "sincos" || operation == "modf" || operation == "fract";
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
  StringRef name = function.getName();
  if (index == 0 && name.starts_with(kernel_ir::kTensorRun)) return matmul_descriptor(types, function.getContext());
  if (!name.consume_front("air.")) return byte;
  const unsigned space = function.getFunctionType()->getParamType(index)->getPointerAddressSpace();
  llvm::SmallVector<StringRef, 8> parts;
  name.split(parts, '.');
  const StringRef operation = parts[0];

  if (operation.contains("private_tensor") && space == 0 && index < (operation.starts_with("slice_") ? 2 : 1))
    return types.opaque("struct._tensor_t");
  if (operation.ends_with("_mesh") && space == 7) return types.opaque("struct._mesh_t");
  if (operation.ends_with("_mesh_properties") && space == 3) return types.opaque("struct._mesh_grid_properties_t");
  if (operation == "wait_simdgroup_events") return types.pointer(event(types), 0);
  if (operation.ends_with("_visible_function_table")) {
    return space == 1 ? types.opaque("struct._visible_function_table_t") : byte;
  }
  if (const std::string structure = ray_struct(operation, parts, index, space); !structure.empty())
    return types.opaque(structure);
  if (operation.starts_with("interpolate_") && space == 1) return types.opaque("struct._interpolant_t");
  if (const std::string texture = texture_struct(operation); !texture.empty()) {
    if (space == 1) return types.opaque(texture);
    if (space == 2) return types.opaque("struct._sampler_t");
    if (operation.starts_with("atomic_compare")) return types.vector(4, types.integer(32));  // what is expected
  }
  std::optional<TypeId> last;
  for (const StringRef part : parts) {
    const std::optional<air::AirType> named = air::parse_air_type(part);
    if (!named) continue;
    if (!named->is_pointer())
      last = type_of(types, *named);
    else if (named->space == space)  // p3f16
      return type_of(types, *named);
  }
  if (last && name.starts_with("store.imageblock.mask.")) return *last;
  StringRef bare = operation;
  bare.consume_front("fast_");
  if (last && bare == "frexp") {
    const TypeId number = types.integer(32);
    return types.is(*last, TypeKind::vector) ? types.vector(types[*last].count, number) : number;
  }
  return last && last_type_is_pointee(operation) ? *last : byte;
}

TypeId result_by_name(TypeTable& types, const llvm::Function& function) {
  llvm::Type* result = function.getReturnType();
  if (result->isPointerTy()) {
    const unsigned space = result->getPointerAddressSpace();
    if (function.getIntrinsicID() == llvm::Intrinsic::invariant_start)
      return types.pointer(types.literal_struct({}), space);
    if (function.getName().starts_with("air.simdgroup_async_copy")) return types.pointer(event(types), space);
    if (function.getName() == "air.get_read_sampler") return types.pointer(types.opaque("struct._sampler_t"), space);
    const StringRef operation = function.getName().drop_front(StringRef("air.").size()).split('.').first;
    if (operation == "allocate_intersection_query")
      return types.pointer(types.opaque("struct._intersection_query_t"), space);
    if (operation == "get_null_intersection_function_table")
      return types.pointer(types.opaque("struct._intersection_function_table_t"), space);
    for (const StringRef kind : {"instance_acceleration_structure", "primitive_acceleration_structure"})
      if (operation.starts_with(("get_" + kind + "_").str()) || operation == ("get_null_" + kind).str())
        return types.pointer(types.opaque(("struct._" + kind + "_t").str()), space);
    if (StringRef name = function.getName(); name.consume_front("air.get_null_"))
      if (const std::string texture = texture_struct(name); !texture.empty())
        return types.pointer(types.opaque(texture), space);
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
