// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What can be found wrong with a file without running it, in one list. The container's half comes from smelt::metallib
// and smelt::schema; the modules' half from smelt::aot.
#pragma once

#include "smelt/base/bytes.hpp"

#include <string>
#include <vector>

namespace smelt::cli {

struct VerifyFinding {
  bool is_error = true;  ///< false: loads as far as is known, but no file of Apple's tools looks like this
  std::string place;     ///< "slice macos14, function 3 'saxpy'"; empty for the file as a whole
  std::string message;
  std::string check = "container";  ///< which check, e.g. "argument" (smelt/aot/verify.hpp)
};

struct VerifyReport {
  std::vector<VerifyFinding> findings;
  // What the file holds, counted as far as it could be read.
  uint64_t targets = 0;    ///< systems and processors: "macos14", "cpu-x86-64-v3"
  uint64_t kernels = 0;    ///< by name, whatever the number of targets
  uint64_t functions = 0;  ///< those that are no kernels
};

/// A Metal library, a universal file, a package, or one AIR module as bitcode; anything else is one finding.
VerifyReport verify_file(ByteView file);

/// "2 targets, 3 kernels"; "an AIR module" when no target is known.
std::string content_text(const VerifyReport& report);

/// A report as bytes and back, for what reads in another process. What is read is bounded; `corrupt` or `truncated`.
Bytes write_report(const VerifyReport& report);
Result<VerifyReport> read_report(ByteView bytes);

}  // namespace smelt::cli
