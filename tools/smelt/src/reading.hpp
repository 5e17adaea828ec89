// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How verbs read files that anybody may have made: in a child process, unless told otherwise.
#pragma once

#include "smelt/base/bytes.hpp"
#include "smelt/service/session.hpp"

#include <functional>
#include <optional>

namespace CLI {
class App;
}

namespace smelt::cli {

struct ReadingOptions {
  std::optional<service::Sandbox> sandbox;  ///< nothing: $SMELT_SANDBOX, else automatic
  double timeout = 0;
  uint64_t max_memory = 0;
};

/// --sandbox, --timeout, --max-memory.
void add_reading_options(CLI::App& verb, ReadingOptions& options);

/// What was asked for, else what $SMELT_SANDBOX says, else automatic.
Result<service::Sandbox> sandbox_or_default(std::optional<service::Sandbox> asked);

/// What `read` gives, from a child where there is one to be had and one is wanted. Errors: those of `read`;
/// `cancelled` at a limit, which it names; `corrupt` when the child died; `toolchain_missing` when there must be one
/// and is none. A warning says once when it goes on without.
Result<Bytes> read_apart(const ReadingOptions& options, const std::function<Result<Bytes>()>& read);
/// The same for lines of text, in which what steers a terminal is replaced: the child gave back what it liked.
Result<std::string> read_text_apart(const ReadingOptions& options, const std::function<Result<std::string>()>& read);

}  // namespace smelt::cli
