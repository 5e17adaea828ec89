// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What all verbs share: how they end. Results go to stdout, everything else to stderr.
#pragma once

#include "smelt/base/result.hpp"

#include <string_view>

namespace smelt::cli {

enum ExitCode : int {
  kDone = 0,
  kFailed = 1,
  kUsageError = 2,
};

struct Context {
  int exit_code = kDone;

  /// Ends a verb. An error is printed as "smelt: error: <message> (<code>)", and the exit code is 1; the file or
  /// function it is about should be in the message already (Error::in). Arguments that make no sense, alone or together
  /// (invalid_argument), are the caller's mistake: "smelt: <message>", exit code 2.
  void finish(const Result<void>& result);
  /// The same for a verb that judges something: false fails without a further message.
  void finish(const Result<bool>& good);
  static void warn(std::string_view message);
};

/// Writes a result to stdout, behind what was printed before.
Result<void> print(std::string_view text);

}  // namespace smelt::cli
