// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "msl/facts/handles.hpp"

#include "msl/facts/intersection_tags.hpp"
#include "msl/facts/read_facts.hpp"

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclTemplate.h"

#include <fmt/format.h>

namespace smelt::aot::msl {
namespace {

/// The enumerators of metal::access, in their order.
constexpr Access kAccesses[] = {Access::sample, Access::read, Access::write, Access::read_write};

const clang::CXXRecordDecl* library_class(clang::QualType type) {
  const auto* record = type->getAsCXXRecordDecl();
  return record != nullptr && is_library(*record) ? record : nullptr;
}

/// "dextents<int, 2>", "extents<int, 64, 32>"; empty for another type.
std::string extents_name(clang::QualType type, const clang::ASTContext& context) {
  const auto* extents = llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(library_class(type));
  if (extents == nullptr || extents->getName() != "extents" || extents->getTemplateArgs().size() != 2) return {};
  const clang::TemplateArgumentList& arguments = extents->getTemplateArgs();
  const std::string index = metal_name(arguments[0].getAsType(), context);
  std::string sizes;
  bool all_dynamic = true;
  for (const clang::TemplateArgument& size : arguments[1].pack_elements()) {
    const llvm::APSInt value = size.getAsIntegral();
    all_dynamic = all_dynamic && value.isAllOnes();
    sizes += fmt::format(", {}", value.getLimitedValue());
  }
  return all_dynamic ? fmt::format("dextents<{}, {}>", index, arguments[1].pack_size())
                     : fmt::format("extents<{}{}>", index, sizes);
}

/// A tensor that the API binds.
std::optional<HandleType> tensor_type(const clang::ClassTemplateSpecializationDecl& tensor,
                                      const clang::ASTContext& context) {
  const clang::TemplateArgumentList& arguments = tensor.getTemplateArgs();
  if (arguments.size() < 3) return std::nullopt;
  const clang::CXXRecordDecl* const kind = library_class(arguments[2].getAsType());
  const std::string extents = extents_name(arguments[1].getAsType(), context);
  if (kind == nullptr || kind->getName() != "tensor_handle" || extents.empty()) return std::nullopt;
  const std::string element = metal_name(arguments[0].getAsType().getUnqualifiedType(), context);
  return HandleType{BindingClass::tensor, fmt::format("tensor<{}, {}>", element, extents), Access::read_write};
}

/// Its name has the tags, which tell an instance structure from a primitive one.
HandleType acceleration_structure_type(const clang::ClassTemplateSpecializationDecl& structure) {
  std::string tags;
  for (const clang::TemplateArgument& tag : structure.getTemplateArgs()[0].pack_elements())
    if (const auto* record = tag.getAsType()->getAsCXXRecordDecl())
      tags += (tags.empty() ? "" : ", ") + record->getNameAsString();
  return {BindingClass::acceleration_structure, fmt::format("acceleration_structure<{}>", tags), Access::read};
}

/// Its name has the tags in AIR's order.
HandleType intersection_table_type(const clang::ClassTemplateSpecializationDecl& table) {
  std::string tags;
  for (const llvm::StringRef tag : kIntersectionTags)
    for (const clang::TemplateArgument& one : table.getTemplateArgs()[0].pack_elements())
      if (const auto* record = one.getAsType()->getAsCXXRecordDecl(); record != nullptr && record->getName() == tag)
        tags += (tags.empty() ? "" : ", ") + tag.str();
  return {BindingClass::table, fmt::format("intersection_function_table<{}>", tags), Access::read_write};
}

}  // namespace

std::optional<HandleType> handle_type(clang::QualType type, const clang::ASTContext& context) {
  const clang::CXXRecordDecl* const record = library_class(type);
  if (record == nullptr || record->getIdentifier() == nullptr) return std::nullopt;
  const llvm::StringRef name = record->getName();
  if (name == "sampler") return HandleType{BindingClass::sampler, "sampler", Access::none};
  if (name == "command_buffer" || name == "render_pipeline_state" || name == "compute_pipeline_state" ||
      name == "depth_stencil_state")
    return HandleType{BindingClass::command_buffer, name.str(), Access::none};
  const auto* special = llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(record);
  if (special != nullptr && name == "tensor") return tensor_type(*special, context);
  if (special != nullptr && name == "visible_function_table")
    return HandleType{BindingClass::table, name.str(), Access::read};
  if (special != nullptr && name == "intersection_function_table") return intersection_table_type(*special);
  if (special != nullptr && name == "acceleration_structure") return acceleration_structure_type(*special);
  if (special == nullptr || (!name.starts_with("texture") && !name.starts_with("depth"))) return std::nullopt;
  const clang::TemplateArgumentList& arguments = special->getTemplateArgs();
  if (arguments.size() < 2 || arguments[0].getKind() != clang::TemplateArgument::Type ||
      arguments[1].getKind() != clang::TemplateArgument::Integral)
    return std::nullopt;
  const uint64_t access = arguments[1].getAsIntegral().getLimitedValue();
  if (access >= std::size(kAccesses)) return std::nullopt;
  return HandleType{BindingClass::texture,
                    fmt::format("{}<{}, {}>", name.str(), metal_name(arguments[0].getAsType(), context),
                                to_string(kAccesses[access])),
                    kAccesses[access]};
}

std::optional<HandleType> handle_array(clang::QualType type, const clang::ASTContext& context) {
  const auto* array = llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(library_class(type));
  if (array == nullptr || array->getName() != "array") return std::nullopt;
  std::optional<HandleType> element = handle_type(array->getTemplateArgs()[0].getAsType(), context);
  if (!element || has_index_of_buffers(element->kind)) return std::nullopt;
  const uint64_t count = array->getTemplateArgs()[1].getAsIntegral().getLimitedValue(UINT32_MAX);
  if (count == 0) return std::nullopt;
  element->count = static_cast<uint32_t>(count);
  element->name = fmt::format("array<{}, {}>", element->name, count);
  return element;
}

std::optional<HandleType> handle_inside(clang::QualType type, const clang::ASTContext& context) {
  for (;;) {
    if (const auto* array = context.getAsConstantArrayType(type)) {
      type = array->getElementType();
      continue;
    }
    const auto* special = llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(library_class(type));
    if (special == nullptr || special->getName() != "array") return handle_type(type, context);
    type = special->getTemplateArgs()[0].getAsType();
  }
}

}  // namespace smelt::aot::msl
