// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "msl/facts/struct_members.hpp"

#include "msl/facts/annotations.hpp"
#include "msl/facts/handles.hpp"
#include "msl/facts/missing_features.hpp"
#include "msl/facts/read_facts.hpp"

#include "clang/AST/DeclTemplate.h"
#include "clang/AST/RecordLayout.h"
#include "clang/Sema/Sema.h"

#include <fmt/format.h>

#include <set>

namespace smelt::aot::msl {
namespace {

/// The structure of the user's that a type is; null for any other type.
const clang::CXXRecordDecl* structure(clang::QualType type) {
  const auto* record = type->getAsCXXRecordDecl();
  const bool counts = record != nullptr && !record->isUnion() && !is_library(*record) && !record->isInvalidDecl();
  return counts ? record : nullptr;
}

class MemberReader {
 public:
  MemberReader(clang::Sema& sema, ParameterFact& fact) : sema_(sema), context_(sema.getASTContext()), fact_(fact) {}

  /// Whether a member of `record`, or of a structure inside, is a pointer or has an [[id]].
  bool is_argument_buffer(const clang::CXXRecordDecl& record) {
    if (!seen_.insert(&record).second) return false;
    for (const clang::FieldDecl* field : record.fields()) {
      uint64_t count = 0;
      const clang::QualType type = element_of(field->getType(), count);
      if (handle_inside(type, context_)) return true;
      if (type->isPointerType() || type->isReferenceType() || find_annotation(*field, "id") != nullptr) return true;
      if (const auto* inner = structure(type); inner != nullptr && is_argument_buffer(*inner)) return true;
    }
    return false;
  }

  /// The members of `record` and what is inside them; returns how many ids they take.
  uint64_t read(const clang::CXXRecordDecl& record, unsigned depth) {
    const clang::ASTRecordLayout& layout = context_.getASTRecordLayout(&record);
    uint64_t next_id = 0;
    for (const clang::FieldDecl* field : record.fields()) {
      kernel_ir::StructField made;
      made.depth = depth;
      made.offset = layout.getFieldOffset(field->getFieldIndex()) / 8;
      made.name = field->getNameAsString();
      const clang::QualType type = element_of(field->getType(), made.count);
      if (!beyond(type).empty())
        return stop({}, fmt::format("parameter '{}': member '{}' of '{}' is a '{}', which is not supported", fact_.name,
                                    made.name, metal_name(context_.getRecordType(&record), context_), beyond(type)));
      made.id = next_id;
      if (const clang::AnnotateAttr* id = find_annotation(*field, "id"); id != nullptr && !read_id(*id, made)) return 0;
      made.size = static_cast<uint64_t>(context_.getTypeSizeInChars(type).getQuantity());
      if (const auto handle = handle_member(type, made)) {
        if (handle->kind == BindingClass::tensor || handle->kind == BindingClass::table || made.count > kMostHandles)
          return stop({},
                      fmt::format("parameter '{}': member '{}' of '{}' is a '{}', which is not supported", fact_.name,
                                  made.name, metal_name(context_.getRecordType(&record), context_), handle->name));
        made.type_name = handle->name;
        made.handle = handle->kind == BindingClass::texture ? to_string(handle->access) : to_string(handle->kind);
        made.size = kHandleBytes;
      } else if (const auto inside = handle_inside(type, context_)) {
        return stop({}, fmt::format("parameter '{}': member '{}' of '{}' is an array of arrays of '{}', which is not "
                                    "supported",
                                    fact_.name, made.name, metal_name(context_.getRecordType(&record), context_),
                                    inside->name));
      } else if (type->isPointerType() || type->isReferenceType()) {
        if (!read_target(type->getPointeeType(), made)) return 0;
      } else {
        made.type_name = metal_name(type, context_);
      }
      const uint64_t id = made.id, count = std::max<uint64_t>(made.count, 1);
      next_id = id + count * read_inside(type, std::move(made));
      if (trouble_) return 0;
    }
    return next_id;
  }

  std::optional<MemberTrouble> trouble() { return std::move(trouble_); }

 private:
  /// A texture or sampler, or array<T, n> of them, whose elements are counted.
  std::optional<HandleType> handle_member(clang::QualType type, kernel_ir::StructField& made) {
    if (auto handle = handle_type(type, context_)) return handle;
    auto array = made.count == 0 ? handle_array(type, context_) : std::nullopt;
    if (array) made.count = array->count;
    return array;
  }

  uint64_t stop(clang::SourceLocation at, std::string text) {
    trouble_ = {at, std::move(text)};
    return 0;
  }

  bool read_id(const clang::AnnotateAttr& id, kernel_ir::StructField& made) {
    const auto value = number_of(id, context_);
    if (!value || *value < static_cast<int64_t>(made.id) || *value > UINT32_MAX) {
      stop(id.getLocation(),
           fmt::format("'id' attribute of '{}' must be a number that is not below {}", made.name, made.id));
      return false;
    }
    made.id = static_cast<uint64_t>(*value);
    return true;
  }

  /// Adds the member, and those of a structure; returns the ids of one element.
  uint64_t read_inside(clang::QualType type, kernel_ir::StructField made) {
    const unsigned depth = made.depth;
    fact_.fields.push_back(std::move(made));
    const clang::CXXRecordDecl* const inner = structure(type);
    if (inner == nullptr || inner->field_empty()) return 1;
    // Structures of structures double with each level, in a source of a few lines. Without ids they may stay whole.
    if (fact_.fields.size() > kMostMembers && !fact_.is_argument_buffer) return 1;
    if (fact_.fields.size() > kMostMembers)
      return stop({}, fmt::format("parameter '{}': an argument buffer of more than {} members is not supported",
                                  fact_.name, kMostMembers));
    return read(*inner, depth + 1);
  }

  /// The element of an array, Metal's or C's, and how many there are; `type` itself when it is none. An array of the
  /// library that holds no pointers is a struct to AIR. Arrays of arrays of pointers count as one: each has its slot.
  clang::QualType element_of(clang::QualType type, uint64_t& count) {
    if (const auto* array = context_.getAsConstantArrayType(type)) {
      count = array->getSize().getLimitedValue();
      if (context_.getBaseElementType(type)->isPointerType()) {
        count = static_cast<uint64_t>(context_.getConstantArrayElementCount(array));
        return context_.getBaseElementType(type);
      }
      return array->getElementType();
    }
    const auto* special = llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(type->getAsCXXRecordDecl());
    if (special == nullptr || special->getName() != "array" || !is_library(*special)) return type;
    const clang::QualType element = special->getTemplateArgs()[0].getAsType();
    if (!element->isPointerType()) return type;
    count = special->getTemplateArgs()[1].getAsIntegral().getLimitedValue();
    return element;
  }

  bool read_target(clang::QualType target, kernel_ir::StructField& field) {
    field.space = space_of(target);
    if (field.space != 1 && field.space != 2) {
      stop({}, fmt::format("parameter '{}': member '{}' of '{}' must point to device or constant memory", fact_.name,
                           field.name, fact_.type_name));
      return false;
    }
    field.is_const = target.isConstQualified();
    field.type_name = metal_name(target, context_);
    if (target->isVoidType() || target->isFunctionType() || !sema_.isCompleteType({}, target)) return true;
    field.target_size = static_cast<uint64_t>(context_.getTypeSizeInChars(target).getQuantity());
    field.target_align = static_cast<uint64_t>(context_.getTypeAlignInChars(target).getQuantity());
    return true;
  }

  static constexpr size_t kMostMembers = 16384;
  static constexpr uint64_t kHandleBytes = 8, kMostHandles = uint64_t{1} << 20;

  clang::Sema& sema_;
  const clang::ASTContext& context_;
  ParameterFact& fact_;
  std::set<const clang::CXXRecordDecl*> seen_;
  std::optional<MemberTrouble> trouble_;
};

}  // namespace

std::string beyond(clang::QualType type) {
  const auto* record = type->getAsCXXRecordDecl();
  if (record == nullptr) return {};
  const bool is_missing = is_library(*record) && !feature_of_name(record->getName(), true).empty();
  return is_missing ? record->getName().str() : std::string();
}

std::optional<MemberTrouble> read_members(clang::Sema& sema, clang::QualType pointee, ParameterFact& fact) {
  const clang::CXXRecordDecl* const record = structure(pointee);
  if (record == nullptr) return std::nullopt;
  MemberReader reader(sema, fact);
  fact.is_argument_buffer = reader.is_argument_buffer(*record);
  reader.read(*record, 0);
  return reader.trouble();
}

}  // namespace smelt::aot::msl
