// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What tile functions are given of their tile, read from Clang's tree in AIR's words (docs/formats/air.md 1.15).
#pragma once

#include "msl/facts/kernel_facts.hpp"

#include "clang/AST/Decl.h"

namespace clang {
class Sema;
}

namespace smelt::aot::msl {

/// The kind of an imageblock's parameter, behind which the layout stands.
inline constexpr std::string_view kImageblockKind = "air.imageblock";

inline bool is_imageblock(const ParameterFact& parameter) {
  return !parameter.words.empty() && parameter.words[0] == kImageblockKind;
}

/// imageblock<T, L>: adds to one function's facts. What Metal does not allow is an error at the user's line.
class ImageblockReader {
 public:
  ImageblockReader(clang::Sema& sema, KernelFact& fact) : sema_(sema), fact_(fact) {}

  /// Whether the parameter is one; then it is read. `source` is its number.
  bool read(const clang::ParmVarDecl& parameter, unsigned source);

 private:
  bool read_planes(const clang::CXXRecordDecl& record, uint64_t offset, bool is_implicit, ParameterFact& fact);
  void add_implicit_words(ParameterFact& fact) const;
  bool add_explicit_words(clang::QualType type, clang::SourceLocation at, ParameterFact& fact);
  template <class... Args>
  bool refuse(clang::SourceLocation at, std::string_view format, const Args&... args);

  clang::Sema& sema_;
  KernelFact& fact_;
};

}  // namespace smelt::aot::msl
