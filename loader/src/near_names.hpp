// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Help for a name that is not there.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smelt::loader {

/// Up to five names of `known` that look like `asked`, nearest first.
std::vector<std::string_view> near_names(std::string_view asked, std::span<const std::string_view> known);

/// A known name that is the same function in another spelling: mangled (_Z5saxpyPf) or not. Empty when none.
std::string_view other_spelling(std::string_view asked, std::span<const std::string_view> known);

}  // namespace smelt::loader
