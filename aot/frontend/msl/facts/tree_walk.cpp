// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "msl/facts/tree_walk.hpp"

#include "clang/AST/ASTContext.h"
#include "clang/AST/RecursiveASTVisitor.h"

namespace smelt::aot::msl {

class TreeVisitor : public clang::RecursiveASTVisitor<TreeVisitor> {
 public:
  using Base = clang::RecursiveASTVisitor<TreeVisitor>;
  explicit TreeVisitor(TreeWalk& walk) : walk_(walk) {}
  bool shouldVisitTemplateInstantiations() const { return true; }
  bool shouldVisitImplicitCode() const { return walk_.options_.implicit; }
  bool dataTraverseStmtPre(clang::Stmt*) const { return walk_.options_.statements; }
  bool TraverseDecl(clang::Decl* decl) { return decl == nullptr || walk_.enter(decl); }
  bool TraverseLambdaExpr(clang::LambdaExpr* lambda) { return walk_.enter(lambda); }
  bool VisitDecl(clang::Decl* decl) { return walk_.visit(decl); }
  bool VisitStmt(clang::Stmt* statement) { return walk_.visit(statement); }

 private:
  TreeWalk& walk_;
};

bool TreeWalk::walk(clang::Decl* decl) {
  return TreeVisitor(*this).TraverseDecl(decl);
}

bool TreeWalk::walk(clang::Stmt* statement) {
  return TreeVisitor(*this).TraverseStmt(statement);
}

void TreeWalk::walk(const clang::ASTContext& context) {
  for (clang::Decl* decl : context.getTranslationUnitDecl()->noload_decls())
    if (!decl->isFromASTFile()) walk(decl);
}

bool TreeWalk::into(clang::Decl* decl) {
  TreeVisitor visitor(*this);
  return visitor.TreeVisitor::Base::TraverseDecl(decl);
}

bool TreeWalk::into(clang::LambdaExpr* lambda) {
  TreeVisitor visitor(*this);
  return visitor.TreeVisitor::Base::TraverseLambdaExpr(lambda);
}

}  // namespace smelt::aot::msl
