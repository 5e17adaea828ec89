// What all verbs share: how they end. Results go to stdout, everything else to stderr.
#pragma once

#include "smelt/base/result.hpp"

#include <string_view>

namespace smelt::cli {

enum ExitCode : int {
  kDone = 0,
  kCouldNot = 1,
  kAskedWrongly = 2,
};

struct Context {
  int exit_code = kDone;

  /// Ends a verb: an error is printed as "smelt: error: <message> (<code>)" and makes the exit code 1; the file or
  /// function it is about should be in the message already (Error::in).
  void finish(const Result<void>& result);
  /// The arguments do not make sense together: exit code 2.
  void asked_wrongly(std::string_view message);
  static void warn(std::string_view message);
};

}  // namespace smelt::cli
