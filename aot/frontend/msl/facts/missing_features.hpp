// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What of Metal smelt does not compile (docs/reference/metal-features.md), by the names that a source uses for it: so
// that the error is about the feature, and not about a name that nobody has declared.
#pragma once

#include "smelt/base/metal.hpp"

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string_view>

namespace clang {
class Decl;
}  // namespace clang

namespace smelt::aot::msl {

/// "textures", "ray tracing": a plural or a noun that "are not supported" may follow; empty for other names. A name
/// that anybody may use for a thing of their own counts only as a template: `has_arguments` says whether '<' follows.
std::string_view feature_of_name(llvm::StringRef name, bool has_arguments);

/// Of a header of Metal that is not served, since what it declares is not supported. Not served means that
/// __has_include() is false, which code asks.
std::string_view feature_of_header(llvm::StringRef name);

/// Of a header that is served to targets with tensors alone.
bool is_tensor_header(llvm::StringRef name);
inline constexpr std::string_view kNoTensors =
    "tensors need Metal 4.0 and a target from macos26.2, ios26.2 or tvos26.2 (--target); a product that is built for "
    "an "
    "older system computes garbage";

/// Of a name of the standard library that a version of the language brought, that version.
std::optional<Version> version_of_name(llvm::StringRef name);

/// Functions that Metal's API finds in a library and that are not compiled.
struct StageRow {
  const char* attribute;
  const char* function;  ///< "an intersection function"
  const char* feature;   ///< "intersection functions"
};
/// The stage of such a function; null for every other one.
const StageRow* missing_stage(const clang::Decl& function);

/// The message about such a function: its name, then `function` and `feature` of its stage.
inline constexpr char kStageMessage[] =
    "%q0 is %1; %2 are not supported, only kernel, vertex, fragment, mesh, object and visible functions are";

}  // namespace smelt::aot::msl
