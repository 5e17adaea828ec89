// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Help for a name that is not there.
#pragma once

#include "smelt/base/result.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace smelt {

/// Up to five names of `known` that look like `asked`, nearest first.
std::vector<std::string_view> near_names(std::string_view asked, std::span<const std::string_view> known);

/// A known name that is the same function in another spelling: mangled (_Z5saxpyPf) or not. Empty when none.
std::string_view other_spelling(std::string_view asked, std::span<const std::string_view> known);

/// `function_not_found` for a library of the functions `known`: the message names those that were perhaps meant.
tl::unexpected<Error> no_function(std::string_view asked, std::span<const std::string_view> known);

}  // namespace smelt
