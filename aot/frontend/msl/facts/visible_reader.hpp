// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Visible functions, which others call through tables or by name, and stitchable ones, which Metal's API joins to new
// functions (SwiftUI's shaders): their parameters and result in AIR's form (docs/formats/air.md 1.12).
#pragma once

#include "msl/facts/kernel_facts.hpp"

#include "clang/AST/Decl.h"

#include <optional>
#include <string>

namespace clang {
class Sema;
}

namespace smelt::aot::msl {

/// Adds to one function's facts. What Metal does not allow, and what of it has no known form in AIR, is an error at the
/// user's line.
class VisibleReader {
 public:
  VisibleReader(clang::Sema& sema, KernelFact& fact) : sema_(sema), fact_(fact) {}

  void read(const clang::FunctionDecl& function);

 private:
  /// What is passed as one value: a parameter, or a member of one that is a structure.
  struct Passed {
    const clang::ValueDecl* decl = nullptr;
    clang::QualType type;
    unsigned source = 0;
    std::optional<uint64_t> offset;
  };

  bool read_parameter(const clang::ParmVarDecl& parameter, unsigned source);
  bool read_passed(const Passed& passed);
  bool read_pointer(const Passed& passed, ParameterFact& fact);
  bool read_result(const clang::FunctionDecl& function);
  std::optional<kernel_ir::StitchType> stitch_type(clang::QualType type, clang::SourceLocation at);
  bool add_stitching(clang::QualType type, std::string name, unsigned first, clang::SourceLocation at);
  std::string mangled_name(clang::QualType type, const kernel_ir::StitchType& made) const;
  template <class... Args>
  bool refuse(clang::SourceLocation at, std::string_view format, const Args&... args);

  clang::Sema& sema_;
  KernelFact& fact_;
  bool is_stitchable_ = false;
};

}  // namespace smelt::aot::msl
