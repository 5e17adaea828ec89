// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a tag of the store may be called.
#pragma once

#include "smelt/base/result.hpp"

#include <string_view>

namespace smelt::cache {

/// `invalid_argument` says what is wrong with NAME@VERSION.
Result<void> check_tag(std::string_view name, std::string_view version);

}  // namespace smelt::cache
