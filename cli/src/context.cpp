// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "context.hpp"

#include "smelt/base/files.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace smelt::cli {

void Context::finish(const Result<void>& result) {
  if (result) return;
  const Error& error = result.error();
  const bool usage = error.code == Errc::invalid_argument;
  if (usage)
    fmt::print(stderr, "smelt: {}\n", error.message);
  else
    fmt::print(stderr, "smelt: error: {} ({})\n", error.message, to_string(error.code));
  exit_code = usage ? kUsageError : kFailed;
}

void Context::finish(const Result<bool>& good) {
  if (!good) return finish(Result<void>(tl::unexpected(good.error())));
  if (!*good) exit_code = kFailed;
}

void Context::warn(std::string_view message) {
  fmt::print(stderr, "smelt: warning: {}\n", printable(message));
}

Result<void> print(std::string_view text) {
  if (std::fflush(stdout) != 0) return fail(Errc::io, "stdout: cannot write: {}", std::strerror(errno));
  return write_file("-", as_bytes(text));
}

}  // namespace smelt::cli
