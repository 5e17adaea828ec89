// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Metal's attributes in Clang's tree, where the token filter has put them as annotations "msl.NAME".
#pragma once

#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/Decl.h"

#include <optional>
#include <string>

namespace smelt::aot::msl {

/// NAME; empty for an annotation that is none of Metal's.
inline llvm::StringRef metal_attribute(const clang::AnnotateAttr& attribute) {
  llvm::StringRef name = attribute.getAnnotation();
  return name.consume_front("msl.") ? name : llvm::StringRef();
}

/// Null when the declaration has none of that name.
inline const clang::AnnotateAttr* find_annotation(const clang::Decl& decl, llvm::StringRef name) {
  for (const auto* attribute : decl.specific_attrs<clang::AnnotateAttr>())
    if (metal_attribute(*attribute) == name) return attribute;
  return nullptr;
}

/// The text of the first argument; empty when that is no string.
inline std::string text_of(const clang::AnnotateAttr& attribute) {
  if (attribute.args_size() == 0) return {};
  const clang::Expr* value = (*attribute.args_begin())->IgnoreParenImpCasts();
  if (const auto* constant = llvm::dyn_cast<clang::ConstantExpr>(value))
    value = constant->getSubExpr()->IgnoreParenImpCasts();
  const auto* literal = llvm::dyn_cast<clang::StringLiteral>(value);
  return literal != nullptr ? literal->getString().str() : std::string();
}

/// The first argument; nothing when it is no constant integer.
inline std::optional<int64_t> number_of(const clang::AnnotateAttr& attribute, const clang::ASTContext& context) {
  if (attribute.args_size() == 0) return std::nullopt;
  const clang::Expr* value = *attribute.args_begin();
  clang::Expr::EvalResult result;
  if (value->isValueDependent() || !value->EvaluateAsInt(result, context)) return std::nullopt;
  return result.Val.getInt().tryExtValue();
}

}  // namespace smelt::aot::msl
