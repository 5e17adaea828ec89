// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM 19 module in, LLVM 14 bitcode with typed pointers out: what Apple's Metal runtimes read.
//
//   lower   each instruction becomes a symbolic record; casts appear where a use needs another pointee   (lower.hpp)
//   check   every record's operand types, as LLVM 14 would judge them: LLVM 19 cannot see a wrong pointee  (check.hpp)
//   emit    number the values, write the bits                                                            (emit.hpp)
//
// See docs/design/bitcode-writer.md. What does not fit (invoke, inline assembly, ifuncs, gathers, ...) is an error
// naming the function and the instruction; nothing is half-written.
#pragma once

#include "smelt/aot/target.hpp"
#include "smelt/base/bytes.hpp"

#include <optional>

namespace llvm {
class Module;
}

namespace smelt::aot::bitcode {

struct WriteOptions {
  /// Of the target. Below 2.6: six attribute kinds are left out, poison is undef, freeze is its operand, fneg is
  /// fsub -0.0, and phi and select carry no fast-math flags (docs/formats/air.md 4.1, 4.3).
  Version air{2, 6, 0};
  /// Pointer constant expressions inside functions become instructions. Default: from AIR 2.7 on, as Apple does.
  std::optional<bool> expand_constants;
  /// In Apple's wrapper (0x0B17C0DE, zero padding to 16), else raw "BC" C0 DE.
  bool wrap = true;
  /// Line tables, subprograms, types and variables are kept; else nothing of them is.
  bool keep_debug = false;
  /// Blocks after the entry block in reverse order, so that nearly every cross-block use is a forward reference. Valid,
  /// and only of use to tests.
  bool reverse_blocks = false;
};

/// What the writer did, for measurements.
struct WriteStatistics {
  uint32_t records = 0, views = 0, constant_views = 0, expanded_constants = 0;
  double lower_us = 0, check_us = 0, emit_us = 0;
};

/// The module must be valid (llvm::verifyModule); it is not changed. Deterministic: same module, same bytes. Modules of
/// different contexts may be written from several threads at once.
Result<Bytes> write_bitcode(const llvm::Module& module, const WriteOptions& options,
                            WriteStatistics* statistics = nullptr);

}  // namespace smelt::aot::bitcode
