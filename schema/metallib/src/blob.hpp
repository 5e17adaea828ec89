// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The bitcode blob of a function: wrapper, bitcode, padding (docs/formats/metallib.md 7).
#pragma once

#include "smelt/metallib/layout.hpp"

namespace smelt::metallib {

/// Checks wrapper, magic, padding, and the lengths of the top-level blocks; goes no deeper. `at` is the blob's offset.
Result<void> check_blob(ByteView blob, uint64_t at);

bool all_zero(ByteView bytes);

}  // namespace smelt::metallib
