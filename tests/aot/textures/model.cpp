// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "model.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace smelt::test {
namespace {

using Sampler = loader::SamplerDescriptor;
using Address = Sampler::Address;

/// Vulkan 16.7.1, wrapping; nothing where the border is.
std::optional<int> wrapped(int i, int size, Address mode) {
  switch (mode) {
    case Address::repeat:
      return ((i % size) + size) % size;
    case Address::mirrored_repeat: {
      const int period = ((i % (2 * size)) + 2 * size) % (2 * size);
      return period < size ? period : 2 * size - 1 - period;
    }
    case Address::clamp_to_edge:
      return std::clamp(i, 0, size - 1);
    default:
      if (i < 0 || i >= size) return std::nullopt;
      return i;
  }
}

Colour border(const ModelTexture& texture, const Sampler& sampler, Address mode) {
  if (mode == Address::clamp_to_zero) return {0, 0, 0, texture.has_alpha ? 0.0 : 1.0};
  switch (sampler.border) {
    case Sampler::Border::opaque_black:
      return {0, 0, 0, 1};
    case Sampler::Border::opaque_white:
      return {1, 1, 1, 1};
    default:
      return {0, 0, 0, 0};
  }
}

Colour texel(const ModelTexture& texture, const Sampler& sampler, const ModelTexture::Level& level,
             std::array<int, 3> at) {
  const int sizes[3] = {level.width, level.height, level.depth};
  for (unsigned axis = 0; axis < texture.axes; ++axis) {
    const auto place = wrapped(at[axis], sizes[axis], sampler.address[axis]);
    if (!place) return border(texture, sampler, sampler.address[axis]);
    at[axis] = *place;
  }
  for (unsigned axis = texture.axes; axis < 3; ++axis) at[axis] = 0;
  return level.texels[static_cast<size_t>((at[2] * level.height + at[1]) * level.width + at[0])];
}

Colour filtered(const ModelTexture& texture, const Sampler& sampler, const ModelTexture::Level& level,
                std::array<double, 3> at, std::array<int, 3> offset, bool linear) {
  const int sizes[3] = {level.width, level.height, level.depth};
  std::array<int, 3> low{};
  std::array<double, 3> weight{};
  for (unsigned axis = 0; axis < texture.axes; ++axis) {
    const double place = sampler.pixel_coordinates ? at[axis] : at[axis] * sizes[axis];
    const double shifted = linear ? place - 0.5 : place;
    low[axis] = static_cast<int>(std::floor(shifted)) + offset[axis];
    weight[axis] = shifted - std::floor(shifted);
  }
  if (!linear) return texel(texture, sampler, level, low);
  Colour sum{};
  for (unsigned corner = 0; corner < (1u << texture.axes); ++corner) {
    double share = 1;
    std::array<int, 3> place = low;
    for (unsigned axis = 0; axis < texture.axes; ++axis) {
      const bool upper = (corner >> axis & 1) != 0;
      share *= upper ? weight[axis] : 1 - weight[axis];
      place[axis] += upper;
    }
    const Colour part = texel(texture, sampler, level, place);
    for (size_t i = 0; i < 4; ++i) sum[i] += share * part[i];
  }
  return sum;
}

}  // namespace

Colour model_sample(const ModelTexture& texture, const Sampler& sampler, std::array<double, 3> at,
                    std::array<int, 3> offset, double lod) {
  const double clamped = std::min(std::max(lod, double(sampler.lod_min)), double(sampler.lod_max));
  const bool linear = (clamped > 0 ? sampler.minify : sampler.magnify) == Sampler::Filter::linear;
  const double last = static_cast<double>(texture.levels.size()) - 1;
  const double level = std::clamp(clamped, 0.0, last);
  const auto of = [&](double which) {
    return filtered(texture, sampler, texture.levels[static_cast<size_t>(which)], at, offset, linear);
  };
  if (sampler.mip == Sampler::MipFilter::none) return of(0);
  if (sampler.mip == Sampler::MipFilter::nearest) return of(std::max(std::ceil(level + 0.5) - 1, 0.0));
  const double low = std::floor(level);
  const double part = level - low;
  if (part == 0) return of(low);
  const Colour a = of(low), b = of(low + 1);
  Colour sum{};
  for (size_t i = 0; i < 4; ++i) sum[i] = a[i] * (1 - part) + b[i] * part;
  return sum;
}

}  // namespace smelt::test
