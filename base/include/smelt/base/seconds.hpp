// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Limits of time, as people write them.
#pragma once

#include "smelt/base/result.hpp"

#include <chrono>
#include <cmath>

namespace smelt {

/// `seconds`, rounded up, so that a small limit is not none. An error names `what` when they are negative, no number or
/// more than 30 years.
inline Result<std::chrono::milliseconds> limit_from_seconds(double seconds, std::string_view what) {
  if (!(seconds >= 0 && seconds <= 1e9))
    return fail(Errc::invalid_argument, "{}: want seconds, such as 2.5, or 0 for no limit; got {}", what, seconds);
  return std::chrono::milliseconds(static_cast<int64_t>(std::ceil(seconds * 1e3)));
}

}  // namespace smelt
