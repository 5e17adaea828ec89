// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A method without a space takes objects of any space, and so do references and pointers that name none, which is more
// than Metal has. Two things must not come of it: another variant than Metal's (such an error is reported at once), and
// the thread's variant taken for an object that came from elsewhere by way of such a method, parameter, member,
// variable or result: where it came from is followed to its end (space_flow.hpp).
#include "msl/facts/object_spaces.hpp"

#include "msl/facts/object_sources.hpp"
#include "msl/facts/read_facts.hpp"
#include "msl/facts/report.hpp"
#include "msl/facts/space_variants.hpp"
#include "msl/facts/tree_walk.hpp"
#include "msl/syntax/method_spaces.hpp"

#include "clang/AST/ASTContext.h"
#include "clang/AST/ExprCXX.h"
#include "clang/Sema/Sema.h"
#include "llvm/ADT/DenseSet.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace smelt::aot::msl {
namespace {

class ObjectSpaces final : public TreeWalk {
 public:
  explicit ObjectSpaces(clang::Sema& sema) : TreeWalk({.implicit = true}), sema_(sema) {}

  /// Functions of our headers that were made for the user's types, as far as objects reach them.
  void look_at_instantiations() {
    while (!waiting_.empty()) {
      const clang::FunctionDecl* next = waiting_.back();
      waiting_.pop_back();
      walk(const_cast<clang::FunctionDecl*>(next));
    }
  }

  void report_by_way_of_others() {
    from_.join_results();
    join_calls_by_pointer();
    for (const SpaceFlow::Fault& fault : flow_.faults()) report(fault);
  }

 private:
  using Place = SpaceFlow::Place;

  bool enter(clang::Decl* decl) override {
    auto* function = llvm::dyn_cast<clang::FunctionDecl>(decl);
    if (function == nullptr) return into(decl);
    auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(function);
    // `this` in a lambda is the method's that it stands in.
    const bool is_lambda = method != nullptr && method->getParent()->isLambda();
    const clang::FunctionDecl* outer = std::exchange(function_, function);
    const clang::CXXMethodDecl* outer_method = std::exchange(from_.method, is_lambda ? from_.method : method);
    const bool goes_on = into(decl);
    from_.method = outer_method;
    function_ = outer;
    return goes_on;
  }
  bool enter(clang::LambdaExpr* lambda) override {
    const clang::LambdaExpr* outer = std::exchange(from_.lambda, lambda);
    const bool goes_on = into(lambda);
    from_.lambda = outer;
    return goes_on;
  }

  bool visit(clang::Decl* decl) override {
    if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(decl)) look_at_variable(*variable);
    if (const auto* constructor = llvm::dyn_cast<clang::CXXConstructorDecl>(decl)) look_at_constructor(*constructor);
    return true;
  }
  bool visit(clang::Stmt* statement) override {
    if (const auto* call = llvm::dyn_cast<clang::CallExpr>(statement)) look_at_call(*call);
    if (const auto* construct = llvm::dyn_cast<clang::CXXConstructExpr>(statement)) look_at_construct(*construct);
    if (const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(statement)) look_at_name(*name);
    if (const auto* list = llvm::dyn_cast<clang::InitListExpr>(statement)) look_at_list(*list);
    if (const auto* operation = llvm::dyn_cast<clang::BinaryOperator>(statement)) look_at_assignment(*operation);
    const auto* end = llvm::dyn_cast<clang::ReturnStmt>(statement);
    if (end != nullptr && end->getRetValue() != nullptr && function_ != nullptr)
      from_.returns(*function_, *end->getRetValue());
    return true;
  }

  void look_at_call(const clang::CallExpr& call) {
    const clang::FunctionDecl* function = call.getDirectCallee();
    if (function == nullptr) {
      note_call_by_pointer(call);
      return;
    }
    callees_.insert(call.getCallee()->IgnoreParenImpCasts());
    want(*function);
    if (const clang::Expr* object = object_of(call))
      look_at(*llvm::cast<clang::CXXMethodDecl>(function), *object, call.getExprLoc());
    for (unsigned i = objects_among_arguments(call);
         i < call.getNumArgs() && i - objects_among_arguments(call) < function->getNumParams(); ++i)
      hand_over(*function, i - objects_among_arguments(call), from_.of_argument(*call.getArg(i)), *call.getArg(i));
  }
  void look_at_construct(const clang::CXXConstructExpr& construct) {
    const clang::CXXConstructorDecl& function = *construct.getConstructor();
    want(function);
    for (unsigned i = 0; i < construct.getNumArgs() && i < function.getNumParams(); ++i)
      hand_over(function, i, from_.of_argument(*construct.getArg(i)), *construct.getArg(i));
  }
  void look_at_name(const clang::DeclRefExpr& name) {
    const auto* function = llvm::dyn_cast<clang::FunctionDecl>(name.getDecl());
    if (function != nullptr && callees_.count(&name) == 0) pointed_to_.push_back(function);
  }
  void look_at_variable(const clang::VarDecl& variable) {
    const clang::Expr* init = variable.getInit();
    if (init == nullptr || llvm::isa<clang::ParmVarDecl>(&variable) || init->isTypeDependent()) return;
    bind(variable, *init);
    const unsigned space = is_shared(variable) ? 2 : space_of(variable.getType());
    // Nothing is made in threadgroup memory: it has no initial value.
    if (space == 2) look_at_made(init, {.space = space}, variable.getLocation());
  }
  void look_at_constructor(const clang::CXXConstructorDecl& constructor) {
    if (constructor.isDependentContext()) return;
    Source where = {.space = space_of_object(constructor)};
    if (where.space == 0) where.place = flow_.object_of(constructor);
    for (const clang::CXXCtorInitializer* one : constructor.inits()) {
      if (one->getInit() == nullptr) continue;
      if (one->isAnyMemberInitializer()) bind(*one->getAnyMember(), *one->getInit());
      look_at_made(one->getInit(), where, one->isWritten() ? one->getSourceLocation() : constructor.getLocation());
    }
  }
  void look_at_list(const clang::InitListExpr& list) {
    const clang::CXXRecordDecl* type = list.getType()->getAsCXXRecordDecl();
    if (type == nullptr || type->isUnion() || !list.isSemanticForm()) return;
    unsigned at = type->getNumBases();
    for (const clang::FieldDecl* field : type->fields()) {
      if (field->isUnnamedBitField()) continue;
      if (at >= list.getNumInits()) break;
      // Null where the source has an error there.
      if (const clang::Expr* init = list.getInit(at++); init != nullptr) bind(*field, *init);
    }
  }
  void look_at_assignment(const clang::BinaryOperator& operation) {
    if (operation.getOpcode() != clang::BO_Assign || !operation.getType()->isPointerType()) return;
    if (const clang::ValueDecl* to = declaration_of(*operation.getLHS()))
      from_.enter(from_.of_pointer(*operation.getRHS()), flow_.of(*to), operation.getExprLoc());
  }

  template <class... Args>
  void error(clang::SourceLocation at, fmt::format_string<Args...> format, Args&&... args) {
    report_error(sema_, at, fmt::format(format, std::forward<Args>(args)...));
  }

  bool is_ours(clang::SourceLocation at) const { return sema_.getSourceManager().isInSystemHeader(at); }

  // ---- Where objects go ----

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
    from_.enter(type->isPointerType() ? from_.of_pointer(*value) : from_.of_object(*value), flow_.of(to),
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
    from_.enter(from, flow_.parameter_of(function, index), argument.getExprLoc());
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
          function.getNameAsString(), space_word(space));
  }

  void note_call_by_pointer(const clang::CallExpr& call) {
    const auto* type = call.getCallee()->getType()->getAs<clang::PointerType>();
    const auto* function = type != nullptr ? type->getPointeeType()->getAs<clang::FunctionProtoType>() : nullptr;
    if (function == nullptr) return;
    ByPointer made{&call, function->getCanonicalTypeUnqualified(), {}};
    for (const clang::Expr* argument : call.arguments()) made.arguments.push_back(from_.of_argument(*argument));
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

  void look_at(const clang::CXXMethodDecl& method, const clang::Expr& object, clang::SourceLocation at) {
    if (object.isTypeDependent() || method.getParent()->isLambda()) return;
    if (is_captured_copy(object) && (names_space(method) || is_for_thread(method)))
      return error(at,
                   "'{}' of an object that a lambda captured by copy: the copy is in 'thread' memory, and has the type "
                   "of its original; copy it to a variable first",
                   method.getNameAsString());
    if (method.getMethodQualifiers().hasAddressSpace()) return;
    const Sources from = from_.of_either(object);
    if (!is_for_thread(method)) {
      from_.enter(from, flow_.object_of(method), at, &method);
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
          method.getNameAsString(), space_word(space));
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
    from_.enter({where}, flow_.object_of(taken), at);
  }

  void error_of_maker(clang::SourceLocation at, const clang::FunctionDecl& taken, unsigned space) {
    error(at,
          "'{}' has a constructor of its own for '{}' memory, and what is made as a part of an object there is made by "
          "the one for 'thread' memory, which does something else",
          taken.getNameAsString(), space_word(space));
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
          fault.use.of_object ? " of its object" : "", space_word(space));
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
    if (from_.lambda == nullptr) return false;
    const clang::Expr* root = root_of(&object);
    const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(root);
    for (const clang::LambdaCapture& capture : from_.lambda->captures()) {
      if (capture.getCaptureKind() == clang::LCK_StarThis && llvm::isa<clang::CXXThisExpr>(root))
        return space_of(root->getType()->getPointeeType()) != 0;
      if (name != nullptr && capture.getCaptureKind() == clang::LCK_ByCopy &&
          capture.getCapturedVar() == name->getDecl())
        return space_of(name->getType()) != 0;
    }
    return false;
  }

  struct ByPointer {
    const clang::CallExpr* call;
    clang::CanQualType type;
    std::vector<Sources> arguments;
  };

  clang::Sema& sema_;
  const clang::FunctionDecl* function_ = nullptr;
  llvm::DenseMap<const clang::CXXMethodDecl*, bool> for_thread_;
  SpaceFlow flow_;
  ObjectSources from_{flow_};
  std::vector<ByPointer> by_pointer_;
  llvm::DenseSet<const clang::Expr*> callees_;
  std::vector<const clang::FunctionDecl*> pointed_to_, waiting_;
  llvm::DenseSet<const clang::FunctionDecl*> wanted_;
};

}  // namespace

void check_object_spaces(clang::Sema& sema) {
  ObjectSpaces checker(sema);
  checker.walk(sema.getASTContext());
  checker.look_at_instantiations();
  checker.report_by_way_of_others();
}

}  // namespace smelt::aot::msl
