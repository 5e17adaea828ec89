// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A walk over Clang's tree, which also visits what templates were instantiated to. tree_walk.cpp alone instantiates
// Clang's RecursiveASTVisitor: each class derived from that takes ten seconds to compile.
#pragma once

namespace clang {
class ASTContext;
class Decl;
class LambdaExpr;
class Stmt;
}  // namespace clang

namespace smelt::aot::msl {

class TreeWalk {
 public:
  struct Options {
    bool implicit = false;   ///< also what Clang wrote itself: defaulted members, ranges' variables
    bool statements = true;  ///< false: declarations alone, and none in bodies
  };
  TreeWalk() = default;
  explicit TreeWalk(Options options) : options_(options) {}
  TreeWalk(const TreeWalk&) = delete;
  TreeWalk& operator=(const TreeWalk&) = delete;

  /// False: a visit ended the walk.
  bool walk(clang::Decl* decl);
  bool walk(clang::Stmt* statement);
  /// Each declaration of the source; those of the precompiled headers are left out.
  void walk(const clang::ASTContext& context);

 protected:
  ~TreeWalk() = default;
  /// Each node, before what is in it. False ends the walk.
  virtual bool visit(clang::Decl*) { return true; }
  virtual bool visit(clang::Stmt*) { return true; }
  /// Override these to do something before and after what is in the node: `into` visits it and goes on.
  virtual bool enter(clang::Decl* decl) { return into(decl); }
  virtual bool enter(clang::LambdaExpr* lambda) { return into(lambda); }
  bool into(clang::Decl* decl);
  bool into(clang::LambdaExpr* lambda);

 private:
  friend class TreeVisitor;
  Options options_;
};

}  // namespace smelt::aot::msl
