// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finished code as text, for those who compare it or show it: `smelt diff` and `smelt explain`.
#pragma once

#include "smelt/base/bytes.hpp"

#include <string>
#include <string_view>

namespace smelt::aot {

/// A module without what two builds of the same source may differ in.
struct ComparableModule {
  std::string triple;  ///< as in the module: "air64-apple-macosx14.0.0"
  /// LLVM 19 text. Left out: names of values and of what only this module can name, debug info, names of files and of
  /// the producer, and what says for which system it was built (triple, versions of AIR, of Metal and of the SDK; those
  /// are in KernelInfo and `triple`). Functions and variables stand in the order in which the entry points need them,
  /// named metadata in the order of their names.
  std::string text;
};

/// Of one AIR module (bitcode, bare or wrapped); `name` is for messages. Bounded, deterministic, thread-safe. Errors:
/// those of reading the module.
Result<ComparableModule> comparable_module(ByteView bitcode, std::string_view name);

}  // namespace smelt::aot
