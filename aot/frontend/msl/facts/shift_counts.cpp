// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "msl/facts/shift_counts.hpp"

#include "msl/facts/tree_walk.hpp"

#include "clang/AST/ASTContext.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/DenseSet.h"

namespace smelt::aot::msl {
namespace {

class ShiftVisitor final : public TreeWalk {
 public:
  explicit ShiftVisitor(clang::ASTContext& context) : TreeWalk({.implicit = true}), context_(context) {}

 private:
  bool visit(clang::Stmt* statement) override {
    if (auto* operation = llvm::dyn_cast<clang::BinaryOperator>(statement)) mask(operation);
    // Arguments and members by default may be copied for one use.
    if (auto* use = llvm::dyn_cast<clang::CXXDefaultArgExpr>(statement))
      return !use->hasRewrittenInit() || walk(use->getRewrittenExpr());
    if (auto* use = llvm::dyn_cast<clang::CXXDefaultInitExpr>(statement))
      return !use->hasRewrittenInit() || walk(use->getRewrittenExpr());
    return true;
  }

  void mask(clang::BinaryOperator* shift) {
    if (!shift->isShiftOp() && !shift->isShiftAssignOp()) return;
    clang::Expr* const count = shift->getRHS();
    if (shift->getLHS()->isTypeDependent() || count->isTypeDependent() || count->isValueDependent()) return;
    const auto* assignment = llvm::dyn_cast<clang::CompoundAssignOperator>(shift);
    const clang::QualType shifted =
        assignment != nullptr ? assignment->getComputationLHSType() : shift->getLHS()->getType();
    if (!shifted->isIntegerType() || !count->getType()->isIntegerType()) return;  // vectors of our own headers
    if (!masked_.insert(shift).second) return;                                    // lists are in the tree twice
    const unsigned width = context_.getIntWidth(shifted);
    clang::Expr::EvalResult known;
    if (count->EvaluateAsInt(known, context_, clang::Expr::SE_AllowSideEffects) &&
        static_cast<const llvm::APInt&>(known.Val.getInt()).ult(width))
      return;
    const clang::QualType type = count->getType();
    const clang::SourceLocation at = count->getBeginLoc();
    auto* last = clang::IntegerLiteral::Create(context_, llvm::APInt(context_.getIntWidth(type), width - 1), type, at);
    shift->setRHS(clang::BinaryOperator::Create(context_, count, last, clang::BO_And, type, clang::VK_PRValue,
                                                clang::OK_Ordinary, at, clang::FPOptionsOverride()));
  }

  clang::ASTContext& context_;
  llvm::DenseSet<const clang::BinaryOperator*> masked_;
};

}  // namespace

void mask_shift_counts(clang::ASTContext& context) {
  ShiftVisitor(context).walk(context);
}

}  // namespace smelt::aot::msl
