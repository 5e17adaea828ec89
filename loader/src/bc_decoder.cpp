// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// BC1 to BC5, as the Khronos Data Format Specification 1.3 has them: chapters S3TC and RGTC. A value between two ends
// is the fraction there, rounded to the nearest that the texel's format has.
#include "smelt/base/bytes.hpp"

#include "block_decoder.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace smelt::loader {
namespace {

constexpr uint32_t kSide = 4;
constexpr uint32_t kTexels = kSide * kSide;

/// numerator / denominator, halves away from zero.
constexpr int32_t nearest(int32_t numerator, int32_t denominator) {
  const int32_t half = numerator < 0 ? -denominator : denominator;
  return (2 * numerator + half) / (2 * denominator);
}

using Colour = std::array<std::byte, 4>;  // red, green, blue, alpha

/// `first` of `whole` parts of one end and the rest of the other. Ends have 5, 6 and 5 bits, blue in the lowest.
Colour colour_between(uint32_t end0, uint32_t end1, int32_t first, int32_t whole) {
  const auto component = [&](uint32_t shift, int32_t most) {
    const auto of = [&](uint32_t end) { return static_cast<int32_t>(end >> shift) & most; };
    return static_cast<std::byte>(nearest((of(end0) * first + of(end1) * (whole - first)) * 255, whole * most));
  };
  return {component(11, 31), component(5, 63), component(0, 31), std::byte{255}};
}

/// Eight bytes: two ends, then two bits for each texel. Of BC1 a first end that is not the larger one leaves three
/// colours, and transparent black.
void decode_colours(const std::byte* block, bool may_have_three, std::byte* texels) {
  const uint32_t end0 = load_le<uint16_t>(block), end1 = load_le<uint16_t>(block + 2);
  const bool has_three = may_have_three && end0 <= end1;
  const std::array<Colour, 4> colours = {
      colour_between(end0, end1, 1, 1), colour_between(end0, end1, 0, 1),
      has_three ? colour_between(end0, end1, 1, 2) : colour_between(end0, end1, 2, 3),
      has_three ? Colour{} : colour_between(end0, end1, 1, 3)};
  const auto indexes = load_le<uint32_t>(block + 4);
  for (uint32_t i = 0; i < kTexels; ++i)
    std::memcpy(texels + i * sizeof(Colour), colours[indexes >> (2 * i) & 3].data(), sizeof(Colour));
}

/// What one channel of 8 bits becomes: -1 or 0 to 1 are -most or 0 to most.
struct Channel {
  bool is_signed = false;
  int32_t most = 0;
};

/// Eight bytes: two ends, then three bits for each texel. A first end that is not the larger one leaves four values
/// between them, and the least and the most that there are.
std::array<int32_t, kTexels> decode_channel(const std::byte* block, const Channel& channel) {
  const auto raw = [&](size_t i) {
    const auto byte = static_cast<uint8_t>(block[i]);
    return channel.is_signed ? int32_t{static_cast<int8_t>(byte)} : int32_t{byte};
  };
  const int32_t unit = channel.is_signed ? 127 : 255;
  const int32_t end0 = std::max(raw(0), -unit), end1 = std::max(raw(1), -unit);  // -128 is -127
  const int32_t steps = raw(0) > raw(1) ? 7 : 5;
  std::array<int32_t, 8> values = {};
  for (int32_t i = 0; i <= steps; ++i)
    values[i == 0 ? 0 : i == steps ? 1 : i + 1] = nearest((end0 * (steps - i) + end1 * i) * channel.most, steps * unit);
  if (steps == 5) {
    values[6] = channel.is_signed ? -channel.most : 0;
    values[7] = channel.most;
  }
  const uint64_t indexes = load_le<uint64_t>(block) >> 16;
  std::array<int32_t, kTexels> texels;
  for (uint32_t i = 0; i < kTexels; ++i) texels[i] = values[indexes >> (3 * i) & 7];
  return texels;
}

void decode_bc2(const std::byte* block, std::byte* texels) {
  decode_colours(block + 8, false, texels);
  const auto alphas = load_le<uint64_t>(block);
  for (uint32_t i = 0; i < kTexels; ++i) texels[i * 4 + 3] = static_cast<std::byte>((alphas >> (4 * i) & 15) * 17);
}

void decode_bc3(const std::byte* block, std::byte* texels) {
  decode_colours(block + 8, false, texels);
  const auto alphas = decode_channel(block, {false, 255});
  for (uint32_t i = 0; i < kTexels; ++i) texels[i * 4 + 3] = static_cast<std::byte>(alphas[i]);
}

/// BC4 and BC5: a block for each channel, one after the other; 16 bits of each in a texel, since 8 would lose some.
void decode_channels(const std::byte* block, uint32_t channels, bool is_signed, std::byte* texels) {
  for (uint32_t c = 0; c < channels; ++c) {
    const auto values = decode_channel(block + size_t{8} * c, {is_signed, is_signed ? 32767 : 65535});
    for (uint32_t i = 0; i < kTexels; ++i) {
      const auto value = static_cast<uint16_t>(values[i]);
      std::memcpy(texels + size_t{2} * (i * channels + c), &value, sizeof(value));
    }
  }
}

void decode_block(BlockCodec codec, const std::byte* block, std::byte* texels) {
  switch (codec) {
    case BlockCodec::bc1:
      return decode_colours(block, true, texels);
    case BlockCodec::bc2:
      return decode_bc2(block, texels);
    case BlockCodec::bc3:
      return decode_bc3(block, texels);
    case BlockCodec::bc4_unorm:
    case BlockCodec::bc4_snorm:
      return decode_channels(block, 1, codec == BlockCodec::bc4_snorm, texels);
    case BlockCodec::bc5_unorm:
    case BlockCodec::bc5_snorm:
      return decode_channels(block, 2, codec == BlockCodec::bc5_snorm, texels);
    default:
      return;
  }
}

class BcDecoder final : public BlockDecoder {
 public:
  explicit BcDecoder(const PixelFormatFacts& format)
      : codec_(format.codec), block_bytes_(format.texel_bytes), texel_bytes_(facts_of(format.texels)->texel_bytes) {}

  Result<void> decode(const BlockSlice& slice) override {
    for (uint32_t y = 0; y < slice.height; y += kSide)
      for (uint32_t x = 0; x < slice.width; x += kSide) {
        std::array<std::byte, kTexels * sizeof(Colour)> texels;
        decode_block(codec_, slice.blocks + y / kSide * slice.block_row_bytes + uint64_t{x} / kSide * block_bytes_,
                     texels.data());
        put(slice, x, y, texels.data());
      }
    return {};
  }

 private:
  /// The texels of a block that lie in the slice.
  void put(const BlockSlice& slice, uint32_t x, uint32_t y, const std::byte* texels) const {
    const uint32_t rows = std::min(kSide, slice.height - y), columns = std::min(kSide, slice.width - x);
    for (uint32_t row = 0; row < rows; ++row)
      std::memcpy(slice.texels + (uint64_t{y} + row) * slice.texel_row_bytes + uint64_t{x} * texel_bytes_,
                  texels + size_t{row} * kSide * texel_bytes_, size_t{columns} * texel_bytes_);
  }

  BlockCodec codec_;
  uint32_t block_bytes_, texel_bytes_;
};

}  // namespace

std::unique_ptr<BlockDecoder> bc_decoder(const PixelFormatFacts& format) {
  return std::make_unique<BcDecoder>(format);
}

}  // namespace smelt::loader
