// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The versions of the Metal language that source may be in.
#pragma once

#include "smelt/base/metal.hpp"

#include <array>

namespace smelt::aot {

/// Oldest first.
inline constexpr std::array<Version, 13> kLanguages = {
    {{1, 0}, {1, 1}, {1, 2}, {2, 0}, {2, 1}, {2, 2}, {2, 3}, {2, 4}, {3, 0}, {3, 1}, {3, 2}, {4, 0}, {4, 1}}};

}  // namespace smelt::aot
