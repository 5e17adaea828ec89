// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What mesh and object functions get beside what kernels do: the mesh, the payload, the grid of meshes
// (docs/formats/air.md 1.14).
#pragma once

#include "msl/facts/kernel_facts.hpp"

#include "clang/AST/Decl.h"

namespace clang {
class Sema;
}

namespace smelt::aot::msl {

/// Adds to one function's facts. What Metal does not allow is an error at the user's line.
class MeshReader {
 public:
  MeshReader(clang::Sema& sema, KernelFact& fact) : sema_(sema), fact_(fact) {}

  /// Whether the parameter is one of these; then it is read. `source` is its number.
  bool read(const clang::ParmVarDecl& parameter, unsigned source);

 private:
  void read_mesh(const clang::ParmVarDecl& parameter, ParameterFact fact);
  void read_payload(const clang::ParmVarDecl& parameter, ParameterFact fact);
  template <class... Args>
  void refuse(clang::SourceLocation at, std::string_view format, const Args&... args);

  clang::Sema& sema_;
  KernelFact& fact_;
};

}  // namespace smelt::aot::msl
