// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbering and bits: a TypedModule as an LLVM 14 bitcode file. Layout: docs/design/bitcode-writer.md section 4.
#pragma once

#include "smelt/base/bytes.hpp"

#include "bitcode/typed_module.hpp"

namespace smelt::aot::bitcode {

/// Gives ids to the module's values. Records are unabbreviated but for the blobs and VSTOFFSET. With `wrap`, inside
/// Apple's wrapper and padded with zeros to a multiple of 16.
Bytes emit(TypedModule& module, bool wrap);

}  // namespace smelt::aot::bitcode
