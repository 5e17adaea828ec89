// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What `smelt explain` shows: each function's source, AIR and CPU code with the lines that were made of each other, its
// arguments and limits, and what verify finds.
#pragma once

#include "smelt/aot/compile.hpp"
#include "smelt/aot/cpu.hpp"

#include "page/page.hpp"
#include "reading.hpp"

#include <optional>
#include <string>
#include <vector>

namespace smelt::cli {

struct ExplainOptions {
  std::string name;                    ///< of the file
  std::string target;                  ///< of a package with several; empty: the first
  std::vector<std::string> sources;    ///< files with the source that debug lines name
  aot::CompileOptions compile;         ///< of a file that is source; `functions` also of a library: these alone
  std::optional<aot::CpuLevel> level;  ///< of the CPU code; nothing: this machine's
  bool cpu = true;
  unsigned threads = 0;
  ReadingOptions reading;  ///< of a library or a package
};

/// A library or a package as it is, read in a child; of anything else what compile() makes of it with debug lines.
/// Errors: those of reading and compiling; function_not_found; invalid_argument for a target that the file does not
/// have.
Result<Page> explain(ByteView file, const ExplainOptions& options);

}  // namespace smelt::cli
