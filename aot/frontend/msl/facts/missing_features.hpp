// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What of Metal smelt does not compile (docs/reference/metal-features.md), by the names that a source uses for it: so
// that the error is about the feature, and not about a name that nobody has declared.
#pragma once

#include "smelt/base/metal.hpp"

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace smelt::aot::msl {

/// "textures", "ray tracing": a plural or a noun that "are not supported" may follow; empty for other names. A name
/// that anybody may use for a thing of their own counts only as a template: `has_arguments` says whether '<' follows.
std::string_view feature_of_name(llvm::StringRef name, bool has_arguments);

/// Of a header that is served to targets with tensors alone.
bool is_tensor_header(llvm::StringRef name);
inline constexpr std::string_view kNoTensors =
    "tensors need Metal 4.0 and a target from macos26.2, ios26.2 or tvos26.2 (--target); a product that is built for "
    "an "
    "older system computes garbage";

/// A name that a version of the language brought.
struct VersionedName {
  std::string_view name;
  Version since;
};
/// All that are known: docs/formats/metal-language.md 5.
std::span<const VersionedName> versioned_names();
/// The version that brought this name; nothing for names that every version has.
std::optional<Version> version_of_name(llvm::StringRef name);

/// "'os_log_default' needs Metal 3.2; ...", of a name that `language` does not have yet.
std::string text_of_later_version(llvm::StringRef name, Version since, Version language);

}  // namespace smelt::aot::msl
