// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a compiler's JSON beside a kernel says about its launch.
#pragma once

#include "smelt/base/result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace smelt::aot {

struct LaunchMetadata {
  std::optional<uint64_t> threadgroup_memory;       ///< `shared`
  std::optional<uint32_t> threads_per_threadgroup;  ///< `num_warps` x `warp_size` (32 when absent)
  /// Scratch pointers that Triton adds behind a kernel's arguments, whatever their size: one, and from 3.5 on two.
  std::optional<uint32_t> hidden_pointers;
};

/// Triton's metadata. Absent keys are absent answers; a key of the wrong type, a warp that is not 32 lanes and scratch
/// memory that nobody would bind are errors. Empty text: no answers.
Result<LaunchMetadata> parse_launch_metadata(std::string_view json);

}  // namespace smelt::aot
