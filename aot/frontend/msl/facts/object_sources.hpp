// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the object is from that an expression names: its space, or the place of the flow (space_flow.hpp) whose objects
// it is one of.
#pragma once

#include "msl/facts/space_flow.hpp"

#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/DenseSet.h"

#include <vector>

namespace smelt::aot::msl {

/// What an expression is a part of: `a` of a.b[i].c, without what changes no address.
const clang::Expr* root_of(const clang::Expr* expression);
/// The object of a call of a method that is no static one; null: no such call.
const clang::Expr* object_of(const clang::CallExpr& call);
/// How many of a call's first arguments are its object: 1 for an operator that is a method, else 0.
unsigned objects_among_arguments(const clang::CallExpr& call);
/// A table of the program scope, or a static member, is in constant memory, although its type does not say it.
bool is_shared(const clang::ValueDecl& declaration);
/// What a pointer is kept in, itself or as an element; null: nothing that has a name.
const clang::ValueDecl* declaration_of(const clang::Expr& pointer);
/// A reference or pointer of which Clang thinks that it leads to the thread's memory.
bool names_no_space(clang::QualType type);

/// In a space, or whatever is in a place.
struct Source {
  unsigned space = 0;
  SpaceFlow::Place place = 0;  ///< if `space` is 0
};
using Sources = std::vector<Source>;

class ObjectSources {
 public:
  explicit ObjectSources(SpaceFlow& flow) : flow_(flow) {}

  /// What the expressions stand in; null: in none.
  const clang::CXXMethodDecl* method = nullptr;  ///< whose `this` they see
  const clang::LambdaExpr* lambda = nullptr;

  Sources of_object(const clang::Expr& object);
  /// Where what a pointer points to is from.
  Sources of_pointer(const clang::Expr& pointer);
  Sources of_either(const clang::Expr& expression);
  /// Bound to a reference or as a pointer.
  Sources of_argument(const clang::Expr& argument) {
    return argument.isGLValue() ? of_object(argument) : of_pointer(argument);
  }

  /// What is from there is bound to the place from now on. `on`: as the object of that method.
  void enter(const Sources& from, SpaceFlow::Place to, clang::SourceLocation at,
             const clang::CXXMethodDecl* on = nullptr);
  /// The function returns that, if its type names no space.
  void returns(const clang::FunctionDecl& function, const clang::Expr& value);
  /// When all returns are known: what each call gives is what its function returns.
  void join_results();

 private:
  Sources of_name(const clang::DeclRefExpr& name);
  Sources of_this();
  Sources of_result(const clang::CallExpr& call);
  bool is_copied(const clang::ValueDecl& declaration) const;

  /// What a call of a function gives.
  struct Result {
    SpaceFlow::Place place;
    const clang::FunctionDecl* function;
    clang::SourceLocation at;
    Sources object;
    std::vector<Sources> arguments;
  };

  SpaceFlow& flow_;
  std::vector<Result> results_;
  llvm::DenseSet<SpaceFlow::Place> results_seen_;
  llvm::DenseMap<const clang::FunctionDecl*, Sources> returned_;
};

}  // namespace smelt::aot::msl
