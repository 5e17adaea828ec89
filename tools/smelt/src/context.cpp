// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "context.hpp"

#include "smelt/base/files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace smelt::cli {
namespace {

/// "x.metal:3:5: error: ...": editors know the form, and nothing goes before it.
bool begins_with_place(std::string_view message) {
  if (message.starts_with("In file included from ")) return true;
  const std::string_view line = message.substr(0, message.find('\n'));
  for (const std::string_view kind : {": error: ", ": warning: "}) {
    std::string_view place = line.substr(0, line.find(kind));
    int numbers = 0;
    for (; numbers < 2 && place.size() < line.size(); ++numbers) {
      const size_t colon = place.rfind(':');
      if (colon == std::string_view::npos || colon == 0 || colon + 1 == place.size() ||
          place.find_first_not_of("0123456789", colon + 1) != std::string_view::npos)
        break;
      place = place.substr(0, colon);
    }
    if (numbers == 2) return true;
  }
  return false;
}

/// How many of a message's lines are errors with a place.
size_t count_errors(std::string_view message) {
  size_t count = 0;
  while (!message.empty()) {
    const std::string_view line = message.substr(0, message.find('\n'));
    if (line.find(": error: ") != std::string_view::npos && begins_with_place(line)) ++count;
    message.remove_prefix(std::min(line.size() + 1, message.size()));
  }
  return count;
}

}  // namespace

void Context::finish(const Result<void>& result) {
  if (result) return;
  const Error& error = result.error();
  const bool usage = error.code == Errc::invalid_argument;
  if (usage) {
    fmt::print(stderr, "smelt: {}\n", error.message);
  } else if (begins_with_place(error.message)) {
    const size_t count = count_errors(error.message);
    fmt::print(stderr, "{}\nsmelt: {} error{} ({})\n", error.message, count, count == 1 ? "" : "s",
               to_string(error.code));
  } else {
    fmt::print(stderr, "smelt: error: {} ({})\n", error.message, to_string(error.code));
  }
  exit_code = usage ? kUsageError : kFailed;
}

void Context::finish(const Result<bool>& good) {
  if (!good) return finish(Result<void>(tl::unexpected(good.error())));
  if (!*good) exit_code = kFailed;
}

void Context::warn(std::string_view message) {
  // Of a file as a whole: "x.metal: warning: ...".
  const bool is_of_file = message.substr(0, message.find('\n')).find(": warning: ") != std::string_view::npos;
  if (!begins_with_place(message) && !is_of_file) return fmt::print(stderr, "smelt: warning: {}\n", printable(message));
  while (!message.empty()) {  // the source's line and its caret stand below
    const std::string_view line = message.substr(0, message.find('\n'));
    fmt::print(stderr, "{}\n", printable(line));
    message.remove_prefix(std::min(line.size() + 1, message.size()));
  }
}

Result<void> print(std::string_view text) {
  if (std::fflush(stdout) != 0) return fail(Errc::io, "stdout: cannot write: {}", std::strerror(errno));
  return write_file("-", as_bytes(text));
}

}  // namespace smelt::cli
