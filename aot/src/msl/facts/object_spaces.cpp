// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A method without a space takes objects of any space, and so do references and pointers that name none, which is more
// than Metal has. Two things must not come of it: another variant than Metal's (such an error is reported at once), and
// the thread's variant taken for an object that came from elsewhere by way of such a method, parameter, member,
// variable or result: where it came from is followed to its end (space_flow.hpp).
#include "msl/facts/object_spaces.hpp"

#include "msl/facts/read_facts.hpp"
#include "msl/facts/same_meaning.hpp"
#include "msl/facts/space_flow.hpp"
#include "msl/syntax/method_spaces.hpp"

#include "clang/AST/ASTContext.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Sema/Sema.h"
#include "llvm/ADT/DenseSet.h"

#include <fmt/format.h>

#include <utility>
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

/// A table of the program scope, or a static member, is in constant memory, although its type does not say it.
bool is_shared(const clang::ValueDecl& declaration) {
  const auto* variable = llvm::dyn_cast<clang::VarDecl>(&declaration);
  return variable != nullptr && variable->hasGlobalStorage() && !variable->isStaticLocal() &&
         !variable->getType()->isReferenceType();
}

/// The object of a call of a method that is no static one; null: no such call.
const clang::Expr* object_of(const clang::CallExpr& call) {
  const auto* method = llvm::dyn_cast_or_null<clang::CXXMethodDecl>(call.getDirectCallee());
  if (method == nullptr || method->isStatic()) return nullptr;
  if (const auto* named = llvm::dyn_cast<clang::CXXMemberCallExpr>(&call)) return named->getImplicitObjectArgument();
  return llvm::isa<clang::CXXOperatorCallExpr>(call) ? call.getArg(0) : nullptr;
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
    const auto space_of_method = [](const clang::CXXMethodDecl& some) {
      return space_of(some.getASTContext().getAddrSpaceQualType(some.getASTContext().IntTy,
                                                                some.getMethodQualifiers().getAddressSpace()));
    };
    const unsigned wanted = parameter < 0 ? space : (mine != nullptr ? space_of_method(*mine) : 0);
    if (method == nullptr || method->isStatic() || space_of_method(*method) == wanted) return other;
  }
  return nullptr;
}

/// The spaces whose objects want another variant than `taken`: for their object, or for what they take as a parameter.
constexpr int kOwnObject = -1;
uint8_t wrong_spaces(const clang::FunctionDecl& taken, int parameter) {
  uint8_t wrong = 0;
  for (unsigned space = 1; space < 4; ++space) {
    const clang::FunctionDecl* right = variant_for(taken, space, parameter);
    if (right == nullptr || !mean_the_same(taken, *right)) wrong |= static_cast<uint8_t>(1 << space);
  }
  return wrong;
}

/// Those in which a constructor of the same parameters would make something else.
uint8_t made_otherwise(const clang::CXXConstructorDecl& taken) {
  uint8_t wrong = 0;
  for (unsigned space = 1; space < 4; ++space) {
    const clang::FunctionDecl* right = variant_for(taken, space, kOwnObject);
    if (right != nullptr && !mean_the_same(taken, *right)) wrong |= static_cast<uint8_t>(1 << space);
  }
  return wrong;
}

class ObjectSpaces : public clang::RecursiveASTVisitor<ObjectSpaces> {
 public:
  explicit ObjectSpaces(clang::Sema& sema) : sema_(sema) {}

  bool shouldVisitTemplateInstantiations() const { return true; }
  bool shouldVisitImplicitCode() const { return true; }

  bool TraverseDecl(clang::Decl* decl) {
    auto* function = llvm::dyn_cast_or_null<clang::FunctionDecl>(decl);
    if (function == nullptr) return RecursiveASTVisitor::TraverseDecl(decl);
    auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(function);
    // `this` in a lambda is the method's that it stands in.
    const bool is_lambda = method != nullptr && method->getParent()->isLambda();
    const clang::FunctionDecl* outer = std::exchange(function_, function);
    const clang::CXXMethodDecl* outer_method = std::exchange(inside_, is_lambda ? inside_ : method);
    const bool goes_on = RecursiveASTVisitor::TraverseDecl(decl);
    inside_ = outer_method;
    function_ = outer;
    return goes_on;
  }
  bool TraverseLambdaExpr(clang::LambdaExpr* lambda) {
    const clang::LambdaExpr* outer = std::exchange(lambda_, lambda);
    const bool goes_on = RecursiveASTVisitor::TraverseLambdaExpr(lambda);
    lambda_ = outer;
    return goes_on;
  }

  bool VisitCallExpr(clang::CallExpr* call) {
    const clang::FunctionDecl* function = call->getDirectCallee();
    if (function == nullptr) {
      note_call_by_pointer(*call);
      return true;
    }
    callees_.insert(call->getCallee()->IgnoreParenImpCasts());
    want(*function);
    if (const clang::Expr* object = object_of(*call))
      look_at(*llvm::cast<clang::CXXMethodDecl>(function), *object, call->getExprLoc());
    for (unsigned i = skipped(*call); i < call->getNumArgs() && i - skipped(*call) < function->getNumParams(); ++i)
      hand_over(*function, i - skipped(*call), sources_of_argument(*call->getArg(i)), *call->getArg(i));
    return true;
  }
  bool VisitCXXConstructExpr(clang::CXXConstructExpr* construct) {
    const clang::CXXConstructorDecl& function = *construct->getConstructor();
    want(function);
    for (unsigned i = 0; i < construct->getNumArgs() && i < function.getNumParams(); ++i)
      hand_over(function, i, sources_of_argument(*construct->getArg(i)), *construct->getArg(i));
    return true;
  }
  bool VisitDeclRefExpr(clang::DeclRefExpr* name) {
    const auto* function = llvm::dyn_cast<clang::FunctionDecl>(name->getDecl());
    if (function != nullptr && callees_.count(name) == 0) pointed_to_.push_back(function);
    return true;
  }
  bool VisitVarDecl(clang::VarDecl* variable) {
    const clang::Expr* init = variable->getInit();
    if (init == nullptr || llvm::isa<clang::ParmVarDecl>(variable) || init->isTypeDependent()) return true;
    bind(*variable, *init);
    const unsigned space = is_shared(*variable) ? 2 : space_of(variable->getType());
    // Nothing is made in threadgroup memory: it has no initial value.
    if (space == 2) look_at_made(init, {.space = space}, variable->getLocation());
    return true;
  }
  bool VisitCXXConstructorDecl(clang::CXXConstructorDecl* constructor) {
    if (constructor->isDependentContext()) return true;
    Source where = {.space = space_of_object(*constructor)};
    if (where.space == 0) where.place = flow_.object_of(*constructor);
    for (const clang::CXXCtorInitializer* one : constructor->inits()) {
      if (one->getInit() == nullptr) continue;
      if (one->isAnyMemberInitializer()) bind(*one->getAnyMember(), *one->getInit());
      look_at_made(one->getInit(), where, one->isWritten() ? one->getSourceLocation() : constructor->getLocation());
    }
    return true;
  }
  bool VisitInitListExpr(clang::InitListExpr* list) {
    const clang::CXXRecordDecl* type = list->getType()->getAsCXXRecordDecl();
    if (type == nullptr || type->isUnion() || !list->isSemanticForm()) return true;
    unsigned at = type->getNumBases();
    for (const clang::FieldDecl* field : type->fields()) {
      if (field->isUnnamedBitField()) continue;
      if (at >= list->getNumInits()) break;
      // Null where the source has an error there.
      if (const clang::Expr* init = list->getInit(at++); init != nullptr) bind(*field, *init);
    }
    return true;
  }
  bool VisitBinaryOperator(clang::BinaryOperator* operation) {
    if (operation->getOpcode() != clang::BO_Assign || !operation->getType()->isPointerType()) return true;
    if (const clang::ValueDecl* to = declaration_of(*operation->getLHS()))
      enter(sources_of_pointer(*operation->getRHS()), flow_.of(*to), operation->getExprLoc());
    return true;
  }
  bool VisitReturnStmt(clang::ReturnStmt* statement) {
    const clang::Expr* value = statement->getRetValue();
    if (value == nullptr || function_ == nullptr || !names_no_space(function_->getReturnType())) return true;
    const Sources from =
        function_->getReturnType()->isPointerType() ? sources_of_pointer(*value) : sources_of_object(*value);
    Sources& known = returned_[function_->getCanonicalDecl()];
    known.insert(known.end(), from.begin(), from.end());
    return true;
  }

  /// Functions of our headers that were made for the user's types, as far as objects reach them.
  void look_at_instantiations() {
    while (!waiting_.empty()) {
      const clang::FunctionDecl* next = waiting_.back();
      waiting_.pop_back();
      TraverseDecl(const_cast<clang::FunctionDecl*>(next));
    }
  }

  void report_by_way_of_others() {
    join_results();
    join_calls_by_pointer();
    for (const SpaceFlow::Fault& fault : flow_.faults()) report(fault);
  }

 private:
  using Place = SpaceFlow::Place;
  /// Where an object is from: in a space, or whatever is in a place.
  struct Source {
    unsigned space = 0;
    Place place = 0;  ///< if `space` is 0
  };
  using Sources = std::vector<Source>;

  template <class... Args>
  void error(clang::SourceLocation at, fmt::format_string<Args...> format, Args&&... args) {
    clang::DiagnosticsEngine& engine = sema_.getDiagnostics();
    engine.Report(at, engine.getCustomDiagID(clang::DiagnosticsEngine::Error, "%0"))
        << fmt::format(format, std::forward<Args>(args)...);
  }

  bool is_ours(clang::SourceLocation at) const { return sema_.getSourceManager().isInSystemHeader(at); }

  static unsigned space_of_object(const clang::CXXMethodDecl& method) {
    const clang::ASTContext& context = method.getASTContext();
    return space_of(context.getAddrSpaceQualType(context.IntTy, method.getMethodQualifiers().getAddressSpace()));
  }

  /// The first arguments of an operator that is a method is its object.
  static unsigned skipped(const clang::CallExpr& call) {
    return llvm::isa<clang::CXXOperatorCallExpr>(call) && object_of(call) != nullptr ? 1 : 0;
  }

  /// A reference or pointer of which Clang thinks that it leads to the thread's memory.
  static bool names_no_space(clang::QualType type) {
    if (!type->isReferenceType() && !type->isPointerType()) return false;
    const clang::QualType pointee = type->getPointeeType();
    return !pointee->isDependentType() && !pointee->isFunctionType() && space_of(pointee) == 0;
  }

  // ---- Where objects are from ----

  Sources sources_of_object(const clang::Expr& object) {
    const clang::Expr* itself = object_itself(&object);
    if (itself->isTypeDependent()) return {};
    if (const auto* given = llvm::dyn_cast<clang::CXXDefaultArgExpr>(itself))
      return sources_of_object(*given->getExpr());
    // What the copy of an array copies, element by element.
    if (const auto* whole = llvm::dyn_cast<clang::OpaqueValueExpr>(itself))
      return whole->getSourceExpr() != nullptr ? sources_of_object(*whole->getSourceExpr()) : Sources{};
    if (const auto* temporary = llvm::dyn_cast<clang::MaterializeTemporaryExpr>(itself))
      itself = temporary->getSubExpr()->IgnoreUnlessSpelledInSource();
    if (const auto* choice = llvm::dyn_cast<clang::ConditionalOperator>(itself)) {
      if (!choice->isGLValue()) return in_space(space_of_arms(*choice));
      return joined(sources_of_object(*choice->getTrueExpr()), sources_of_object(*choice->getFalseExpr()));
    }
    if (!itself->isGLValue()) return {};
    if (const unsigned space = space_of(itself->getType()); space != 0) return in_space(space);
    const clang::Expr* root = root_of(itself);
    if (root != itself) return root->getType()->isPointerType() ? sources_of_pointer(*root) : sources_of_object(*root);
    if (const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(itself)) return sources_of_name(*name);
    if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(itself))
      return is_shared(*member->getMemberDecl()) ? in_space(2) : Sources{{.place = flow_.of(*member->getMemberDecl())}};
    if (const auto* element = llvm::dyn_cast<clang::ArraySubscriptExpr>(itself))
      return sources_of_pointer(*element->getBase());
    if (const auto* call = llvm::dyn_cast<clang::CallExpr>(itself)) return sources_of_result(*call);
    if (const auto* operation = llvm::dyn_cast<clang::UnaryOperator>(itself))
      return operation->getOpcode() == clang::UO_Deref ? sources_of_pointer(*operation->getSubExpr())
                                                       : sources_of_object(*operation->getSubExpr());
    if (const auto* operation = llvm::dyn_cast<clang::BinaryOperator>(itself))
      return sources_of_object(operation->isAssignmentOp() ? *operation->getLHS() : *operation->getRHS());
    return {};
  }

  Sources sources_of_name(const clang::DeclRefExpr& name) {
    const clang::ValueDecl& declaration = *name.getDecl();
    if (const auto* binding = llvm::dyn_cast<clang::BindingDecl>(&declaration))
      return binding->getBinding() != nullptr ? sources_of_object(*binding->getBinding()) : Sources{};
    if (is_shared(declaration)) return in_space(2);
    if (!declaration.getType()->isReferenceType() || is_copied(declaration)) return {};
    return {{.place = flow_.of(declaration)}};
  }

  /// Where what a pointer points to is from.
  Sources sources_of_pointer(const clang::Expr& pointer) {
    const clang::Expr* itself = pointer.IgnoreParenCasts();
    if (itself->isTypeDependent()) return {};
    if (const auto* given = llvm::dyn_cast<clang::CXXDefaultArgExpr>(itself))
      return sources_of_pointer(*given->getExpr());
    if (itself->getType()->isArrayType()) return sources_of_object(*itself);
    if (!itself->getType()->isPointerType()) return {};
    if (const unsigned space = space_of(itself->getType()->getPointeeType()); space != 0) return in_space(space);
    if (llvm::isa<clang::CXXThisExpr>(itself)) return sources_of_this();
    if (const auto* call = llvm::dyn_cast<clang::CallExpr>(itself)) return sources_of_result(*call);
    if (const auto* choice = llvm::dyn_cast<clang::ConditionalOperator>(itself))
      return joined(sources_of_pointer(*choice->getTrueExpr()), sources_of_pointer(*choice->getFalseExpr()));
    if (const auto* operation = llvm::dyn_cast<clang::BinaryOperator>(itself)) {
      const bool is_left = operation->getOpcode() != clang::BO_Comma && operation->getLHS()->getType()->isPointerType();
      return sources_of_pointer(is_left ? *operation->getLHS() : *operation->getRHS());
    }
    if (const auto* operation = llvm::dyn_cast<clang::UnaryOperator>(itself)) {
      if (operation->getOpcode() == clang::UO_AddrOf) return sources_of_object(*operation->getSubExpr());
      if (operation->getOpcode() != clang::UO_Deref) return sources_of_pointer(*operation->getSubExpr());
    }
    const clang::ValueDecl* declaration = declaration_of(*itself);
    if (declaration == nullptr) return {};
    return {{.place = flow_.of(*declaration)}};
  }

  /// What a pointer is kept in, itself or as an element.
  static const clang::ValueDecl* declaration_of(const clang::Expr& pointer) {
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

  Sources sources_of_this() {
    if (inside_ == nullptr || inside_->isStatic()) return {};
    if (const unsigned space = space_of_object(*inside_); space != 0) return in_space(space);
    if (lambda_ != nullptr)
      for (const clang::LambdaCapture& capture : lambda_->captures())
        if (capture.getCaptureKind() == clang::LCK_StarThis) return {};
    return {{.place = flow_.object_of(*inside_)}};
  }

  /// What a call gives is what the function returns: where that is its object or a parameter, this call's.
  Sources sources_of_result(const clang::CallExpr& call) {
    const clang::FunctionDecl* function = call.getDirectCallee();
    if (function == nullptr || !names_no_space(function->getReturnType())) return {};
    const Place place = flow_.result_of(call);
    if (!results_seen_.insert(place).second) return {{.place = place}};
    Result made{place, function, call.getExprLoc(), {}, {}};
    if (const clang::Expr* object = object_of(call)) made.object = sources_of_either(*object);
    for (unsigned i = skipped(call); i < call.getNumArgs(); ++i)
      made.arguments.push_back(sources_of_argument(*call.getArg(i)));
    results_.push_back(std::move(made));
    return {{.place = place}};
  }

  Sources sources_of_either(const clang::Expr& expression) {
    return object_itself(&expression)->getType()->isPointerType() ? sources_of_pointer(expression)
                                                                  : sources_of_object(expression);
  }
  /// Bound to a reference or as a pointer.
  Sources sources_of_argument(const clang::Expr& argument) {
    return argument.isGLValue() ? sources_of_object(argument) : sources_of_pointer(argument);
  }

  static Sources in_space(unsigned space) { return space == 0 ? Sources{} : Sources{{.space = space}}; }
  static Sources joined(Sources left, const Sources& right) {
    left.insert(left.end(), right.begin(), right.end());
    return left;
  }

  /// A lambda has a copy of it.
  bool is_copied(const clang::ValueDecl& declaration) const {
    if (lambda_ == nullptr) return false;
    for (const clang::LambdaCapture& capture : lambda_->captures())
      if (capture.getCaptureKind() == clang::LCK_ByCopy && capture.getCapturedVar() == &declaration) return true;
    return false;
  }

  // ---- Where they go ----

  void enter(const Sources& from, Place to, clang::SourceLocation at, const clang::CXXMethodDecl* method = nullptr) {
    for (const Source& one : from)
      if (one.space != 0)
        flow_.enters(one.space, to, at, method);
      else
        flow_.flows(one.place, to);
  }

  void bind(const clang::ValueDecl& to, const clang::Expr& init) {
    const clang::Expr* value = &init;
    if (const auto* given = llvm::dyn_cast<clang::CXXDefaultInitExpr>(value)) value = given->getExpr();
    if (const auto* list = llvm::dyn_cast<clang::InitListExpr>(value)) {
      if (to.getType()->isArrayType() || list->getNumInits() == 1)
        for (const clang::Expr* one : list->inits())
          if (one != nullptr) bind(to, *one);
      return;
    }
    const clang::QualType type =
        to.getType()->isArrayType() ? sema_.getASTContext().getBaseElementType(to.getType()) : to.getType();
    if (!names_no_space(type)) return;
    enter(type->isPointerType() ? sources_of_pointer(*value) : sources_of_object(*value), flow_.of(to),
          value->getExprLoc());
  }

  void hand_over(const clang::FunctionDecl& function, unsigned index, const Sources& from,
                 const clang::Expr& argument) {
    const clang::QualType type = function.getParamDecl(index)->getType();
    if (from.empty() || !names_no_space(type)) return;
    if (!is_ours(function.getLocation()) && !function.isImplicit() && has_other_spaces(function, index)) {
      const SpaceUse use{&function, false, wrong_spaces(function, static_cast<int>(index))};
      for (const Source& one : from)
        if (one.space == 0)
          flow_.uses(one.place, use);
        else if ((use.wrong_spaces >> one.space & 1) != 0 && !is_copy_of_scalar(type))
          error_of_argument(argument.getExprLoc(), function, one.space);
    }
    enter(from, flow_.parameter_of(function, index), argument.getExprLoc());
  }

  /// A reference to a constant number may be one to a copy.
  static bool is_copy_of_scalar(clang::QualType type) {
    return type->isReferenceType() && type->getPointeeType().isConstQualified() &&
           !type->getPointeeType()->isRecordType();
  }

  void error_of_argument(clang::SourceLocation at, const clang::FunctionDecl& function, unsigned space) {
    error(at,
          "no matching function for call to '{}': the one that fits the arguments takes a reference to 'thread' "
          "memory, and this object is in '{}'",
          function.getNameAsString(), word_of(space));
  }

  void note_call_by_pointer(const clang::CallExpr& call) {
    const auto* type = call.getCallee()->getType()->getAs<clang::PointerType>();
    const auto* function = type != nullptr ? type->getPointeeType()->getAs<clang::FunctionProtoType>() : nullptr;
    if (function == nullptr) return;
    ByPointer made{&call, function->getCanonicalTypeUnqualified(), {}};
    for (const clang::Expr* argument : call.arguments()) made.arguments.push_back(sources_of_argument(*argument));
    by_pointer_.push_back(std::move(made));
  }

  void join_calls_by_pointer() {
    for (const ByPointer& one : by_pointer_)
      for (const clang::FunctionDecl* function : pointed_to_) {
        if (function->getType()->getCanonicalTypeUnqualified() != one.type) continue;
        for (unsigned i = 0; i < one.arguments.size() && i < function->getNumParams(); ++i)
          hand_over(*function, i, one.arguments[i], *one.call->getArg(i));
      }
  }

  void join_results() {
    for (const Result& one : results_) {
      const auto found = returned_.find(one.function->getCanonicalDecl());
      if (found == returned_.end()) continue;
      const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(one.function);
      for (const Source& from : found->second) {
        if (from.space == 0 && method != nullptr && from.place == flow_.object_of(*method)) {
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

  void look_at(const clang::CXXMethodDecl& method, const clang::Expr& object, clang::SourceLocation at) {
    if (object.isTypeDependent() || method.getParent()->isLambda()) return;
    if (is_captured_copy(object) && (names_space(method) || is_for_thread(method)))
      return error(at,
                   "'{}' of an object that a lambda captured by copy: the copy is in 'thread' memory, and has the type "
                   "of its original; copy it to a variable first",
                   method.getNameAsString());
    if (method.getMethodQualifiers().hasAddressSpace()) return;
    const Sources from = sources_of_either(object);
    if (!is_for_thread(method)) {
      enter(from, flow_.object_of(method), at, &method);
      return;
    }
    for (const Source& one : from) {
      if (one.space != 0) {
        error_of_object(at, method, one.space);
        continue;
      }
      flow_.uses(one.place, {&method, true, wrong_spaces(method, kOwnObject)});
      flow_.flows(one.place, flow_.object_of(method));
    }
  }

  void error_of_object(clang::SourceLocation at, const clang::FunctionDecl& method, unsigned space) {
    error(at,
          "no matching member function for call to '{}': the one that fits the arguments takes an object in "
          "'thread' memory, and this one is in '{}'",
          method.getNameAsString(), word_of(space));
  }

  /// What makes an object makes its members and bases where the object lies, and Clang takes the thread's constructors
  /// for them.
  void look_at_made(const clang::Expr* init, Source where, clang::SourceLocation at) {
    if (init == nullptr || init->isTypeDependent()) return;
    if (const auto* whole = llvm::dyn_cast<clang::FullExpr>(init)) return look_at_made(whole->getSubExpr(), where, at);
    if (const auto* given = llvm::dyn_cast<clang::CXXDefaultInitExpr>(init))
      return look_at_made(given->getExpr(), where, at);
    if (const auto* bound = llvm::dyn_cast<clang::CXXBindTemporaryExpr>(init))
      return look_at_made(bound->getSubExpr(), where, at);
    if (const auto* cast = llvm::dyn_cast<clang::ImplicitCastExpr>(init); cast != nullptr && !init->isGLValue())
      return look_at_made(cast->getSubExpr(), where, at);
    if (const auto* list = llvm::dyn_cast<clang::InitListExpr>(init)) {
      for (const clang::Expr* one : list->inits()) look_at_made(one, where, at);
      if (list->getType()->isArrayType()) look_at_made(list->getArrayFiller(), where, at);
      return;
    }
    const auto* construct = llvm::dyn_cast<clang::CXXConstructExpr>(init);
    // `T(x)` is written as a temporary of the thread.
    if (construct == nullptr || llvm::isa<clang::CXXTemporaryObjectExpr>(construct)) return;
    const clang::CXXConstructorDecl& taken = *construct->getConstructor();
    if (taken.getMethodQualifiers().hasAddressSpace()) return;
    const SpaceUse use{&taken, true, is_ours(taken.getLocation()) ? uint8_t{0} : made_otherwise(taken)};
    if (where.space != 0 && (use.wrong_spaces >> where.space & 1) != 0) return error_of_maker(at, taken, where.space);
    if (where.space == 0 && use.wrong_spaces != 0) flow_.uses(where.place, use);
    enter({where}, flow_.object_of(taken), at);
  }

  void error_of_maker(clang::SourceLocation at, const clang::FunctionDecl& taken, unsigned space) {
    error(at,
          "'{}' has a constructor of its own for '{}' memory, and what is made as a part of an object there is made by "
          "the one for 'thread' memory, which does something else",
          taken.getNameAsString(), word_of(space));
  }

  void report(const SpaceFlow::Fault& fault) {
    const auto& [space, place, at, method] = fault.entry;
    const std::string name = fault.use.taken->getNameAsString();
    if (fault.use.of_object && llvm::isa<clang::CXXConstructorDecl>(fault.use.taken))
      return error_of_maker(at, *fault.use.taken, space);
    if (method != nullptr)
      return error(
          at,
          "'{}' names no address space and {} '{}'{}, which has variants for spaces; so it cannot be called on "
          "an object in '{}' memory",
          method->getNameAsString(), fault.use.of_object ? "calls" : "hands its object to", name,
          fault.use.of_object ? " of its object" : "", word_of(space));
    if (fault.use.of_object) return error_of_object(at, *fault.use.taken, space);
    error_of_argument(at, *fault.use.taken, space);
  }

  /// What our headers make for the user's types is looked at where the user's code comes to it.
  void want(const clang::FunctionDecl& function) {
    if (function.isFromASTFile() || !is_ours(function.getLocation()) || wanted_.contains(function.getCanonicalDecl()))
      return;
    const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(&function);
    const bool takes_users =
        (method != nullptr && !method->isStatic() && has_users_class(method->getFunctionObjectParameterType())) ||
        llvm::any_of(function.parameters(), [&](const clang::ParmVarDecl* one) {
          const clang::QualType type = one->getType();
          return has_users_class(type->isReferenceType() || type->isPointerType() ? type->getPointeeType() : type);
        });
    wanted_.insert(function.getCanonicalDecl());
    const clang::FunctionDecl* body = nullptr;
    if (takes_users && function.hasBody(body)) waiting_.push_back(body);
  }

  bool has_users_class(clang::QualType type) const {
    const clang::CXXRecordDecl* record = type->getBaseElementTypeUnsafe()->getAsCXXRecordDecl();
    if (record == nullptr) return false;
    if (!is_ours(record->getLocation())) return true;
    const auto* made = llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(record);
    return made != nullptr && llvm::any_of(made->getTemplateArgs().asArray(), [&](const clang::TemplateArgument& one) {
             return one.getKind() == clang::TemplateArgument::Type && has_users_class(one.getAsType());
           });
  }

  /// For objects of the thread alone. The variants of our own headers all mean the same.
  bool is_for_thread(const clang::CXXMethodDecl& method) {
    if (method.getMethodQualifiers().hasAddressSpace()) return false;
    if (is_ours(method.getLocation())) return false;
    if (names_space(method)) return true;
    // What the class has without having said it is for any space, whatever else it has of the name.
    if (method.isImplicit()) return false;
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

  /// What a call of a function gives.
  struct Result {
    Place place;
    const clang::FunctionDecl* function;
    clang::SourceLocation at;
    Sources object;
    std::vector<Sources> arguments;
  };
  struct ByPointer {
    const clang::CallExpr* call;
    clang::CanQualType type;
    std::vector<Sources> arguments;
  };

  clang::Sema& sema_;
  const clang::FunctionDecl* function_ = nullptr;
  const clang::CXXMethodDecl* inside_ = nullptr;
  const clang::LambdaExpr* lambda_ = nullptr;
  llvm::DenseMap<const clang::CXXMethodDecl*, bool> for_thread_;
  SpaceFlow flow_;
  std::vector<Result> results_;
  llvm::DenseSet<Place> results_seen_;
  llvm::DenseMap<const clang::FunctionDecl*, Sources> returned_;
  std::vector<ByPointer> by_pointer_;
  llvm::DenseSet<const clang::Expr*> callees_;
  std::vector<const clang::FunctionDecl*> pointed_to_, waiting_;
  llvm::DenseSet<const clang::FunctionDecl*> wanted_;
};

}  // namespace

void check_object_spaces(clang::Sema& sema) {
  ObjectSpaces checker(sema);
  for (clang::Decl* decl : sema.getASTContext().getTranslationUnitDecl()->noload_decls())
    if (!decl->isFromASTFile()) checker.TraverseDecl(decl);
  checker.look_at_instantiations();
  checker.report_by_way_of_others();
}

}  // namespace smelt::aot::msl
