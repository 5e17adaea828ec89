// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One function of a library as a library of its own.
#pragma once

#include "smelt/metallib/library.hpp"

namespace smelt::metallib {

/// The function with its module, constants, attributes and versions, for the same system; no sources and no reflection.
/// The same function gives the same bytes whatever else is in the library. `function` is one of `library.functions`.
/// Errors: corrupt when its module cannot be bitcode.
Result<Bytes> cut(const Library& library, const Function& function);

}  // namespace smelt::metallib
