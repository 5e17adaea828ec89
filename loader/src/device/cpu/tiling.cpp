// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tiling.hpp"

#include <algorithm>

namespace smelt::loader {

Tiling::Tiling(const std::array<uint32_t, 3>& extent, uint64_t wanted, uint32_t x_step) : extent_(extent) {
  wanted = std::max<uint64_t>(wanted, 1);
  for (const size_t axis : {2u, 1u, 0u}) {
    const uint64_t pieces = std::min<uint64_t>(wanted, extent[axis]);
    uint64_t step = (extent[axis] + pieces - 1) / pieces;
    if (axis == 0) step = (step + x_step - 1) / x_step * x_step;
    step_[axis] = static_cast<uint32_t>(std::min<uint64_t>(step, extent[axis]));
    pieces_[axis] = static_cast<uint32_t>((uint64_t{extent[axis]} + step_[axis] - 1) / step_[axis]);
    wanted = (wanted + pieces_[axis] - 1) / pieces_[axis];
  }
}

smelt_cpu_range Tiling::box(uint64_t index) const {
  smelt_cpu_range box;
  for (size_t axis = 0; axis < 3; ++axis) {
    const auto at = static_cast<uint32_t>(index % pieces_[axis]);
    index /= pieces_[axis];
    box.low[axis] = at * step_[axis];
    box.high[axis] = static_cast<uint32_t>(std::min<uint64_t>(uint64_t{box.low[axis]} + step_[axis], extent_[axis]));
  }
  return box;
}

}  // namespace smelt::loader
