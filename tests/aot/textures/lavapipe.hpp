// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Samples drawn by Mesa's lavapipe, a Vulkan device on the CPU that shares nothing with ours. No display is needed.
#pragma once

#include "smelt/base/result.hpp"
#include "smelt/loader/texture.hpp"

#include <array>
#include <memory>
#include <span>
#include <vector>

namespace smelt::test {

/// Where a sample is taken. Laid out as the shader and the Metal kernels have it.
struct SamplePoint {
  float at[3];       ///< as many as the type has; of a cube a direction
  float lod;         ///< before the sampler's bounds
  uint32_t element;  ///< of an array
  uint32_t unused[3];
};
using Sampled = std::array<float, 4>;

/// One thread at a time. Fails with an exception where Vulkan does.
class Lavapipe {
 public:
  /// Errors: unsupported, with what is missing here.
  static Result<std::unique_ptr<Lavapipe>> open();
  virtual ~Lavapipe() = default;

  /// Whether images of the format are sampled there, with linear filters too.
  virtual bool samples(loader::PixelFormat format) const = 0;
  /// The sampler is one that Vulkan has: see vulkan_has().
  virtual std::vector<Sampled> sample(const loader::Texture& texture, const loader::SamplerDescriptor& sampler,
                                      std::span<const SamplePoint> points) = 0;
};

/// Whether a Vulkan sampler can say the same. One border colour serves all axes, so clamp_to_zero and clamp_to_border
/// go together only where their colours agree; pixel coordinates are for one level of a 1D or 2D image, clamped.
bool vulkan_has(const loader::TextureDescriptor& texture, const loader::SamplerDescriptor& sampler);

}  // namespace smelt::test
