// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A method without a space takes objects of any space, which is more than Metal has. Two things must not come of it:
// another variant than Metal's (such an error is reported at once), and the thread's variant called by way of a method
// without a space, whose `this` may be anywhere: such a method is for the thread's objects too.
#include "msl/facts/object_spaces.hpp"

#include "msl/facts/read_facts.hpp"
#include "msl/syntax/method_spaces.hpp"

#include "clang/AST/ASTContext.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Sema/Sema.h"

#include <fmt/format.h>

#include <map>
#include <vector>

namespace smelt::aot::msl {
namespace {

constexpr const char* word_of(unsigned space) {
  constexpr const char* kWords[] = {"thread", "device", "constant", "threadgroup"};
  return kWords[space];
}

const clang::CXXMethodDecl& pattern_of(const clang::CXXMethodDecl& method) {
  const clang::FunctionTemplateDecl* primary = method.getPrimaryTemplate();
  return primary != nullptr ? *llvm::cast<clang::CXXMethodDecl>(primary->getTemplatedDecl()) : method;
}

/// Whether the class has methods of this name that are for one space.
bool has_variants(const clang::CXXMethodDecl& method) {
  const clang::CXXMethodDecl& pattern = pattern_of(method);
  for (const clang::NamedDecl* one : method.getParent()->lookup(pattern.getDeclName())) {
    if (const auto* generic = llvm::dyn_cast<clang::FunctionTemplateDecl>(one)) one = generic->getTemplatedDecl();
    const auto* other = llvm::dyn_cast<clang::CXXMethodDecl>(one);
    if (other != nullptr && other->getMethodQualifiers().hasAddressSpace()) return true;
  }
  return false;
}

/// What an expression is a part of: `a` of a.b[i].c, without what changes no address.
const clang::Expr* root_of(const clang::Expr* expression) {
  for (;;) {
    expression = expression->IgnoreParenImpCasts();
    if (const auto* cast = llvm::dyn_cast<clang::ExplicitCastExpr>(expression); cast != nullptr && cast->isGLValue())
      expression = cast->getSubExpr();
    else if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(expression);
             member != nullptr && llvm::isa<clang::FieldDecl>(member->getMemberDecl()) &&
             !member->getMemberDecl()->getType()->isReferenceType())
      expression = member->getBase();
    else if (const auto* element = llvm::dyn_cast<clang::ArraySubscriptExpr>(expression);
             element != nullptr && llvm::isa<clang::ImplicitCastExpr>(element->getBase()) &&
             llvm::cast<clang::ImplicitCastExpr>(element->getBase())->getCastKind() == clang::CK_ArrayToPointerDecay)
      expression = element->getBase();
    else if (const auto* operation = llvm::dyn_cast<clang::UnaryOperator>(expression);
             operation != nullptr && operation->getOpcode() == clang::UO_Deref &&
             llvm::isa<clang::CXXThisExpr>(operation->getSubExpr()->IgnoreParenImpCasts()))
      expression = operation->getSubExpr();
    else
      return expression;
  }
}

/// `expression` without the conversions of an object to the method's parameter.
const clang::Expr* object_itself(const clang::Expr* expression) {
  for (;;) {
    expression = expression->IgnoreParens();
    const auto* cast = llvm::dyn_cast<clang::ImplicitCastExpr>(expression);
    if (cast == nullptr) return expression;
    switch (cast->getCastKind()) {
      case clang::CK_AddressSpaceConversion:
      case clang::CK_NoOp:
      case clang::CK_DerivedToBase:
      case clang::CK_UncheckedDerivedToBase:
        expression = cast->getSubExpr();
        break;
      default:
        return expression;
    }
  }
}

/// c ? a : b, whose class values the filter takes out of their space: the space of an arm (smelt_language.h).
unsigned space_of_arms(const clang::ConditionalOperator& choice) {
  for (const clang::Expr* arm : {choice.getTrueExpr(), choice.getFalseExpr()}) {
    const auto* call = llvm::dyn_cast<clang::CallExpr>(arm->IgnoreUnlessSpelledInSource());
    const clang::FunctionDecl* function = call != nullptr ? call->getDirectCallee() : nullptr;
    if (function == nullptr || function->getIdentifier() == nullptr || function->getName() != "__msl_arm") continue;
    const unsigned space = space_of(object_itself(call->getArg(0))->getType());
    if (space != 0) return space;
  }
  return 0;
}

/// AIR's number of the space that the object of a call lies in.
unsigned object_space(const clang::Expr& object) {
  const clang::Expr* itself = object_itself(&object);
  const clang::QualType type = itself->getType();
  if (type->isPointerType()) return space_of(type->getPointeeType());
  if (const auto* temporary = llvm::dyn_cast<clang::MaterializeTemporaryExpr>(itself))
    itself = temporary->getSubExpr()->IgnoreUnlessSpelledInSource();
  if (const auto* choice = llvm::dyn_cast<clang::ConditionalOperator>(itself);
      choice != nullptr && !choice->isGLValue())
    return space_of_arms(*choice);
  if (!itself->isGLValue()) return 0;
  if (const unsigned space = space_of(type); space != 0) return space;
  // A table of the program scope, or a static member, is in constant memory, although its type does not say it.
  const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(root_of(itself));
  const auto* variable = name != nullptr ? llvm::dyn_cast<clang::VarDecl>(name->getDecl()) : nullptr;
  const bool is_shared = variable != nullptr && variable->hasGlobalStorage() && !variable->isStaticLocal() &&
                         !variable->getType()->isReferenceType();
  return is_shared ? 2 : 0;
}

/// The object of a call of a method that is no static one; null: no such call.
const clang::Expr* object_of(const clang::CallExpr& call) {
  const auto* method = llvm::dyn_cast_or_null<clang::CXXMethodDecl>(call.getDirectCallee());
  if (method == nullptr || method->isStatic()) return nullptr;
  if (const auto* named = llvm::dyn_cast<clang::CXXMemberCallExpr>(&call)) return named->getImplicitObjectArgument();
  return llvm::isa<clang::CXXOperatorCallExpr>(call) ? call.getArg(0) : nullptr;
}

/// The methods that a function calls of its parameters.
class CallsOnParameters : public clang::RecursiveASTVisitor<CallsOnParameters> {
 public:
  struct Call {
    unsigned parameter;
    const clang::CXXMethodDecl* method;
  };
  std::vector<Call> calls;

  bool VisitCallExpr(clang::CallExpr* call) {
    const clang::Expr* object = object_of(*call);
    const auto* name = object != nullptr ? llvm::dyn_cast<clang::DeclRefExpr>(root_of(object)) : nullptr;
    const auto* parameter = name != nullptr ? llvm::dyn_cast<clang::ParmVarDecl>(name->getDecl()) : nullptr;
    if (parameter != nullptr && parameter->getType()->isReferenceType())
      calls.push_back({parameter->getFunctionScopeIndex(), llvm::cast<clang::CXXMethodDecl>(call->getDirectCallee())});
    return true;
  }
};

class ObjectSpaces : public clang::RecursiveASTVisitor<ObjectSpaces> {
 public:
  explicit ObjectSpaces(clang::Sema& sema) : sema_(sema) {}

  bool shouldVisitTemplateInstantiations() const { return true; }
  bool shouldVisitImplicitCode() const { return true; }

  bool TraverseDecl(clang::Decl* decl) {
    auto* method = llvm::dyn_cast_or_null<clang::CXXMethodDecl>(decl);
    const bool is_function = decl != nullptr && llvm::isa<clang::FunctionDecl>(decl);
    // `this` in a lambda is the method's that it stands in.
    if (!is_function || (method != nullptr && method->getParent()->isLambda()))
      return RecursiveASTVisitor::TraverseDecl(decl);
    const clang::CXXMethodDecl* outer = std::exchange(inside_, method);
    const bool goes_on = RecursiveASTVisitor::TraverseDecl(decl);
    inside_ = outer;
    return goes_on;
  }
  bool VisitCallExpr(clang::CallExpr* call) {
    const clang::FunctionDecl* function = call->getDirectCallee();
    if (function == nullptr) return true;
    if (const clang::Expr* object = object_of(*call))
      look_at(*llvm::cast<clang::CXXMethodDecl>(function), *object, call->getExprLoc());
    look_at_arguments(*function, *call);
    look_through(*function, *call);
    return true;
  }
  bool TraverseLambdaExpr(clang::LambdaExpr* lambda) {
    const clang::LambdaExpr* outer = std::exchange(lambda_, lambda);
    const bool goes_on = RecursiveASTVisitor::TraverseLambdaExpr(lambda);
    lambda_ = outer;
    return goes_on;
  }

  void report_by_way_of_others() {
    for (bool grows = true; grows;) {
      grows = false;
      for (const auto& [caller, callee] : calls_on_this_)
        if (const auto found = only_thread_.find(callee); found != only_thread_.end())
          grows |= only_thread_.try_emplace(caller, found->second).second;
    }
    for (const Call& call : calls_elsewhere_) {
      const auto found = only_thread_.find(call.method);
      if (found == only_thread_.end()) continue;
      error(call.at,
            "'{}' names no address space and calls '{}' of its object, which has variants for spaces; so it cannot be "
            "called on an object in '{}' memory",
            call.method->getNameAsString(), found->second->getNameAsString(), word_of(call.space));
    }
  }

 private:
  struct Call {
    const clang::CXXMethodDecl* method;
    unsigned space;
    clang::SourceLocation at;
  };

  template <class... Args>
  void error(clang::SourceLocation at, fmt::format_string<Args...> format, Args&&... args) {
    clang::DiagnosticsEngine& engine = sema_.getDiagnostics();
    engine.Report(at, engine.getCustomDiagID(clang::DiagnosticsEngine::Error, "%0"))
        << fmt::format(format, std::forward<Args>(args)...);
  }

  void look_at(const clang::CXXMethodDecl& method, const clang::Expr& object, clang::SourceLocation at) {
    if (object.isTypeDependent() || method.getParent()->isLambda()) return;
    if (is_captured_copy(object) && (names_space(method) || is_for_thread(method)))
      return error(at,
                   "'{}' of an object that a lambda captured by copy: the copy is in 'thread' memory, and has the type "
                   "of its original; copy it to a variable first",
                   method.getNameAsString());
    if (method.getMethodQualifiers().hasAddressSpace()) return;
    const unsigned space = object_space(object);
    const clang::CXXMethodDecl* callee = method.getCanonicalDecl();
    const bool on_own_object =
        space == 0 && inside_ != nullptr && names_nothing(*inside_) && llvm::isa<clang::CXXThisExpr>(root_of(&object));
    if (is_for_thread(method)) {
      if (space != 0)
        error(at,
              "no matching member function for call to '{}': the one that fits the arguments takes an object in "
              "'thread' memory, and this one is in '{}'",
              method.getNameAsString(), word_of(space));
      else if (on_own_object)
        only_thread_.try_emplace(inside_->getCanonicalDecl(), callee);
      return;
    }
    if (space != 0)
      calls_elsewhere_.push_back({callee, space, at});
    else if (on_own_object)
      calls_on_this_.emplace_back(inside_->getCanonicalDecl(), callee);
  }

  /// For objects of the thread alone. The variants of our own headers all mean the same.
  bool is_for_thread(const clang::CXXMethodDecl& method) {
    if (method.getMethodQualifiers().hasAddressSpace()) return false;
    if (sema_.getSourceManager().isInSystemHeader(method.getLocation())) return false;
    if (names_space(method)) return true;
    const auto [known, is_new] = for_thread_.try_emplace(method.getCanonicalDecl(), false);
    if (is_new) known->second = has_variants(method);
    return known->second;
  }

  /// An object in another space that the lambda has a copy of: Clang gives the copy the original's type, space and all.
  bool is_captured_copy(const clang::Expr& object) const {
    if (lambda_ == nullptr) return false;
    const clang::Expr* root = root_of(&object);
    const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(root);
    for (const clang::LambdaCapture& capture : lambda_->captures()) {
      if (capture.getCaptureKind() == clang::LCK_StarThis && llvm::isa<clang::CXXThisExpr>(root))
        return space_of(root->getType()->getPointeeType()) != 0;
      if (name != nullptr && capture.getCaptureKind() == clang::LCK_ByCopy &&
          capture.getCapturedVar() == name->getDecl())
        return space_of(name->getType()) != 0;
    }
    return false;
  }

  /// Beside functions for other spaces, one that writes through a reference to the thread's memory is for that alone.
  void look_at_arguments(const clang::FunctionDecl& function, const clang::CallExpr& call) {
    const unsigned skipped =
        llvm::isa<clang::CXXOperatorCallExpr>(call) && llvm::isa<clang::CXXMethodDecl>(function) ? 1 : 0;
    for (unsigned i = 0; i < function.getNumParams() && i + skipped < call.getNumArgs(); ++i) {
      const auto* reference = function.getParamDecl(i)->getType()->getAs<clang::LValueReferenceType>();
      if (reference == nullptr || reference->getPointeeType().hasAddressSpace()) continue;
      if (reference->getPointeeType().isConstQualified()) continue;
      const clang::Expr* argument = object_itself(call.getArg(i + skipped));
      const unsigned space = argument->isGLValue() ? space_of(argument->getType()) : 0;
      if (space == 0 || sema_.getSourceManager().isInSystemHeader(function.getLocation())) continue;
      if (has_other_spaces(function, i))
        error(argument->getExprLoc(),
              "no matching function for call to '{}': the one that fits the arguments takes a reference to 'thread' "
              "memory, and this object is in '{}'",
              function.getNameAsString(), word_of(space));
    }
  }

  /// What a function calls of its parameter, it calls of the argument, also where the parameter's type does not say in
  /// which space that is.
  void look_through(const clang::FunctionDecl& function, const clang::CallExpr& call) {
    const unsigned skipped =
        llvm::isa<clang::CXXOperatorCallExpr>(call) && llvm::isa<clang::CXXMethodDecl>(function) ? 1 : 0;
    for (unsigned i = skipped; i < call.getNumArgs(); ++i) {
      const clang::CXXRecordDecl* type = call.getArg(i)->getType()->getAsCXXRecordDecl();
      if (type == nullptr || !call.getArg(i)->isGLValue()) continue;
      if (sema_.getSourceManager().isInSystemHeader(type->getLocation())) continue;
      const auto [known, is_new] = on_parameters_.try_emplace(function.getCanonicalDecl());
      if (is_new && function.hasBody()) {
        CallsOnParameters finder;
        finder.TraverseStmt(function.getBody());
        known->second = std::move(finder.calls);
      }
      for (const CallsOnParameters::Call& inner : known->second)
        if (inner.parameter + skipped == i) look_at(*inner.method, *call.getArg(i), call.getExprLoc());
    }
  }

  static bool has_other_spaces(const clang::FunctionDecl& function, unsigned parameter) {
    for (const clang::NamedDecl* one : function.getDeclContext()->getRedeclContext()->lookup(function.getDeclName())) {
      if (const auto* generic = llvm::dyn_cast<clang::FunctionTemplateDecl>(one)) one = generic->getTemplatedDecl();
      const auto* other = llvm::dyn_cast<clang::FunctionDecl>(one);
      if (other == nullptr || other->getNumParams() <= parameter) continue;
      const clang::QualType pointee = other->getParamDecl(parameter)->getType()->getPointeeType();
      if (!pointee.isNull() && pointee.hasAddressSpace()) return true;
    }
    return false;
  }

  static bool names_nothing(const clang::CXXMethodDecl& method) {
    return !method.isStatic() && !names_space(method) && !llvm::isa<clang::CXXConstructorDecl>(method);
  }

  clang::Sema& sema_;
  const clang::CXXMethodDecl* inside_ = nullptr;
  const clang::LambdaExpr* lambda_ = nullptr;
  llvm::DenseMap<const clang::CXXMethodDecl*, bool> for_thread_;
  std::map<const clang::FunctionDecl*, std::vector<CallsOnParameters::Call>> on_parameters_;
  std::map<const clang::CXXMethodDecl*, const clang::CXXMethodDecl*> only_thread_;  ///< and the variant it calls
  std::vector<std::pair<const clang::CXXMethodDecl*, const clang::CXXMethodDecl*>> calls_on_this_;
  std::vector<Call> calls_elsewhere_;
};

}  // namespace

void check_object_spaces(clang::Sema& sema) {
  ObjectSpaces checker(sema);
  for (clang::Decl* decl : sema.getASTContext().getTranslationUnitDecl()->noload_decls())
    if (!decl->isFromASTFile()) checker.TraverseDecl(decl);
  checker.report_by_way_of_others();
}

}  // namespace smelt::aot::msl
