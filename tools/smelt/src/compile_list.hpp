// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// smelt compile --from LIST: what machines without a compiler asked for and did not find (docs/formats/misses.md).
#pragma once

#include "smelt/service/session.hpp"

#include <string>

namespace smelt::cli {

/// Compiles all that the list names into the store, and gives it to the remotes that take puts. What does not compile
/// is told on stderr and keeps nothing else from being compiled; then the result is false.
Result<bool> compile_list(const std::string& file, const service::SessionOptions& options);

}  // namespace smelt::cli
