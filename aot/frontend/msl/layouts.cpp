// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "msl/layouts.hpp"

#include "msl/private_member.hpp"

#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclCXX.h"

namespace smelt::aot::msl {

// clang::CXXRecordDecl::data, which holds what Clang knows of a class, has a private type too, which cannot be named
// here.
struct DefinitionMember {};
auto address_of(DefinitionMember);
template <class Tag, auto Member>
struct PrivateFunction {
  friend auto address_of(Tag) { return Member; }
};
template struct PrivateFunction<DefinitionMember, &clang::CXXRecordDecl::data>;

namespace {

bool is_in(const clang::DeclContext* context, llvm::StringRef name) {
  const auto* space = llvm::dyn_cast<clang::NamespaceDecl>(context);
  return space != nullptr && space->getIdentifier() != nullptr && space->getName() == name;
}

/// metal::__vectors::vec, metal::__vectors::packed_vec, metal::matrix.
bool is_type_of_language(const clang::CXXRecordDecl& record) {
  if (record.getIdentifier() == nullptr || !llvm::isa<clang::ClassTemplateSpecializationDecl>(record)) return false;
  const clang::DeclContext* context = record.getDeclContext();
  if (record.getName() == "matrix") return is_in(context, "metal");
  return (record.getName() == "vec" || record.getName() == "packed_vec") && is_in(context, "__vectors") &&
         is_in(context->getParent(), "metal");
}

}  // namespace

void lay_out_as_metal(clang::TagDecl* tag) {
  auto* record = llvm::dyn_cast<clang::CXXRecordDecl>(tag);
  if (record == nullptr || record->isDependentContext() || record->isInvalidDecl()) return;
  if (is_type_of_language(*record)) (record->*address_of(DefinitionMember()))().PlainOldData = true;
  if (!record->hasAttr<clang::PackedAttr>()) return;
  clang::ASTContext& context = record->getASTContext();
  for (clang::FieldDecl* field : record->fields())
    if (!field->hasAttr<clang::PackedAttr>() && context.getBaseElementType(field->getType())->isRecordType())
      field->addAttr(clang::PackedAttr::CreateImplicit(context));
}

}  // namespace smelt::aot::msl
