// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A vector in a packed structure lies where its own type may not. Clang says so of an access by the member's name; but
// our vectors are classes, and a method takes its object by a pointer, which is assumed to be aligned.
//
//   struct __attribute__((packed)) S { uchar a; float2 b; };   s->b += 1;   // a method of the vector at byte 1
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/Support/Alignment.h"

namespace clang {
class ASTContext;
class CodeGenerator;
}  // namespace clang
namespace llvm {
class Module;
}

namespace smelt::aot::msl {

/// Structures with a member that is aligned less than its type, and how they are aligned themselves.
using PackedTypes = llvm::DenseMap<const llvm::Type*, llvm::Align>;

/// The packed types among the source's own structures. Clang has generated the code of the module.
PackedTypes packed_types(clang::ASTContext& context, clang::CodeGenerator& generator);

/// Loads and stores of a member get at most the member's alignment. A function that gets a pointer to such a member is
/// copied for that. Run this on Clang's own code, in which addresses still name the structures.
void limit_alignment(llvm::Module& module, const PackedTypes& types);

}  // namespace smelt::aot::msl
