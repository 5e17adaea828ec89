// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What vertex and fragment functions get from the hardware and from the stage before, and what they return, read from
// Clang's tree in AIR's words (docs/formats/air.md 1.11).
#pragma once

#include "msl/facts/kernel_facts.hpp"

#include "clang/AST/Decl.h"

#include <optional>
#include <string>

namespace clang {
class Sema;
}

namespace smelt::aot::msl {

/// The stage that a function is marked with: kernel, vertex, fragment or visible, which a stitchable function is too;
/// nothing for another function, also for one of a stage that is not compiled (missing_features.hpp).
std::optional<Stage> stage_of(const clang::FunctionDecl& function);
inline constexpr llvm::StringLiteral kStitchable = "stitchable";

/// Of a scalar or a vector of numbers, which a stage is given none of 64 bits of; nothing for any other type.
std::optional<ValueShape> shape_of(clang::QualType type, bool with_64_bits = false);
/// The same type as C++ mangles it: "Dv4_f".
std::string mangled(std::string_view type_name, const ValueShape& shape);
/// A structure of the user's; null for every other type.
const clang::CXXRecordDecl* structure_of(clang::QualType type);

/// Adds to one function's facts. What Metal does not allow is an error at the user's line.
class StageReader {
 public:
  StageReader(clang::Sema& sema, KernelFact& fact) : sema_(sema), fact_(fact) {}

  /// Before the parameters: what they may be depends on it.
  void read_patch(const clang::FunctionDecl& function);
  /// Likewise: the kind of primitive that an intersection function is for, and its tags.
  void read_intersection(const clang::FunctionDecl& function);
  /// Whether the parameter is [[stage_in]] or has an attribute of stages; then it is read. `source` is its number.
  bool read_input(const clang::ParmVarDecl& parameter, unsigned source);
  void read_results(const clang::FunctionDecl& function);
  /// The same of a type alone; `at` is where it stands. What is given twice is not looked for.
  void read_given(clang::QualType type, const clang::Decl& at);
  /// No place is taken twice.
  void check_twice(const clang::FunctionDecl& function);

 private:
  enum class Direction : bool { input, result };
  struct Place {
    const clang::Decl* decl = nullptr;  ///< parameter, member or function
    clang::QualType type;
    std::string name;
    std::optional<uint64_t> offset;
    unsigned source = 0;
    bool is_member = false;
  };

  /// T of patch_control_point<T>; nothing for another type.
  std::optional<clang::QualType> control_point(clang::QualType type) const;
  void read_control_points(clang::QualType point, const Place& place);
  void read_members(const clang::CXXRecordDecl& record, uint64_t offset, Direction direction, unsigned source);
  /// Reports [[imageblock_data]] as not supported. False: the declaration does not have it.
  bool refuse_imageblock_data(const clang::Decl& decl);
  void read_value(const Place& place, Direction direction);
  bool read_words(const Place& place, Direction direction, const ValueShape& shape, std::vector<std::string>& words);
  bool user_words(const Place& place, Direction direction, const ValueShape& shape, std::vector<std::string>& words);
  bool add_interpolation(const Place& place, bool is_whole, std::string_view otherwise,
                         std::vector<std::string>& words);
  template <class... Args>
  bool refuse(clang::SourceLocation at, std::string_view format, const Args&... args);

  clang::Sema& sema_;
  KernelFact& fact_;
};

}  // namespace smelt::aot::msl
