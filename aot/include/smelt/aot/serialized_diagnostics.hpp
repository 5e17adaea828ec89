// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Messages of a compile as Clang serialises them (-serialize-diagnostics, "x.dia"): an LLVM bitstream that Xcode,
// SwiftPM and libclang (clang_loadDiagnostics) read.
//
//   "DIAG"
//   BLOCKINFO   how the records below are written
//   META        VERSION [2]
//   DIAG        of each message: FILENAME [id, size, time, length, name], DIAG_FLAG [id, length, name], each when it is
//               first needed; DIAG [level, file, line, column, offset, category, flag, length, text]; its notes as
//               blocks of the same kind inside
//
// Ids of files and flags begin at 1, 0 is none. Offsets, times and categories are 0 here.
#pragma once

#include "smelt/base/bytes.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace smelt::aot {

struct DiagnosticLine {
  /// The format's numbers.
  enum class Level : uint8_t { note = 1, warning = 2, error = 3 };
  Level level = Level::error;
  std::string file;  ///< empty: of no file
  uint32_t line = 0, column = 0;
  std::string text;
  std::string flag;  ///< "unused-variable"; empty: no flag steers it
};

/// Notes belong to the message before them. Deterministic.
Bytes serialize_diagnostics(std::span<const DiagnosticLine> lines);

}  // namespace smelt::aot
