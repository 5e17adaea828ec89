// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Methods that know the space of their object: attributes of our own, which the token filter and the headers put
// behind a method's parameter list (docs/design/metal-front-end.md 5).
//
//   __attribute__((msl_this_device))       `this` is in device memory; likewise _constant, _threadgroup
//   __attribute__((msl_this_thread))       `this` is in the thread's memory: Clang's default space
//
// Clang lets an object of the default space call a method for any other space, unless their const, volatile and
// restrict differ; and it takes the method with the narrower space first. So each of these methods is `restrict` as
// well: then an object of the thread finds the thread's variant alone. `restrict` on a method is not part of its
// signature; drop_restrict() takes back what code generation makes of it.
#pragma once

#include "clang/AST/DeclCXX.h"

namespace clang {
class CodeGenerator;
}
namespace llvm {
class Module;
}

namespace smelt::aot::msl {

/// Tells Clang of the attributes, for the whole process. Threads: any number at once.
void register_method_spaces();

/// The method says which space its object is in, `thread` included. Constructors for `thread` have no sign of it.
inline bool names_space(const clang::CXXMethodDecl& method) {
  return method.getMethodQualifiers().hasAddressSpace() || method.getMethodQualifiers().hasRestrict();
}

/// Code generation takes `restrict` for a promise that nothing else points to the object: nobody promised it.
void drop_restrict(clang::CodeGenerator& generator, llvm::Module& module);

}  // namespace smelt::aot::msl
