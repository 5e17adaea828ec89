// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Log lines on stderr, at the level that SMELT_LOG asks for (debug, info, warn; default warn).
#pragma once

#include <string_view>

namespace smelt::service {

void log_info(std::string_view text);
void log_warning(std::string_view text);
/// `-v` on the command line: at least info.
void log_more();

}  // namespace smelt::service
