// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an editor's clangd needs to read Metal source. It has Clang's parser and not our front end: words of the
// language are macros there, and memory has one space, so that it completes, shows types and underlines what is wrong
// as C++. What it lets pass the compiler may still refuse.
#pragma once

#include "smelt/aot/target.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smelt::aot {

struct EditorHeader {
  std::string_view name;  ///< below the folder: "metal_stdlib", "smelt/vector.h"
  std::string_view text;  ///< of the compiler; lives as long as the program
};

/// All of the standard library.
std::vector<EditorHeader> editor_headers();

/// Flags of Clang 19 for Metal source of that target. `folder`: where the headers lie, absolute.
std::vector<std::string> editor_flags(const Target& target, const std::string& folder);

/// Names of clangd's diagnostics that Metal which is right has there.
std::span<const std::string_view> editor_false_alarms();

}  // namespace smelt::aot
