// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "msl/facts/visible_reader.hpp"

#include "kernel_ir/handles.hpp"
#include "msl/facts/annotations.hpp"
#include "msl/facts/handles.hpp"
#include "msl/facts/read_facts.hpp"
#include "msl/facts/report.hpp"
#include "msl/facts/stage_reader.hpp"

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/RecordLayout.h"
#include "clang/Sema/Sema.h"

#include <fmt/args.h>
#include <fmt/format.h>

namespace smelt::aot::msl {
namespace {

/// "texture2d_array<...>" is "texture_2d_array".
std::string texture_word(llvm::StringRef name) {
  const std::string structure = kernel_ir::handle_structure(name);
  llvm::StringRef word = structure;
  word.consume_front("struct._");
  word.consume_back("_t");
  return word.str();
}

/// Whole structure types alone have no parameter that would say more than their members do.
bool is_empty(const clang::CXXRecordDecl& record) {
  return record.field_empty() && record.getNumBases() == 0;
}

}  // namespace

template <class... Args>
bool VisibleReader::refuse(clang::SourceLocation at, std::string_view format, const Args&... args) {
  report_error(sema_, at, fmt::vformat(format, fmt::make_format_args(args...)));
  return false;
}

void VisibleReader::read(const clang::FunctionDecl& function) {
  is_stitchable_ = find_annotation(function, kStitchable) != nullptr;
  if (!read_result(function)) return;
  for (unsigned i = 0; i < function.getNumParams(); ++i)
    if (!read_parameter(*function.getParamDecl(i), i)) return;
}

bool VisibleReader::read_result(const clang::FunctionDecl& function) {
  const clang::QualType type = function.getReturnType();
  const std::string name = metal_name(type, sema_.getASTContext());
  const clang::SourceLocation at = function.getLocation();
  const auto shape = shape_of(type, true);
  if (type->isVoidType()) {
    if (is_stitchable_) return refuse(at, "stitchable function '{}' returns nothing", function.getNameAsString());
    return true;
  }
  if (!shape)
    return refuse(at, "visible function '{}' returns '{}'; only scalars and vectors are supported",
                  function.getNameAsString(), name);
  fact_.results.push_back({{"air.visible_output"}, "", name, "", *shape, std::nullopt});
  return !is_stitchable_ || add_stitching(type, "", 0, at);
}

bool VisibleReader::read_parameter(const clang::ParmVarDecl& parameter, unsigned source) {
  const clang::QualType type = parameter.getType();
  const auto first = static_cast<unsigned>(fact_.parameters.size());
  if (parameter.isInvalidDecl() || !sema_.isCompleteType(parameter.getLocation(), type)) return false;
  const clang::CXXRecordDecl* const record = structure_of(type);
  if (record == nullptr) {
    if (!read_passed({&parameter, type, source, std::nullopt})) return false;
  } else {
    // As Clang flattens a structure that it passes by value: its members, one level deep.
    if (record->getNumBases() != 0 || is_empty(*record) || !record->isTriviallyCopyable())
      return refuse(parameter.getLocation(),
                    "parameter '{}': structure '{}' by value is not supported in a visible function: it has bases, no "
                    "members, or a copy constructor",
                    parameter.getNameAsString(), metal_name(type, sema_.getASTContext()));
    const clang::ASTRecordLayout& layout = sema_.getASTContext().getASTRecordLayout(record);
    for (const clang::FieldDecl* field : record->fields())
      if (!read_passed({field, field->getType(), source, layout.getFieldOffset(field->getFieldIndex()) / 8}))
        return false;
  }
  return !is_stitchable_ || add_stitching(type, parameter.getNameAsString(), first, parameter.getLocation());
}

bool VisibleReader::read_passed(const Passed& passed) {
  const clang::ASTContext& context = sema_.getASTContext();
  ParameterFact fact;
  fact.binding = std::nullopt;
  fact.name = passed.decl->getNameAsString();
  fact.source = passed.source;
  fact.offset = passed.offset;
  fact.words = {"air.visible_input"};
  clang::QualType type = passed.type;
  if (type->isPointerType() || type->isReferenceType()) {
    if (!read_pointer(passed, fact)) return false;
  } else if (const auto handle = handle_type(type, context);
             handle && (handle->kind == BindingClass::texture || handle->kind == BindingClass::sampler)) {
    if (handle->kind == BindingClass::sampler && passed.offset)
      return refuse(passed.decl->getLocation(), "'{}': a sampler in a structure by value is not supported", fact.name);
    fact.type_name = handle->name;
    fact.value.space = handle->kind == BindingClass::sampler ? 2 : 1;
    fact.value.is_wrapped = passed.offset.has_value();
  } else {
    unsigned count = 0;
    if (const auto* array = context.getAsConstantArrayType(type); array != nullptr && passed.offset) {
      count = static_cast<unsigned>(array->getSize().getLimitedValue(UINT32_MAX));
      type = array->getElementType();
    }
    const auto shape = shape_of(type, true);
    fact.type_name = metal_name(type, context);
    if (!shape)
      return refuse(passed.decl->getLocation(), "'{}': a visible function that is given a '{}' is not supported",
                    fact.name, fact.type_name);
    fact.value = *shape;
    fact.value.count = count;
  }
  fact_.parameters.push_back(std::move(fact));
  return true;
}

bool VisibleReader::read_pointer(const Passed& passed, ParameterFact& fact) {
  const clang::QualType pointee = passed.type->getPointeeType();
  const clang::SourceLocation at = passed.decl->getLocation();
  if (passed.offset) return refuse(at, "'{}': a pointer in a structure by value is not supported", fact.name);
  if (const unsigned space = space_of(pointee); is_stitchable_ && space != 1 && space != 2)
    return refuse(at, "'{}': a pointer to neither device nor constant memory in a stitchable function", fact.name);
  if (pointee->isPointerType() || pointee->isFunctionType())
    return refuse(at, "'{}': a visible function that is given a '{}' is not supported", fact.name,
                  metal_name(passed.type, sema_.getASTContext()));
  fact.value.space = space_of(pointee);
  fact.type_name = metal_name(pointee, sema_.getASTContext());
  if (!pointee->isVoidType() && sema_.isCompleteType(at, pointee))
    fact.size = static_cast<uint64_t>(sema_.getASTContext().getTypeSizeInChars(pointee).getQuantity());
  return true;
}

std::optional<kernel_ir::StitchType> VisibleReader::stitch_type(clang::QualType type, clang::SourceLocation at) {
  const clang::ASTContext& context = sema_.getASTContext();
  kernel_ir::StitchType made;
  if (!type->isVoidType() && !sema_.isCompleteType(at, type)) {
    refuse(at, "a stitchable function with a '{}', which is not defined", metal_name(type, context));
    return std::nullopt;
  }
  made.size = static_cast<uint64_t>(context.getTypeSizeInChars(type).getQuantity());
  made.align = static_cast<uint64_t>(context.getTypeAlignInChars(type).getQuantity());
  const std::string name = metal_name(type, context);
  const auto with_inside = [&](clang::QualType inside) -> std::optional<kernel_ir::StitchType> {
    auto one = stitch_type(inside, at);
    if (!one) return std::nullopt;
    made.inside.push_back(std::move(*one));
    return made;
  };
  if (type->isPointerType() || type->isReferenceType()) {
    made.kind = type->isPointerType() ? "pointer" : "lvalue_reference";
    made.size = made.align = 8;
    return with_inside(type->getPointeeType().getUnqualifiedType());
  }
  if (const auto handle = handle_type(type, context); handle && handle->kind == BindingClass::texture) {
    made.kind = texture_word(handle->name);
    made.name = to_string(handle->access);
    const auto* special = llvm::cast<clang::ClassTemplateSpecializationDecl>(type->getAsCXXRecordDecl());
    return with_inside(special->getTemplateArgs()[0].getAsType());
  }
  if (const VectorShape vector = vector_shape(type); vector.lanes != 0) {
    made.kind = "vector";
    made.count = vector.lanes;
    return with_inside(vector.element);
  }
  if (const auto* array = context.getAsConstantArrayType(type)) {
    made.kind = "array";
    made.count = array->getSize().getLimitedValue();
    return with_inside(array->getElementType());
  }
  if (const clang::CXXRecordDecl* const record = structure_of(type)) {
    made.kind = "struct";
    made.name = record->getQualifiedNameAsString();
    const clang::ASTRecordLayout& layout = context.getASTRecordLayout(record);
    for (const clang::FieldDecl* field : record->fields()) {
      auto one = stitch_type(field->getType(), at);
      if (!one) return std::nullopt;
      one->member = field->getNameAsString();
      one->offset = layout.getFieldOffset(field->getFieldIndex()) / 8;
      made.inside.push_back(std::move(*one));
    }
    return made;
  }
  if (type->isVoidType()) {
    made.kind = "void";
    return made;
  }
  const auto shape = shape_of(type);
  if (!shape || shape->bits == 1) {
    refuse(at, "a stitchable function with a '{}' is not supported", name);
    return std::nullopt;
  }
  made.kind = name;
  return made;
}

bool VisibleReader::add_stitching(clang::QualType type, std::string name, unsigned first, clang::SourceLocation at) {
  auto made = stitch_type(type, at);
  if (!made) return false;
  kernel_ir::StitchValue value{std::move(name), "", first, static_cast<unsigned>(fact_.parameters.size()) - first,
                               std::move(*made)};
  value.mangled = mangled_name(type, value.type);
  fact_.stitching.push_back(std::move(value));
  return true;
}

/// As C++ mangles the type, and Metal the spaces (docs/formats/air.md 1.12).
std::string VisibleReader::mangled_name(clang::QualType type, const kernel_ir::StitchType& made) const {
  if (type->isPointerType() || type->isReferenceType()) {
    const clang::QualType pointee = type->getPointeeType();
    return fmt::format("{}{}{}{}", type->isPointerType() ? "P" : "R",
                       space_of(pointee) == 2 ? "U11MTLconstant" : "U9MTLdevice",
                       space_of(pointee) == 2 || pointee.isConstQualified() ? "K" : "",
                       mangled_name(pointee.getUnqualifiedType(), made.inside.front()));
  }
  if (type->isVoidType()) return "v";
  if (const auto shape = shape_of(type)) return mangled(metal_name(type, sema_.getASTContext()), *shape);
  std::string name;
  llvm::SmallVector<llvm::StringRef, 4> parts;
  llvm::StringRef(made.kind == "struct" ? made.name : made.kind).split(parts, "::");
  for (const llvm::StringRef part : parts) name += fmt::format("{}{}", part.size(), part.str());
  return parts.size() > 1 ? fmt::format("N{}E", name) : name;
}

}  // namespace smelt::aot::msl
