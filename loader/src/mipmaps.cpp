// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The levels of a texture from its first.
#include "smelt/base/floats.hpp"
#include "smelt/loader/texture.hpp"
#include "smelt/schema/cpu_abi.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace smelt::loader {
namespace {

template <class T>
T value_at(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <class T>
void put(std::byte* into, T value) {
  std::memcpy(into, &value, sizeof value);
}

float from_srgb(float c) {
  return c <= 0.04045f ? c / 12.92f : std::pow((c + 0.055f) / 1.055f, 2.4f);
}
float to_srgb(float c) {
  return c < 0.0031308f ? 12.92f * c : 1.055f * std::pow(c, 1.0f / 2.4f) - 0.055f;
}

/// How a component becomes a number, and a number a component.
struct Component {
  uint32_t bytes;
  float (*read)(const std::byte* from);
  void (*write)(std::byte* into, float value);
};

template <class T>
Component normalised() {
  constexpr auto most = static_cast<float>(std::numeric_limits<T>::max());
  return {sizeof(T),
          [](const std::byte* from) { return std::max(static_cast<float>(value_at<T>(from)) / most, -1.0f); },
          [](std::byte* into, float value) { put(into, static_cast<T>(std::nearbyint(value * most))); }};
}

std::optional<Component> component_of(uint32_t encoding, bool is_alpha) {
  switch (encoding) {
    case SMELT_CPU_UNORM8:
      return normalised<uint8_t>();
    case SMELT_CPU_SNORM8:
      return normalised<int8_t>();
    case SMELT_CPU_SRGB8:
      if (is_alpha) return normalised<uint8_t>();
      return Component{
          1, [](const std::byte* from) { return from_srgb(static_cast<float>(value_at<uint8_t>(from)) / 255.0f); },
          [](std::byte* into, float value) { put(into, static_cast<uint8_t>(std::nearbyint(to_srgb(value) * 255))); }};
    case SMELT_CPU_UNORM16:
      return normalised<uint16_t>();
    case SMELT_CPU_SNORM16:
      return normalised<int16_t>();
    case SMELT_CPU_FLOAT16:
      return Component{2, [](const std::byte* from) { return from_half_bits(value_at<uint16_t>(from)); },
                       [](std::byte* into, float value) { put(into, to_half_bits(value)); }};
    case SMELT_CPU_FLOAT32:
      return Component{4, &value_at<float>, &put<float>};
    default:
      return std::nullopt;
  }
}

/// One component of every texel of a level, at `offset` in it. An odd size counts its last texel twice.
void halve(const Texture::Part& from, const Texture::Part& into, uint32_t texel_bytes, uint32_t offset,
           const Component& component) {
  const auto at = [&](const Texture::Part& part, uint32_t x, uint32_t y, uint32_t z) {
    const uint64_t place = z * part.slice_bytes + y * part.row_bytes + uint64_t{x} * texel_bytes + offset;
    return part.bytes.data() + place;
  };
  for (uint32_t z = 0; z < into.depth; ++z)
    for (uint32_t y = 0; y < into.height; ++y)
      for (uint32_t x = 0; x < into.width; ++x) {
        float sum = 0;
        for (uint32_t i = 0; i < 8; ++i)
          sum += component.read(at(from, std::min(2 * x + (i & 1), from.width - 1),
                                   std::min(2 * y + (i >> 1 & 1), from.height - 1),
                                   std::min(2 * z + (i >> 2), from.depth - 1)));
        component.write(at(into, x, y, z), sum / 8);
      }
}

}  // namespace

Result<void> generate_mipmaps(Texture& texture) {
  const TextureDescriptor& descriptor = texture.descriptor();
  const PixelFormatFacts& format = *facts_of(descriptor.format);
  if (format.is_compressed())
    return fail(Errc::unsupported,
                "mipmaps of the compressed format {}: nothing here makes blocks; write those of every level",
                format.name);
  for (uint32_t channel = 0; channel < format.channels; ++channel) {
    const std::optional<Component> component = component_of(format.encoding, channel == 3);
    if (!component)
      return fail(Errc::unsupported,
                  "mipmaps of the pixel format {}: only floats and normalised components are averaged", format.name);
    for (uint32_t layer = 0; layer < texture.layers(); ++layer)
      for (uint32_t level = 1; level < descriptor.levels; ++level) {
        SMELT_TRY(const Texture::Part from, texture.part(level - 1, layer));
        SMELT_TRY(const Texture::Part into, texture.part(level, layer));
        halve(from, into, format.texel_bytes, channel * component->bytes, *component);
      }
  }
  return {};
}

}  // namespace smelt::loader
