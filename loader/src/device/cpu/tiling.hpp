// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cutting a grid into boxes for the workers.
#pragma once

#include "smelt/schema/cpu_abi.h"

#include <array>
#include <cstdint>

namespace smelt::loader {

/// A box of `extent` cut along its outer axes first: rows stay whole as long as they can, since consecutive threads
/// usually touch consecutive memory.
class Tiling {
 public:
  /// About `wanted` boxes (at least one). Steps along x are multiples of `x_step`.
  Tiling(const std::array<uint32_t, 3>& extent, uint64_t wanted, uint32_t x_step);

  uint64_t count() const { return uint64_t{pieces_[0]} * pieces_[1] * pieces_[2]; }
  /// Every part of the extent is in exactly one box.
  smelt_cpu_range box(uint64_t index) const;

 private:
  std::array<uint32_t, 3> extent_;
  std::array<uint32_t, 3> step_{};
  std::array<uint32_t, 3> pieces_{};
};

}  // namespace smelt::loader
