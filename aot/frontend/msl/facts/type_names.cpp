// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Types in Metal's words.
#include "msl/facts/read_facts.hpp"

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclTemplate.h"

#include <fmt/format.h>

namespace smelt::aot::msl {
namespace {

const clang::ClassTemplateSpecializationDecl* library_template(clang::QualType type) {
  const auto* record = type->getAsCXXRecordDecl();
  const auto* special = llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(record);
  return special != nullptr && is_library(*special) ? special : nullptr;
}

std::string scalar_name(const clang::BuiltinType& type) {
  using B = clang::BuiltinType;
  switch (type.getKind()) {
    case B::Bool:
      return "bool";
    case B::Char_S:
    case B::SChar:
      return "char";
    case B::Char_U:
    case B::UChar:
      return "uchar";
    case B::Short:
      return "short";
    case B::UShort:
      return "ushort";
    case B::Int:
      return "int";
    case B::UInt:
      return "uint";
    case B::Long:
    case B::LongLong:
      return "long";
    case B::ULong:
    case B::ULongLong:
      return "ulong";
    case B::Half:
    case B::Float16:
      return "half";
    case B::BFloat16:
      return "bfloat";
    case B::Float:
      return "float";
    case B::Double:
      return "double";
    case B::Void:
      return "void";
    default:
      return {};
  }
}

/// Of a class of vectors, vec or packed_vec: its argument is Clang's vector
/// (aot/frontend/msl/include/metal_type_traits).
VectorShape shape_of_class(const clang::ClassTemplateSpecializationDecl& special) {
  const clang::TemplateArgument& argument = special.getTemplateArgs()[0];
  const auto* vector =
      argument.getKind() == clang::TemplateArgument::Type ? argument.getAsType()->getAs<clang::VectorType>() : nullptr;
  return vector != nullptr ? VectorShape{vector->getElementType(), vector->getNumElements()} : VectorShape{};
}

}  // namespace

bool is_library(const clang::CXXRecordDecl& record) {
  const auto* space = llvm::dyn_cast<clang::NamespaceDecl>(record.getDeclContext()->getEnclosingNamespaceContext());
  while (space != nullptr && !space->getParent()->isTranslationUnit())
    space = llvm::dyn_cast<clang::NamespaceDecl>(space->getParent()->getEnclosingNamespaceContext());
  return space != nullptr && space->getName() == "metal";
}

VectorShape vector_shape(clang::QualType type) {
  const auto* special = library_template(type);
  return special != nullptr && special->getName() == "vec" ? shape_of_class(*special) : VectorShape{};
}

std::string metal_name(clang::QualType type, const clang::ASTContext& context) {
  clang::QualType plain = type.getCanonicalType().getUnqualifiedType();
  plain = context.removeAddrSpaceQualType(plain).getUnqualifiedType();
  if (const auto* builtin = plain->getAs<clang::BuiltinType>())
    if (std::string name = scalar_name(*builtin); !name.empty()) return name;
  if (const auto* special = library_template(plain)) {
    const auto& arguments = special->getTemplateArgs();
    const llvm::StringRef name = special->getName();
    std::vector<unsigned> numbers;
    for (unsigned i = 1; i < arguments.size(); ++i)
      if (arguments[i].getKind() == clang::TemplateArgument::Integral)
        numbers.push_back(static_cast<unsigned>(arguments[i].getAsIntegral().getZExtValue()));
    if (name == "vec" || name == "packed_vec")
      if (const VectorShape shape = shape_of_class(*special); shape.lanes != 0)
        return fmt::format("{}{}{}", name == "vec" ? "" : "packed_", metal_name(shape.element, context), shape.lanes);
    if (arguments.size() != 0 && arguments[0].getKind() == clang::TemplateArgument::Type) {
      const std::string element = metal_name(arguments[0].getAsType(), context);
      if (name == "matrix" && numbers.size() == 2) return fmt::format("{}{}x{}", element, numbers[0], numbers[1]);
      if (name == "atomic" || name == "_atomic") return fmt::format("atomic_{}", element);
      if (name.ends_with("norm") || name == "rgb10a2" || name == "rg11b10f" || name == "rgb9e5")  // a pixel data type
        return fmt::format("{}<{}>", name.str(), element);
      if (name == "simdgroup_matrix" && numbers.size() == 2)
        return fmt::format("simdgroup_{}{}x{}", element, numbers[0], numbers[1]);
    }
  }
  clang::PrintingPolicy policy(context.getLangOpts());
  policy.SuppressTagKeyword = true;
  policy.Bool = policy.Half = true;
  return plain.getAsString(policy);
}

const char* space_word(unsigned space) {
  constexpr const char* kWords[] = {"thread", "device",     "constant", "threadgroup", "threadgroup_imageblock",
                                    "",       "object_data"};
  return kWords[space];
}

unsigned space_of(clang::QualType pointee) {
  switch (pointee.getAddressSpace()) {
    case clang::LangAS::sycl_global_device:
    case clang::LangAS::opencl_global_device:
      return 1;
    case clang::LangAS::sycl_global_host:
    case clang::LangAS::opencl_global_host:
      return 2;
    case clang::LangAS::sycl_local:
    case clang::LangAS::opencl_local:
      return 3;
    case clang::LangAS::sycl_global:
      return 4;
    case clang::LangAS::sycl_private:
      return 6;
    default:
      return 0;
  }
}

}  // namespace smelt::aot::msl
