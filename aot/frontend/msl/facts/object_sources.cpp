// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "msl/facts/object_sources.hpp"

#include "msl/facts/read_facts.hpp"
#include "msl/facts/space_variants.hpp"

namespace smelt::aot::msl {
namespace {

using Place = SpaceFlow::Place;

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

Sources in_space(unsigned space) {
  return space == 0 ? Sources{} : Sources{{.space = space}};
}
Sources joined(Sources left, const Sources& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

}  // namespace

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

bool is_shared(const clang::ValueDecl& declaration) {
  const auto* variable = llvm::dyn_cast<clang::VarDecl>(&declaration);
  return variable != nullptr && variable->hasGlobalStorage() && !variable->isStaticLocal() &&
         !variable->getType()->isReferenceType();
}

const clang::Expr* object_of(const clang::CallExpr& call) {
  const auto* method = llvm::dyn_cast_or_null<clang::CXXMethodDecl>(call.getDirectCallee());
  if (method == nullptr || method->isStatic()) return nullptr;
  if (const auto* named = llvm::dyn_cast<clang::CXXMemberCallExpr>(&call)) return named->getImplicitObjectArgument();
  return llvm::isa<clang::CXXOperatorCallExpr>(call) ? call.getArg(0) : nullptr;
}

unsigned objects_among_arguments(const clang::CallExpr& call) {
  return llvm::isa<clang::CXXOperatorCallExpr>(call) && object_of(call) != nullptr ? 1 : 0;
}

const clang::ValueDecl* declaration_of(const clang::Expr& pointer) {
  const clang::Expr* at = pointer.IgnoreParenCasts();
  for (;;) {
    if (const auto* element = llvm::dyn_cast<clang::ArraySubscriptExpr>(at))
      at = element->getBase()->IgnoreParenCasts();
    else if (const auto* operation = llvm::dyn_cast<clang::UnaryOperator>(at))
      at = operation->getSubExpr()->IgnoreParenCasts();
    else
      break;
  }
  if (const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(at)) return name->getDecl();
  if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(at)) return member->getMemberDecl();
  return nullptr;
}

bool names_no_space(clang::QualType type) {
  if (!type->isReferenceType() && !type->isPointerType()) return false;
  const clang::QualType pointee = type->getPointeeType();
  return !pointee->isDependentType() && !pointee->isFunctionType() && space_of(pointee) == 0;
}

Sources ObjectSources::of_object(const clang::Expr& object) {
  const clang::Expr* itself = object_itself(&object);
  if (itself->isTypeDependent()) return {};
  if (const auto* given = llvm::dyn_cast<clang::CXXDefaultArgExpr>(itself)) return of_object(*given->getExpr());
  // What the copy of an array copies, element by element.
  if (const auto* whole = llvm::dyn_cast<clang::OpaqueValueExpr>(itself))
    return whole->getSourceExpr() != nullptr ? of_object(*whole->getSourceExpr()) : Sources{};
  if (const auto* temporary = llvm::dyn_cast<clang::MaterializeTemporaryExpr>(itself))
    itself = temporary->getSubExpr()->IgnoreUnlessSpelledInSource();
  if (const auto* choice = llvm::dyn_cast<clang::ConditionalOperator>(itself)) {
    if (!choice->isGLValue()) return in_space(space_of_arms(*choice));
    return joined(of_object(*choice->getTrueExpr()), of_object(*choice->getFalseExpr()));
  }
  if (!itself->isGLValue()) return {};
  if (const unsigned space = space_of(itself->getType()); space != 0) return in_space(space);
  const clang::Expr* root = root_of(itself);
  if (root != itself) return root->getType()->isPointerType() ? of_pointer(*root) : of_object(*root);
  if (const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(itself)) return of_name(*name);
  if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(itself))
    return is_shared(*member->getMemberDecl()) ? in_space(2) : Sources{{.place = flow_.of(*member->getMemberDecl())}};
  if (const auto* element = llvm::dyn_cast<clang::ArraySubscriptExpr>(itself)) return of_pointer(*element->getBase());
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(itself)) return of_result(*call);
  if (const auto* operation = llvm::dyn_cast<clang::UnaryOperator>(itself))
    return operation->getOpcode() == clang::UO_Deref ? of_pointer(*operation->getSubExpr())
                                                     : of_object(*operation->getSubExpr());
  if (const auto* operation = llvm::dyn_cast<clang::BinaryOperator>(itself))
    return of_object(operation->isAssignmentOp() ? *operation->getLHS() : *operation->getRHS());
  return {};
}

Sources ObjectSources::of_name(const clang::DeclRefExpr& name) {
  const clang::ValueDecl& declaration = *name.getDecl();
  if (const auto* binding = llvm::dyn_cast<clang::BindingDecl>(&declaration))
    return binding->getBinding() != nullptr ? of_object(*binding->getBinding()) : Sources{};
  if (is_shared(declaration)) return in_space(2);
  if (!declaration.getType()->isReferenceType() || is_copied(declaration)) return {};
  return {{.place = flow_.of(declaration)}};
}

Sources ObjectSources::of_pointer(const clang::Expr& pointer) {
  const clang::Expr* itself = pointer.IgnoreParenCasts();
  if (itself->isTypeDependent()) return {};
  if (const auto* given = llvm::dyn_cast<clang::CXXDefaultArgExpr>(itself)) return of_pointer(*given->getExpr());
  if (itself->getType()->isArrayType()) return of_object(*itself);
  if (!itself->getType()->isPointerType()) return {};
  if (const unsigned space = space_of(itself->getType()->getPointeeType()); space != 0) return in_space(space);
  if (llvm::isa<clang::CXXThisExpr>(itself)) return of_this();
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(itself)) return of_result(*call);
  if (const auto* choice = llvm::dyn_cast<clang::ConditionalOperator>(itself))
    return joined(of_pointer(*choice->getTrueExpr()), of_pointer(*choice->getFalseExpr()));
  if (const auto* operation = llvm::dyn_cast<clang::BinaryOperator>(itself)) {
    const bool is_left = operation->getOpcode() != clang::BO_Comma && operation->getLHS()->getType()->isPointerType();
    return of_pointer(is_left ? *operation->getLHS() : *operation->getRHS());
  }
  if (const auto* operation = llvm::dyn_cast<clang::UnaryOperator>(itself)) {
    if (operation->getOpcode() == clang::UO_AddrOf) return of_object(*operation->getSubExpr());
    if (operation->getOpcode() != clang::UO_Deref) return of_pointer(*operation->getSubExpr());
  }
  const clang::ValueDecl* declaration = declaration_of(*itself);
  if (declaration == nullptr) return {};
  return {{.place = flow_.of(*declaration)}};
}

Sources ObjectSources::of_this() {
  if (method == nullptr || method->isStatic()) return {};
  if (const unsigned space = space_of_object(*method); space != 0) return in_space(space);
  if (lambda != nullptr)
    for (const clang::LambdaCapture& capture : lambda->captures())
      if (capture.getCaptureKind() == clang::LCK_StarThis) return {};
  return {{.place = flow_.object_of(*method)}};
}

/// What a call gives is what the function returns: where that is its object or a parameter, this call's.
Sources ObjectSources::of_result(const clang::CallExpr& call) {
  const clang::FunctionDecl* function = call.getDirectCallee();
  if (function == nullptr || !names_no_space(function->getReturnType())) return {};
  const Place place = flow_.result_of(call);
  if (!results_seen_.insert(place).second) return {{.place = place}};
  Result made{place, function, call.getExprLoc(), {}, {}};
  if (const clang::Expr* object = object_of(call)) made.object = of_either(*object);
  for (unsigned i = objects_among_arguments(call); i < call.getNumArgs(); ++i)
    made.arguments.push_back(of_argument(*call.getArg(i)));
  results_.push_back(std::move(made));
  return {{.place = place}};
}

Sources ObjectSources::of_either(const clang::Expr& expression) {
  return object_itself(&expression)->getType()->isPointerType() ? of_pointer(expression) : of_object(expression);
}

/// A lambda has a copy of it.
bool ObjectSources::is_copied(const clang::ValueDecl& declaration) const {
  if (lambda == nullptr) return false;
  for (const clang::LambdaCapture& capture : lambda->captures())
    if (capture.getCaptureKind() == clang::LCK_ByCopy && capture.getCapturedVar() == &declaration) return true;
  return false;
}

void ObjectSources::enter(const Sources& from, Place to, clang::SourceLocation at, const clang::CXXMethodDecl* on) {
  for (const Source& one : from)
    if (one.space != 0)
      flow_.enters(one.space, to, at, on);
    else
      flow_.flows(one.place, to);
}

void ObjectSources::returns(const clang::FunctionDecl& function, const clang::Expr& value) {
  const clang::QualType type = function.getReturnType();
  if (!names_no_space(type)) return;
  const Sources from = type->isPointerType() ? of_pointer(value) : of_object(value);
  Sources& known = returned_[function.getCanonicalDecl()];
  known.insert(known.end(), from.begin(), from.end());
}

void ObjectSources::join_results() {
  for (const Result& one : results_) {
    const auto found = returned_.find(one.function->getCanonicalDecl());
    if (found == returned_.end()) continue;
    const auto* of = llvm::dyn_cast<clang::CXXMethodDecl>(one.function);
    for (const Source& from : found->second) {
      if (from.space == 0 && of != nullptr && from.place == flow_.object_of(*of)) {
        enter(one.object, one.place, one.at);
        continue;
      }
      bool is_parameter = false;
      for (unsigned i = 0; i < one.arguments.size() && i < one.function->getNumParams(); ++i)
        if (from.space == 0 && from.place == flow_.parameter_of(*one.function, i)) {
          enter(one.arguments[i], one.place, one.at);
          is_parameter = true;
        }
      if (!is_parameter) enter({from}, one.place, one.at);
    }
  }
}

}  // namespace smelt::aot::msl
