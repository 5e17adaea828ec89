// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One ARG of `smelt run`: what is bound to a buffer, and where its content goes afterwards.
#pragma once

#include "npy.hpp"

#include <optional>
#include <string>

namespace smelt::cli {

struct RunArgument {
  NpyArray array;                       ///< contents; a scalar has an empty shape
  bool is_scalar = false;               ///< bound as inline bytes
  std::optional<std::string> write_to;  ///< .npy or .png
  /// A table of visible functions instead, by name; an empty name is an empty entry.
  std::optional<std::vector<std::string>> functions;
};

/// x.npy | x.png | x.npy=y.npy | f32[1024]=y.npy | f32[32,32] | i32:5 | functions:NAME,NAME. Reads files. Errors name
/// the argument.
Result<RunArgument> parse_argument(const std::string& text);

/// "X", "X,Y", "X,Y,Z" and so on.
Result<std::vector<uint64_t>> parse_counts(std::string_view text);

}  // namespace smelt::cli
