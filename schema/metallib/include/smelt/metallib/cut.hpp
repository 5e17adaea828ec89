// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One function of a library as a library of its own, with what it may call.
#pragma once

#include "smelt/metallib/library.hpp"

namespace smelt::metallib {

/// The function with its module, constants, attributes and versions, for the same system; no sources and no reflection.
/// Behind it are the library's visible functions, which it may call through a table, unless it is one itself. The same
/// functions give the same bytes whatever else is in the library. `function` is one of `library.functions`.
/// Errors: corrupt when its module cannot be bitcode.
Result<Bytes> cut(const Library& library, const Function& function);

}  // namespace smelt::metallib
