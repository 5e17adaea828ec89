// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Paths in files of dependencies.
#pragma once

#include "smelt/base/result.hpp"
#include "smelt/base/text.hpp"

#include <string>
#include <string_view>

namespace smelt {

/// quoted_for_make, for a path that may be anybody's. Errors: invalid_argument for one with a line end, behind which
/// make would read another rule.
inline Result<std::string> path_for_make(std::string_view path) {
  if (path.find_first_of("\r\n") == path.npos) return quoted_for_make(path);
  return fail(Errc::invalid_argument, "{}: a name with a line break cannot be written to a dependency file",
              json_quoted(path));
}

}  // namespace smelt
