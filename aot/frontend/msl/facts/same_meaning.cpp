// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "msl/facts/same_meaning.hpp"

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "llvm/ADT/FoldingSet.h"
#include "llvm/ADT/STLExtras.h"

#include <map>
#include <set>

namespace smelt::aot::msl {
namespace {

class Comparison {
 public:
  explicit Comparison(const clang::ASTContext& context) : context_(&context) {}

  bool functions(const clang::FunctionDecl& left, const clang::FunctionDecl& right) {
    const clang::FunctionDecl *one = nullptr, *other = nullptr;
    if (left.getCanonicalDecl() == right.getCanonicalDecl()) return true;
    if (left.isDefaulted() && right.isDefaulted()) return copies_plainly(left);
    if (left.getASTContext().getSourceManager().isInSystemHeader(left.getLocation()))
      return left.getDeclName() == right.getDeclName() && left.getNumParams() == right.getNumParams();
    if (!left.hasBody(one) || !right.hasBody(other) || one->getNumParams() != other->getNumParams()) return false;
    // A pair that is being compared already decides nothing.
    if (!begun_.insert({one->getCanonicalDecl(), other->getCanonicalDecl()}).second) return true;
    const auto* makes = llvm::dyn_cast<clang::CXXConstructorDecl>(one);
    const auto* makes_too = llvm::dyn_cast<clang::CXXConstructorDecl>(other);
    if ((makes == nullptr) != (makes_too == nullptr)) return false;
    if (makes != nullptr && !initialisers(*makes, *makes_too)) return false;
    return statements(one->getBody(), other->getBody());
  }

 private:
  bool initialisers(const clang::CXXConstructorDecl& left, const clang::CXXConstructorDecl& right) {
    return std::equal(left.init_begin(), left.init_end(), right.init_begin(), right.init_end(),
                      [&](const clang::CXXCtorInitializer* one, const clang::CXXCtorInitializer* other) {
                        return one->getAnyMember() == other->getAnyMember() &&
                               one->getBaseClass() == other->getBaseClass() &&
                               statements(one->getInit(), other->getInit());
                      });
  }

  /// A defaulted function of a class whose members have no functions of their own for that.
  static bool copies_plainly(const clang::FunctionDecl& function) {
    const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(&function);
    if (method == nullptr) return false;
    const auto is_plain = [&](clang::QualType type) {
      const clang::CXXRecordDecl* record = type->getBaseElementTypeUnsafe()->getAsCXXRecordDecl();
      return record == nullptr || record->isTriviallyCopyable() ||
             function.getASTContext().getSourceManager().isInSystemHeader(record->getLocation());
    };
    return llvm::all_of(method->getParent()->fields(),
                        [&](const clang::FieldDecl* field) { return is_plain(field->getType()); }) &&
           llvm::all_of(method->getParent()->bases(),
                        [&](const clang::CXXBaseSpecifier& base) { return is_plain(base.getType()); });
  }

  /// Without what only converts between spaces.
  static const clang::Stmt* bare(const clang::Stmt* statement) {
    for (;;) {
      const auto* expression = llvm::dyn_cast_or_null<clang::Expr>(statement);
      if (expression == nullptr) return statement;
      const clang::Expr* inner = expression->IgnoreParens();
      const auto* cast = llvm::dyn_cast<clang::ImplicitCastExpr>(inner);
      if (cast != nullptr &&
          (cast->getCastKind() == clang::CK_NoOp || cast->getCastKind() == clang::CK_AddressSpaceConversion))
        inner = cast->getSubExpr();
      if (inner == statement) return statement;
      statement = inner;
    }
  }

  bool statements(const clang::Stmt* left, const clang::Stmt* right) {
    left = bare(left);
    right = bare(right);
    if (left == nullptr || right == nullptr) return left == right;
    if (left->getStmtClass() != right->getStmtClass() || !same_itself(*left, *right)) return false;
    const auto ones = left->children(), others = right->children();
    auto other = others.begin();
    for (const clang::Stmt* one : ones) {
      if (other == others.end() || !statements(one, *other)) return false;
      ++other;
    }
    return other == others.end();
  }

  bool declarations(const clang::Decl* left, const clang::Decl* right) {
    if (left == nullptr || right == nullptr) return left == right;
    if (left->getCanonicalDecl() == right->getCanonicalDecl()) return true;
    if (const auto* one = llvm::dyn_cast<clang::ParmVarDecl>(left)) {
      const auto* other = llvm::dyn_cast<clang::ParmVarDecl>(right);
      return other != nullptr && one->getFunctionScopeIndex() == other->getFunctionScopeIndex();
    }
    if (llvm::isa<clang::VarDecl>(left)) {
      const auto known = locals_.find(left);
      return known != locals_.end() && known->second == right;
    }
    const auto* one = llvm::dyn_cast<clang::FunctionDecl>(left);
    const auto* other = llvm::dyn_cast<clang::FunctionDecl>(right);
    return one != nullptr && other != nullptr && functions(*one, *other);
  }

  /// But for the children.
  bool same_itself(const clang::Stmt& left, const clang::Stmt& right) {
    if (const auto* one = llvm::dyn_cast<clang::DeclRefExpr>(&left))
      return declarations(one->getDecl(), llvm::cast<clang::DeclRefExpr>(right).getDecl());
    if (const auto* one = llvm::dyn_cast<clang::MemberExpr>(&left))
      return declarations(one->getMemberDecl(), llvm::cast<clang::MemberExpr>(right).getMemberDecl());
    if (const auto* one = llvm::dyn_cast<clang::CXXConstructExpr>(&left))
      return declarations(one->getConstructor(), llvm::cast<clang::CXXConstructExpr>(right).getConstructor());
    if (const auto* one = llvm::dyn_cast<clang::UnaryOperator>(&left))
      return one->getOpcode() == llvm::cast<clang::UnaryOperator>(right).getOpcode();
    if (const auto* one = llvm::dyn_cast<clang::BinaryOperator>(&left))
      return one->getOpcode() == llvm::cast<clang::BinaryOperator>(right).getOpcode();
    if (const auto* one = llvm::dyn_cast<clang::CastExpr>(&left))
      return one->getCastKind() == llvm::cast<clang::CastExpr>(right).getCastKind() &&
             (one->isGLValue() || same_type(one->getType(), llvm::cast<clang::CastExpr>(right).getType()));
    if (const auto* one = llvm::dyn_cast<clang::DeclStmt>(&left))
      return locals(one->getDeclGroup(), llvm::cast<clang::DeclStmt>(right).getDeclGroup());
    if (llvm::isa<clang::CompoundStmt, clang::ReturnStmt, clang::CallExpr, clang::CXXThisExpr, clang::IfStmt,
                  clang::ForStmt, clang::WhileStmt, clang::DoStmt, clang::ArraySubscriptExpr, clang::ExprWithCleanups,
                  clang::MaterializeTemporaryExpr, clang::ConditionalOperator, clang::InitListExpr,
                  clang::CXXBindTemporaryExpr>(&left))
      return true;
    // Literals and the like, which are known by themselves. What captures is not looked into.
    if (left.child_begin() != left.child_end() || !llvm::isa<clang::Expr>(left)) return false;
    llvm::FoldingSetNodeID one, other;
    left.Profile(one, *context_, true);
    right.Profile(other, *context_, true);
    return one == other;
  }

  bool locals(clang::DeclGroupRef lefts, clang::DeclGroupRef rights) {
    return std::equal(lefts.begin(), lefts.end(), rights.begin(), rights.end(),
                      [&](const clang::Decl* left, const clang::Decl* right) {
                        const auto* one = llvm::dyn_cast<clang::VarDecl>(left);
                        const auto* other = llvm::dyn_cast<clang::VarDecl>(right);
                        if (one == nullptr || other == nullptr || !same_type(one->getType(), other->getType()))
                          return false;
                        locals_[one] = other;
                        return true;
                      });
  }

  static bool same_type(clang::QualType left, clang::QualType right) {
    const auto plain = [](clang::QualType type) {
      if (type->isPointerType()) type = type->getPointeeType();
      return type.getCanonicalType().getUnqualifiedType();
    };
    return left->isPointerType() == right->isPointerType() && plain(left) == plain(right);
  }

  const clang::ASTContext* context_;
  std::map<const clang::Decl*, const clang::Decl*> locals_;
  std::set<std::pair<const clang::Decl*, const clang::Decl*>> begun_;
};

}  // namespace

bool mean_the_same(const clang::FunctionDecl& left, const clang::FunctionDecl& right) {
  return Comparison(left.getASTContext()).functions(left, right);
}

}  // namespace smelt::aot::msl
