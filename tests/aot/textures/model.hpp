// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sampling as the Vulkan specification's equations have it, in double precision and with nothing shared with the
// runtime: what the random tests hold kernels to.
#pragma once

#include "smelt/loader/texture.hpp"

#include <array>
#include <vector>

namespace smelt::test {

using Colour = std::array<double, 4>;

/// Texels as numbers, level by level; a texel of level l at ((z * h + y) * w + x).
struct ModelTexture {
  unsigned axes = 2;
  bool has_alpha = true;
  struct Level {
    int width, height, depth;
    std::vector<Colour> texels;
  };
  std::vector<Level> levels;
};

/// One sample at normalised or pixel coordinates, with a level before any clamp.
Colour model_sample(const ModelTexture& texture, const loader::SamplerDescriptor& sampler, std::array<double, 3> at,
                    std::array<int, 3> offset, double lod);

}  // namespace smelt::test
