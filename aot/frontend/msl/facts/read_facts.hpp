// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Clang's tree to the records of kernel_facts.hpp. What Metal does not allow in a kernel's interface is reported on the
// way, as errors at the user's line (strictness.hpp has the rest).
#pragma once

#include "msl/facts/kernel_facts.hpp"

#include "clang/AST/Decl.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/Type.h"

#include <map>

namespace clang {
class ASTContext;
class Sema;
}  // namespace clang

namespace smelt::aot::msl {

struct KernelSource {
  const clang::FunctionDecl* function = nullptr;
  KernelFact fact;
};
struct ConstantSource {
  const clang::VarDecl* variable = nullptr;
  ConstantFact fact;
};

struct Facts {
  std::vector<KernelSource> kernels;  ///< in the order of the source
  std::vector<ConstantSource> constants;
  std::map<std::string, const clang::VarDecl*, std::less<>> predicates;  ///< other constants that decide over arguments
};

/// All kernels and function constants of the user's code. Conditions of parameters hold the constant's name, not yet
/// its symbol.
Facts read_facts(clang::Sema& sema);

/// Takes the annotations off, and the initialisers of threadgroup variables: code generation would lower both to what
/// AIR has not.
void drop_annotations(clang::ASTContext& context);

/// "float4", "packed_half3", "ulong", "block_q4_0": as Apple's metadata and messages spell a type.
std::string metal_name(clang::QualType type, const clang::ASTContext& context);

/// AIR's number of the space that a pointer or reference to `pointee` has: 1 device, 2 constant, 3 threadgroup, else 0.
unsigned space_of(clang::QualType pointee);
/// "device" of 1: what Metal calls a space of that number, which must be one of its own.
const char* space_word(unsigned space);

/// Whether a class is of Metal's library: in namespace metal, or in one inside.
bool is_library(const clang::CXXRecordDecl& record);

/// vec<T, N>: T and N. Null type: something else.
struct VectorShape {
  clang::QualType element;
  unsigned lanes = 0;
};
VectorShape vector_shape(clang::QualType type);

}  // namespace smelt::aot::msl
