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

/// A Metal library, a universal file, a package, or one AIR module as bitcode; anything else is one finding.
std::vector<VerifyFinding> verify_file(ByteView file);

/// Findings as bytes and back, for what reads in another process. What is read is bounded; `corrupt` or `truncated`.
Bytes write_findings(const std::vector<VerifyFinding>& findings);
Result<std::vector<VerifyFinding>> read_findings(ByteView bytes);

}  // namespace smelt::cli
