// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the environment says about devices (docs/reference/metal-api.md lists the variables).
#pragma once

#include "smelt/base/checks.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace smelt::metal {

/// Empty when it is not set.
std::string setting(const char* name);
/// Nothing when it is not set; a value that is no number or lies outside of the range is said once and ignored.
std::optional<uint64_t> number_setting(const char* name, uint64_t least, uint64_t most);
/// "1" and the like.
bool flag_setting(const char* name);
/// What SMELT_METAL_CHECKED says, else SMELT_CHECK.
Checks checks_setting();

}  // namespace smelt::metal
