// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "smelt/base/metal.hpp"

#include <string_view>

namespace smelt::aot {

/// "macos", "ios", "tvos": what the names of a platform's targets begin with. Only of platforms that are targets.
std::string_view target_word(Platform platform);

}  // namespace smelt::aot
