// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rules (docs/formats/metal-language.md 1.4, 2.1, 2.2):
//
//   * bfloat takes no implicit conversion from another floating type; half and bfloat do not meet in one operation;
//   * a pointer or reference names its space, thread included; array parameters and pointers to functions need not;
//   * variables at program scope are in space `constant`; functions have no static variables;
//   * is_function_constant_defined is asked of a function constant, by its name;
//   * samplers are not written to device memory: our headers' bits of a constant one are no handle (smelt/sampler.h).
#include "msl/facts/strictness.hpp"

#include "msl/facts/annotations.hpp"
#include "msl/facts/read_facts.hpp"
#include "msl/facts/report.hpp"
#include "msl/facts/tree_walk.hpp"

#include "clang/AST/ASTContext.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/TypeLoc.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Sema/Sema.h"

#include <fmt/format.h>

#include <algorithm>

namespace smelt::aot::msl {
namespace {

class StrictnessVisitor final : public TreeWalk {
 public:
  StrictnessVisitor(clang::Sema& sema, const std::vector<clang::SourceLocation::UIntTy>& thread_words)
      : sema_(sema), context_(sema.getASTContext()), sources_(sema.getSourceManager()), thread_words_(thread_words) {}

  std::set<clang::SourceLocation::UIntTy> mixed_choices;

 private:
  enum class Form { variable, assignment, result, parameter };

  bool visit(clang::Decl* decl) override {
    if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(decl)) check(*variable);
    if (const auto* field = llvm::dyn_cast<clang::FieldDecl>(decl)) check(*field);
    return true;
  }
  bool visit(clang::Stmt* statement) override {
    if (const auto* end = llvm::dyn_cast<clang::ReturnStmt>(statement); end != nullptr && end->getRetValue() != nullptr)
      check_conversion(end->getRetValue(), Form::result);
    if (const auto* operation = llvm::dyn_cast<clang::BinaryOperator>(statement)) check(*operation);
    if (const auto* cast = llvm::dyn_cast<clang::ImplicitCastExpr>(statement);
        cast != nullptr && cast->getCastKind() == clang::CK_LValueToRValue)
      read_.insert(cast->getSubExpr()->IgnoreParens());
    if (const auto* choice = llvm::dyn_cast<clang::ConditionalOperator>(statement)) check(*choice);
    if (const auto* call = llvm::dyn_cast<clang::CallExpr>(statement)) {
      for (const clang::Expr* argument : call->arguments()) check_conversion(argument, Form::parameter);
      check_function_constant(*call);
    }
    if (const auto* call = llvm::dyn_cast<clang::CXXOperatorCallExpr>(statement)) check(*call);
    if (const auto* list = llvm::dyn_cast<clang::InitListExpr>(statement))
      for (const clang::Expr* element : list->inits())
        if (element != nullptr) check_conversion(element, Form::variable);
    return true;
  }

  void check(const clang::VarDecl& variable) {
    if (variable.isImplicit() || variable.isInvalidDecl()) return;
    check_storage(variable);
    check_space(variable, variable.getTypeSourceInfo());
    if (!llvm::isa<clang::ParmVarDecl>(&variable) && variable.hasInit() && !variable.getInit()->isValueDependent())
      check_conversion(variable.getInit(), Form::variable);
  }
  void check(const clang::FieldDecl& field) {
    if (!field.isInvalidDecl() && !field.getParent()->isLambda()) check_space(field, field.getTypeSourceInfo());
  }
  void check(const clang::BinaryOperator& operation) {
    if (operation.getOpcode() == clang::BO_Assign)
      check_conversion(operation.getRHS(), Form::assignment);
    else
      check_operands(operation.getOperatorLoc(), operation.getLHS(), operation.getRHS());
  }
  void check(const clang::ConditionalOperator& choice) {
    check_operands(choice.getQuestionLoc(), choice.getTrueExpr(), choice.getFalseExpr());
    const bool is_read = read_.contains(&choice);
    for (const clang::Expr* arm : {choice.getTrueExpr(), choice.getFalseExpr()})
      if (is_read) read_.insert(arm->IgnoreParens());
    if (joins_spaces(choice, is_read)) mixed_choices.insert(choice.getQuestionLoc().getRawEncoding());
  }
  void check(const clang::CXXOperatorCallExpr& call) {
    if (call.getOperator() != clang::OO_Equal || call.getNumArgs() != 2) return;
    const clang::QualType type = call.getArg(0)->IgnoreParenImpCasts()->getType();
    if (space_of(type) == 1 && !type->isDependentType() && holds_sampler(type, 0))
      error(call.getOperatorLoc(), "a sampler cannot be written to device memory");
  }

  /// The token filter makes is_function_constant_defined(c) a call of smelt_language.h's function with the address of
  /// c.
  void check_function_constant(const clang::CallExpr& call) {
    const clang::FunctionDecl* function = call.getDirectCallee();
    if (function == nullptr || function->getIdentifier() == nullptr || call.getNumArgs() != 1 ||
        function->getName() != "__smelt_function_constant_defined")
      return;
    const auto* address = llvm::dyn_cast<clang::UnaryOperator>(call.getArg(0)->IgnoreParenImpCasts());
    const auto* name = address != nullptr && address->getOpcode() == clang::UO_AddrOf
                           ? llvm::dyn_cast<clang::DeclRefExpr>(address->getSubExpr()->IgnoreParens())
                           : nullptr;
    if (name == nullptr || find_annotation(*name->getDecl(), "function_constant") == nullptr)
      error(call.getBeginLoc(), "{}", kWantsFunctionConstant);
  }

  template <class... Args>
  void error(clang::SourceLocation at, fmt::format_string<Args...> format, Args&&... args) {
    report_error(sema_, at, fmt::format(format, std::forward<Args>(args)...));
  }

  bool holds_sampler(clang::QualType type, unsigned depth) const {
    constexpr unsigned kDeepest = 16;
    const auto* record = context_.getBaseElementType(type)->getAsCXXRecordDecl();
    if (record == nullptr || !record->hasDefinition() || depth > kDeepest) return false;
    if (is_library(*record) && record->getName() == "sampler") return true;
    return std::any_of(record->field_begin(), record->field_end(),
                       [&](const clang::FieldDecl* field) { return holds_sampler(field->getType(), depth + 1); });
  }

  static bool is_bfloat(clang::QualType type) { return type->isBFloat16Type(); }
  static bool is_half(clang::QualType type) { return type->isHalfType() || type->isFloat16Type(); }

  /// Clang ranks bfloat above half and then has no code for the conversion. Which type such an operation would have,
  /// Metal's specification does not say.
  void check_operands(clang::SourceLocation at, const clang::Expr* left, const clang::Expr* right) {
    const clang::QualType types[] = {left->IgnoreImpCasts()->getType(), right->IgnoreImpCasts()->getType()};
    if ((!is_half(types[0]) || !is_bfloat(types[1])) && (!is_bfloat(types[0]) || !is_half(types[1]))) return;
    if (sources_.isInSystemHeader(sources_.getExpansionLoc(at))) return;
    error(at, "invalid operands to binary expression ('{}' and '{}'): convert one to the other, or both to float",
          metal_name(types[0], context_), metal_name(types[1], context_));
  }

  /// Clang reads a number from the arm that is chosen: only where nothing reads it is there an object of no space.
  static bool joins_spaces(const clang::ConditionalOperator& choice, bool is_read) {
    if (!choice.isGLValue()) return false;
    const clang::QualType type = choice.getType();
    if (!type->isRecordType() && (is_read || !(type->isIntegralOrEnumerationType() || type->isRealFloatingType())))
      return false;
    const clang::LangAS space = choice.getType().getAddressSpace();
    for (const clang::Expr* arm : {choice.getTrueExpr(), choice.getFalseExpr()})
      if (arm->IgnoreParenImpCasts()->getType().getAddressSpace() != space) return true;
    return false;
  }

  void check_conversion(const clang::Expr* expression, Form form) {
    const auto* cast = llvm::dyn_cast<clang::ImplicitCastExpr>(expression->IgnoreParens());
    if (cast == nullptr || cast->getCastKind() != clang::CK_FloatingCast || cast->isPartOfExplicitCast()) return;
    if (!is_bfloat(cast->getType()) || is_bfloat(cast->getSubExpr()->getType())) return;
    const clang::Expr* from = cast->getSubExpr();
    if (const auto* load = llvm::dyn_cast<clang::ImplicitCastExpr>(from);
        load != nullptr && load->getCastKind() == clang::CK_LValueToRValue)
      from = load->getSubExpr();
    if (sources_.isInSystemHeader(sources_.getExpansionLoc(from->getExprLoc()))) return;
    const std::string to = metal_name(cast->getType(), context_);
    const std::string type = metal_name(from->getType(), context_);
    const char* category = from->isLValue() ? "lvalue" : "rvalue";
    switch (form) {
      case Form::assignment:
        return error(from->getExprLoc(), "assigning to '{}' from incompatible type '{}'", to, type);
      case Form::result:
        return error(from->getExprLoc(), "cannot initialize return object of type '{}' with an {} of type '{}'", to,
                     category, type);
      case Form::parameter:
        return error(from->getExprLoc(), "cannot initialize a parameter of type '{}' with an {} of type '{}'", to,
                     category, type);
      case Form::variable:
        return error(from->getExprLoc(), "cannot initialize a variable of type '{}' with an {} of type '{}'", to,
                     category, type);
    }
  }

  void check_storage(const clang::VarDecl& variable) {
    if (llvm::isa<clang::ParmVarDecl>(variable) || variable.getType()->isDependentType()) return;
    const unsigned space = space_of(variable.getType());
    if (variable.isStaticLocal() && space == 0 && !variable.isConstexpr())
      return error(variable.getLocation(), "variables in function scope cannot be declared static");
    // The token filter makes it static, and AIR runs no code before a kernel's.
    const bool depends = variable.hasInit() && variable.getInit()->isValueDependent();
    if (variable.isStaticLocal() && space == 2 && !depends && !variable.hasConstantInitialization())
      return error(variable.getLocation(),
                   "variable '{}' in address space 'constant' must be initialized with a constant expression",
                   std::string(variable.getName()));
    if (variable.hasGlobalStorage() && !variable.isStaticLocal() && space != 2 && !variable.isConstexpr() &&
        !variable.isInAnonymousNamespace())
      error(variable.getLocation(), "program scope variable must reside in constant address space");
  }

  bool says_thread(const clang::SourceRange& range) const {
    const auto begin = sources_.getExpansionLoc(range.getBegin()).getRawEncoding();
    const auto end = sources_.getExpansionLoc(range.getEnd()).getRawEncoding();
    const auto found = std::lower_bound(thread_words_.begin(), thread_words_.end(), begin);
    return found != thread_words_.end() && *found <= end;
  }

  /// Only what is written as a pointer or reference right here: names of types speak for themselves.
  void check_space(const clang::DeclaratorDecl& decl, const clang::TypeSourceInfo* written) {
    if (written == nullptr || is_instantiation(decl)) return;
    clang::TypeLoc type = written->getTypeLoc().getUnqualifiedLoc();
    if (type.getAs<clang::AdjustedTypeLoc>()) return;  // an array parameter
    const auto pointer = type.getAs<clang::PointerTypeLoc>();
    const auto reference = type.getAs<clang::LValueReferenceTypeLoc>();
    if (!pointer && !reference) return;
    const clang::TypeLoc pointee = pointer ? pointer.getPointeeLoc() : reference.getPointeeLoc();
    const clang::QualType target = pointee.getType();
    if (target.hasAddressSpace() || target->isFunctionType() || target->getContainedAutoType() != nullptr ||
        pointee.IgnoreParens().getAs<clang::FunctionTypeLoc>())
      return;
    // Apple's compiler takes `device T*& p` and `device T* (&a)[2]`, although the reference names no space.
    const clang::QualType element = context_.getBaseElementType(target);
    if (reference && element->isPointerType()) return;
    if (element.hasAddressSpace()) return;
    // The name of a type may bring its space along, and so may a template parameter.
    if (target->getAs<clang::TypedefType>() != nullptr && target.getCanonicalType().hasAddressSpace()) return;
    if (target->isDependentType() && target->getAs<clang::TemplateTypeParmType>() == nullptr) return;
    if (says_thread(decl.getSourceRange())) return;
    error(decl.getLocation(), "{} type must have explicit address space qualifier", pointer ? "pointer" : "reference");
  }

  static bool is_instantiation(const clang::DeclaratorDecl& decl) {
    for (const clang::DeclContext* context = decl.getDeclContext(); context != nullptr;
         context = context->getParent()) {
      if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(context))
        if (function->isTemplateInstantiation() || function->isImplicit()) return true;
      if (const auto* record = llvm::dyn_cast<clang::CXXRecordDecl>(context))
        if (clang::isTemplateInstantiation(record->getTemplateSpecializationKind()) || record->isLambda()) return true;
    }
    return false;
  }

  clang::Sema& sema_;
  clang::ASTContext& context_;
  const clang::SourceManager& sources_;
  const std::vector<clang::SourceLocation::UIntTy>& thread_words_;
  std::set<const clang::Expr*> read_;  // those that are objects only until a value is read from them
};

}  // namespace

std::set<clang::SourceLocation::UIntTy> check_strictness(
    clang::Sema& sema, const std::vector<clang::SourceLocation::UIntTy>& thread_words) {
  StrictnessVisitor checker(sema, thread_words);
  checker.walk(sema.getASTContext());
  return std::move(checker.mixed_choices);
}

}  // namespace smelt::aot::msl
