// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "msl/facts/space_variants.hpp"

#include "msl/facts/read_facts.hpp"
#include "msl/facts/same_meaning.hpp"

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclTemplate.h"

namespace smelt::aot::msl {
namespace {

constexpr unsigned kSpaces = 7;

const clang::CXXMethodDecl& pattern_of(const clang::CXXMethodDecl& method) {
  const clang::FunctionTemplateDecl* primary = method.getPrimaryTemplate();
  return primary != nullptr ? *llvm::cast<clang::CXXMethodDecl>(primary->getTemplatedDecl()) : method;
}

/// The variant of `taken` for objects in `space`, all its parameters being alike; null: none.
const clang::FunctionDecl* variant_for(const clang::FunctionDecl& taken, unsigned space, int parameter) {
  const clang::ASTContext& context = taken.getASTContext();
  const auto is_like = [&](const clang::FunctionDecl& other) {
    if (other.getNumParams() != taken.getNumParams()) return false;
    for (unsigned i = 0; i < other.getNumParams(); ++i) {
      clang::QualType mine = taken.getParamDecl(i)->getType(), theirs = other.getParamDecl(i)->getType();
      if (static_cast<int>(i) == parameter) {
        mine = mine->getPointeeType();
        theirs = theirs->getPointeeType();
        if (theirs.isNull() || space_of(theirs) != space) return false;
        mine = mine.getCanonicalType().getUnqualifiedType();
        theirs = theirs.getCanonicalType().getUnqualifiedType();
      }
      if (!context.hasSameType(mine, theirs)) return false;
    }
    return true;
  };
  for (const clang::NamedDecl* one : taken.getDeclContext()->getRedeclContext()->lookup(taken.getDeclName())) {
    const auto* other = llvm::dyn_cast<clang::FunctionDecl>(one);
    if (other == nullptr || !is_like(*other)) continue;
    const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(other);
    const auto* mine = llvm::dyn_cast<clang::CXXMethodDecl>(&taken);
    const unsigned wanted = parameter == kOwnObject ? space : (mine != nullptr ? space_of_object(*mine) : 0);
    if (method == nullptr || method->isStatic() || space_of_object(*method) == wanted) return other;
  }
  return nullptr;
}

}  // namespace

unsigned space_of_object(const clang::CXXMethodDecl& method) {
  const clang::ASTContext& context = method.getASTContext();
  return space_of(context.getAddrSpaceQualType(context.IntTy, method.getMethodQualifiers().getAddressSpace()));
}

bool has_variants(const clang::CXXMethodDecl& method) {
  const clang::CXXMethodDecl& pattern = pattern_of(method);
  for (const clang::NamedDecl* one : method.getParent()->lookup(pattern.getDeclName())) {
    if (const auto* generic = llvm::dyn_cast<clang::FunctionTemplateDecl>(one)) one = generic->getTemplatedDecl();
    const auto* other = llvm::dyn_cast<clang::CXXMethodDecl>(one);
    if (other != nullptr && other->getMethodQualifiers().hasAddressSpace()) return true;
  }
  return false;
}

bool has_other_spaces(const clang::FunctionDecl& function, unsigned parameter) {
  for (const clang::NamedDecl* one : function.getDeclContext()->getRedeclContext()->lookup(function.getDeclName())) {
    if (const auto* generic = llvm::dyn_cast<clang::FunctionTemplateDecl>(one)) one = generic->getTemplatedDecl();
    const auto* other = llvm::dyn_cast<clang::FunctionDecl>(one);
    if (other == nullptr || other->getNumParams() <= parameter) continue;
    const clang::QualType pointee = other->getParamDecl(parameter)->getType()->getPointeeType();
    if (!pointee.isNull() && pointee.hasAddressSpace()) return true;
  }
  return false;
}

uint8_t wrong_spaces(const clang::FunctionDecl& taken, int parameter) {
  uint8_t wrong = 0;
  for (unsigned space = 1; space < kSpaces; ++space) {
    const clang::FunctionDecl* right = variant_for(taken, space, parameter);
    if (right == nullptr || !mean_the_same(taken, *right)) wrong |= static_cast<uint8_t>(1 << space);
  }
  return wrong;
}

uint8_t made_otherwise(const clang::CXXConstructorDecl& taken) {
  uint8_t wrong = 0;
  for (unsigned space = 1; space < kSpaces; ++space) {
    const clang::FunctionDecl* right = variant_for(taken, space, kOwnObject);
    if (right != nullptr && !mean_the_same(taken, *right)) wrong |= static_cast<uint8_t>(1 << space);
  }
  return wrong;
}

}  // namespace smelt::aot::msl
