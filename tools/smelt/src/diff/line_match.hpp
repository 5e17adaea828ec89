// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which lines of one list stand for which of another: the shortest edit script (E. Myers, An O(ND) Difference Algorithm
// and Its Variations, 1986), given up for what lies between where it would take too long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace smelt::cli {

/// For each line of `a` the line of `b` that it is, if any; ascending. Lines are given by numbers: equal lines have
/// equal ones.
std::vector<std::optional<size_t>> match_lines(std::span<const uint32_t> a, std::span<const uint32_t> b);

}  // namespace smelt::cli
