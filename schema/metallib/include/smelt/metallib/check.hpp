// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The container's half of `smelt verify`: everything the bytes of a file can be found guilty of, in one list.
#pragma once

#include "smelt/metallib/library.hpp"

#include <string>
#include <vector>

namespace smelt::metallib {

enum class Severity {
  error,  ///< Apple's loader, or any reader that checks, refuses the file
  note,   ///< loads as far as is known, but no file of Apple's tools looks like this
};

struct Finding {
  Severity severity = Severity::error;
  std::string place;  ///< "function 3 'saxpy'", "header"; empty for the file as a whole
  std::string message;
};

/// Bounds, shape, every unexplained byte (the first such fault ends the list), then hashes and the rules for stamps.
/// Universal files: each metallib inside, its slice in the place. Empty when there is nothing to say.
std::vector<Finding> check_file(ByteView bytes);

/// The checks that need no bytes: for a library that was read without checking hashes.
std::vector<Finding> check_library(const Library& library);

}  // namespace smelt::metallib
