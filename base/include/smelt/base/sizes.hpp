// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers of bytes as people write them.
#pragma once

#include "smelt/base/result.hpp"

#include <cstdint>
#include <string_view>

namespace smelt {

/// "20GiB", "500MB", "4k" or "1000": a whole number and a unit in any case, each 1024 times the one before it.
Result<uint64_t> parse_size(std::string_view text);

}  // namespace smelt
