// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compressed formats: what kernels see of blocks, held to the formulas of the Khronos Data Format Specification in
// doubles, written for this test.
#include "smelt/base/floats.hpp"
#include "smelt/loader/texture.hpp"
#include "smelt/schema/cpu_abi.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace smelt::loader {
namespace {

using Rgba = std::array<double, 4>;

unsigned bits_of(const uint8_t* block, unsigned first, unsigned count) {
  unsigned value = 0;
  for (unsigned i = 0; i < count; ++i) value |= (block[(first + i) / 8] >> ((first + i) % 8) & 1u) << i;
  return value;
}

Rgba colour_of(const uint8_t* block, unsigned texel, bool is_bc1) {
  const unsigned c0 = bits_of(block, 0, 16), c1 = bits_of(block, 16, 16), index = bits_of(block, 32 + 2 * texel, 2);
  const auto wide = [](unsigned c) { return Rgba{(c >> 11) / 31.0, (c >> 5 & 63) / 63.0, (c & 31) / 31.0, 1}; };
  const Rgba a = wide(c0), b = wide(c1);
  const auto mixed = [&](double of_a) {
    Rgba result;
    for (size_t i = 0; i < 4; ++i) result[i] = of_a * a[i] + (1 - of_a) * b[i];
    return result;
  };
  if (index < 2) return index == 0 ? a : b;
  if (is_bc1 && c0 <= c1) return index == 2 ? mixed(0.5) : Rgba{};
  return mixed(index == 2 ? 2.0 / 3 : 1.0 / 3);
}

double channel_of(const uint8_t* block, unsigned texel, bool is_signed) {
  const auto end = [&](unsigned i) { return is_signed ? int{static_cast<int8_t>(block[i])} : int{block[i]}; };
  const auto real = [&](int value) { return is_signed ? std::max(value / 127.0, -1.0) : value / 255.0; };
  const double a = real(end(0)), b = real(end(1));
  const unsigned index = bits_of(block, 16 + 3 * texel, 3);
  if (index < 2) return index == 0 ? a : b;
  if (end(0) > end(1)) return ((8.0 - index) * a + (index - 1.0) * b) / 7;
  if (index == 6) return is_signed ? -1 : 0;
  if (index == 7) return 1;
  return ((6.0 - index) * a + (index - 1.0) * b) / 5;
}

Rgba wanted_of(BlockCodec codec, const uint8_t* block, unsigned texel) {
  Rgba colour{};
  switch (codec) {
    case BlockCodec::bc1:
      return colour_of(block, texel, true);
    case BlockCodec::bc2:
      colour = colour_of(block + 8, texel, false);
      colour[3] = bits_of(block, 4 * texel, 4) / 15.0;
      return colour;
    case BlockCodec::bc3:
      colour = colour_of(block + 8, texel, false);
      colour[3] = channel_of(block, texel, false);
      return colour;
    case BlockCodec::bc4_unorm:
    case BlockCodec::bc4_snorm:
      return {channel_of(block, texel, codec == BlockCodec::bc4_snorm)};
    default:
      return {channel_of(block, texel, codec == BlockCodec::bc5_snorm),
              channel_of(block + 8, texel, codec == BlockCodec::bc5_snorm)};
  }
}

/// As a kernel reads it, but for the curve of sRGB.
Rgba seen_at(const smelt_cpu_texture& texture, uint32_t level, uint32_t layer, uint32_t x, uint32_t y, uint32_t z) {
  const smelt_cpu_level& of = texture.level[level];
  const unsigned char* const texel = texture.data + layer * texture.layer_bytes + of.offset + z * of.slice_bytes +
                                     y * of.row_bytes + uint64_t{x} * texture.texel_bytes;
  Rgba seen{};
  for (uint32_t c = 0; c < texture.channels; ++c) {
    uint16_t word;
    std::memcpy(&word, texel + size_t{2} * c, sizeof(word) * (texture.texel_bytes / texture.channels > 1));
    if (texture.encoding == SMELT_CPU_UNORM8 || texture.encoding == SMELT_CPU_SRGB8) seen[c] = texel[c] / 255.0;
    if (texture.encoding == SMELT_CPU_UNORM16) seen[c] = word / 65535.0;
    if (texture.encoding == SMELT_CPU_SNORM16) seen[c] = std::max(static_cast<int16_t>(word) / 32767.0, -1.0);
  }
  return seen;
}

/// The largest difference of all texels of a texture from what its blocks mean.
double difference(const Texture& texture) {
  const TextureDescriptor& of = texture.descriptor();
  const PixelFormatFacts& format = *facts_of(of.format);
  double largest = 0;
  for (uint32_t layer = 0; layer < texture.layers(); ++layer)
    for (uint32_t level = 0; level < of.levels; ++level) {
      const Texture::Part part = texture.part(level, layer).value();
      for (uint32_t z = 0; z < part.depth; ++z)
        for (uint32_t y = 0; y < part.height; ++y)
          for (uint32_t x = 0; x < part.width; ++x) {
            const auto* const block = reinterpret_cast<const uint8_t*>(part.bytes.data()) + z * part.slice_bytes +
                                      y / 4 * part.row_bytes + size_t{x / 4} * format.texel_bytes;
            const Rgba wanted = wanted_of(format.codec, block, y % 4 * 4 + x % 4);
            const Rgba seen = seen_at(texture.cpu(), level, layer, x, y, z);
            for (uint32_t c = 0; c < format.channels; ++c) largest = std::max(largest, std::abs(seen[c] - wanted[c]));
          }
    }
  return largest;
}

void fill(std::span<std::byte> bytes, unsigned seed) {
  std::mt19937 random(seed);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
}

TextureRef made_of(const TextureDescriptor& descriptor) {
  auto made = Texture::create(descriptor);
  REQUIRE_MESSAGE(made, made.error().message);
  return *made;
}

std::string trouble(const Result<TextureRef>& made) {
  return made ? "" : made.error().message;
}

bool says(const std::string& text, const char* words) {
  return text.find(words) != std::string::npos;
}

double most_of(const PixelFormatFacts& format) {
  return format.texels == PixelFormat::r16snorm || format.texels == PixelFormat::rg16snorm   ? 32767
         : format.texels == PixelFormat::r16unorm || format.texels == PixelFormat::rg16unorm ? 65535
                                                                                             : 255;
}

bool is_bc(const PixelFormatFacts& format) {
  return format.is_compressed() && format.codec <= BlockCodec::bc5_snorm;
}

}  // namespace

TEST_CASE("blocks of every BC format decode to what the specification says, to the nearest number") {
  size_t formats = 0;
  for (const PixelFormatFacts& format : pixel_formats()) {
    if (!is_bc(format)) continue;
    CAPTURE(format.name);
    ++formats;
    const TextureRef texture = made_of({.format = format.format, .width = 128, .height = 128});
    fill(texture->contents(), 7);
    // Ends that are alike, and the two that mean -1.
    const auto bytes = texture->contents();
    for (size_t i = 0; i < 40; ++i) bytes[i] = static_cast<std::byte>(i < 20 ? 0x80 : i % 2 + 0x80);
    REQUIRE(texture->decode());
    CHECK(difference(*texture) <= 0.5 / most_of(format) + 1e-9);
  }
  CHECK(formats == 10);
}

TEST_CASE("a block that was worked out by hand") {
  const TextureRef texture = made_of({.format = PixelFormat::bc1_rgba, .width = 4, .height = 4});
  const uint8_t block[] = {0x00, 0xf8, 0x1f, 0x00, 0xe4, 0x00, 0x00, 0x55};  // red and blue; 0 1 2 3, ..., 1 1 1 1
  std::memcpy(texture->contents().data(), block, sizeof(block));
  REQUIRE(texture->decode());
  CHECK(seen_at(texture->cpu(), 0, 0, 0, 0, 0) == Rgba{1, 0, 0, 1});
  CHECK(seen_at(texture->cpu(), 0, 0, 1, 0, 0) == Rgba{0, 0, 1, 1});
  CHECK(seen_at(texture->cpu(), 0, 0, 2, 0, 0) == Rgba{170 / 255.0, 0, 85 / 255.0, 1});
  CHECK(seen_at(texture->cpu(), 0, 0, 3, 0, 0) == Rgba{85 / 255.0, 0, 170 / 255.0, 1});
  CHECK(seen_at(texture->cpu(), 0, 0, 3, 3, 0) == Rgba{0, 0, 1, 1});
  std::swap(texture->contents()[0], texture->contents()[2]);
  std::swap(texture->contents()[1], texture->contents()[3]);
  REQUIRE(texture->decode());
  CHECK(seen_at(texture->cpu(), 0, 0, 3, 0, 0) == Rgba{});
}

TEST_CASE("levels, slices and sizes that are no multiple of a block") {
  const TextureDescriptor shapes[] = {
      {.type = TextureType::d2, .width = 13, .height = 7, .levels = 4},
      {.type = TextureType::d2, .width = 1, .height = 1},
      {.type = TextureType::d2_array, .width = 9, .height = 30, .array_length = 3, .levels = 3},
      {.type = TextureType::d3, .width = 6, .height = 5, .depth = 7, .levels = 3},
      {.type = TextureType::cube_array, .width = 10, .height = 10, .array_length = 2, .levels = 2},
  };
  for (TextureDescriptor shape : shapes)
    for (const PixelFormat format : {PixelFormat::bc1_rgba, PixelFormat::bc3_rgba_srgb, PixelFormat::bc5_rgsnorm}) {
      shape.format = format;
      const TextureRef texture = made_of(shape);
      fill(texture->contents(), 3);
      REQUIRE(texture->decode());
      CHECK(difference(*texture) < 0.002);
      // The same in memory of the caller's.
      std::vector<std::byte> memory(texture->contents().begin(), texture->contents().end());
      const auto over = Texture::over(shape, memory);
      REQUIRE_MESSAGE(over, trouble(over));
      REQUIRE((*over)->decode());
      CHECK(difference(**over) < 0.002);
      memory.pop_back();
      CHECK(says(trouble(Texture::over(shape, memory)), "bytes of blocks, the memory has"));
    }
}

TEST_CASE("rows of blocks may be apart, and blocks may change") {
  std::vector<std::byte> memory(2 * 100);
  fill(memory, 5);
  const TextureDescriptor shape{.format = PixelFormat::bc4_runorm, .width = 20, .height = 8};
  const auto texture = Texture::over(shape, memory, 100).value();
  CHECK(texture->contents().size() == 140);
  REQUIRE(texture->decode());
  CHECK(difference(*texture) < 1e-5);
  fill(memory, 6);
  CHECK(difference(*texture) > 0.1);
  REQUIRE(texture->decode());
  CHECK(difference(*texture) < 1e-5);
  CHECK(says(trouble(Texture::over(shape, memory, 30)), "rows of 30 bytes cannot hold 5 blocks of 8 bytes"));
}

TEST_CASE("views of compressed textures") {
  const TextureRef texture = made_of({.type = TextureType::d2_array,
                                      .format = PixelFormat::bc3_rgba,
                                      .width = 18,
                                      .height = 12,
                                      .array_length = 3,
                                      .levels = 3});
  fill(texture->contents(), 9);
  const auto view = Texture::view(texture, {.format = PixelFormat::bc3_rgba_srgb, .levels = 2}, 1, 2);
  REQUIRE_MESSAGE(view, trouble(view));
  CHECK((*view)->descriptor().width == 9);
  CHECK((*view)->cpu().encoding == SMELT_CPU_SRGB8);
  REQUIRE((*view)->decode());
  CHECK(difference(**view) <= 0.5 / 255 + 1e-9);
  CHECK((*view)->part(1, 0)->bytes.data() == texture->part(2, 2)->bytes.data());
  const char* const words = "a compressed texture is seen as its own format or as its twin with or without _srgb";
  for (const PixelFormat other : {PixelFormat::bc2_rgba, PixelFormat::rgba32uint, PixelFormat::bc5_rgunorm})
    CHECK(says(trouble(Texture::view(texture, {.format = other})), words));
  CHECK(says(trouble(Texture::view(made_of({.format = PixelFormat::rgba32uint}), {.format = PixelFormat::bc3_rgba})),
             words));
}

TEST_CASE("what is refused, in which words") {
  CHECK(trouble(Texture::create({.format = static_cast<PixelFormat>(152)})) ==
        "pixel format bc7_rgbaunorm (152): nothing here decodes its blocks on the CPU, and no library of Debian does; "
        "want astc_4x4_ldr, bc3_rgba or rgba8unorm");
  for (const uint32_t number : {150, 151, 153, 160, 167, 170, 172, 174, 176, 178, 179, 180, 181, 182, 183})
    CHECK(says(trouble(Texture::create({.format = static_cast<PixelFormat>(number)})),
               "no library of Debian does; want"));
  CHECK(says(no_pixel_format("etc2_rgb8").value().message, "want bc1_rgba or rgba8unorm"));
  CHECK(says(no_pixel_format("bc9").value().message, "the CPU does not support pixel format 'bc9'"));
  CHECK(says(trouble(Texture::create({.type = TextureType::d1, .format = PixelFormat::bc1_rgba, .width = 8})),
             "a texture1d of the compressed format bc1_rgba: want a texture2d"));
  const TextureRef texture = made_of({.format = PixelFormat::bc1_rgba, .width = 8, .height = 8, .levels = 2});
  CHECK(says(generate_mipmaps(*texture).error().message, "write those of every level"));
  CHECK(misfit(*texture, "texture2d<float, sample>") == std::nullopt);
  CHECK(misfit(*texture, "texture2d<half, read>") == std::nullopt);
  CHECK(
      says(misfit(*texture, "texture2d<float, write>").value_or(""), "which kernels read and sample but cannot write"));
  CHECK(says(misfit(*texture, "texture2d<float, read_write>").value_or(""), "cannot write"));
  CHECK(says(misfit(*texture, "texture2d<uint, read>").value_or(""), "has the pixel format bc1_rgba"));
}

namespace {

/// Whether libastcenc is here; says what is said where it is not.
bool has_astc() {
  const auto made = Texture::create({.format = PixelFormat::astc_4x4_ldr});
  if (made) return true;
  CHECK(made.error().code == Errc::toolchain_missing);
  CHECK(says(made.error().message, "Debian 13: libastcenc5d, Debian 12: libastcenc3d"));
  return false;
}

/// A void extent: a block of one colour, which is four words as they are (specification, C.2.23).
void put_colour(std::byte* block, bool is_hdr, const std::array<uint16_t, 4>& colour) {
  std::memset(block, 0xff, 8);
  block[0] = std::byte{0xfc};
  if (!is_hdr) block[1] = std::byte{0xfd};
  std::memcpy(block + 8, colour.data(), 8);
}

}  // namespace

TEST_CASE("every block of an ASTC texture lies where its texels are") {
  if (!has_astc()) return;
  size_t formats = 0;
  for (const PixelFormatFacts& format : pixel_formats()) {
    if (format.codec < BlockCodec::astc_srgb) continue;
    CAPTURE(format.name);
    ++formats;
    const bool is_hdr = format.codec == BlockCodec::astc_hdr;
    const TextureRef texture = made_of({.type = TextureType::d2_array,
                                        .format = format.format,
                                        .width = 31,
                                        .height = 14,
                                        .array_length = 2,
                                        .levels = 3});
    CHECK(texture->contents().size() % 16 == 0);
    for (size_t i = 0; i < texture->contents().size() / 16; ++i) {
      const auto part = static_cast<uint16_t>(i * (is_hdr ? 5 : 257));  // 257 / 65535 is 1 / 255
      put_colour(texture->contents().data() + 16 * i, is_hdr,
                 {part, 0, is_hdr ? uint16_t{0x7bff} : uint16_t{65535}, 0});
    }
    REQUIRE(texture->decode());
    const smelt_cpu_texture& cpu = texture->cpu();
    size_t wrong = 0;
    for (uint32_t layer = 0; layer < 2; ++layer)
      for (uint32_t level = 0; level < 3; ++level) {
        const Texture::Part part = texture->part(level, layer).value();
        for (uint32_t y = 0; y < part.height; ++y)
          for (uint32_t x = 0; x < part.width; ++x) {
            const size_t block =
                (part.bytes.data() - texture->contents().data() + y / format.block_height * part.row_bytes) / 16 +
                x / format.block_width;
            const unsigned char* const texel = cpu.data + layer * cpu.layer_bytes + cpu.level[level].offset +
                                               y * cpu.level[level].row_bytes + size_t{x} * cpu.texel_bytes;
            uint16_t half;
            std::memcpy(&half, texel, is_hdr ? 2 : 0);
            wrong += is_hdr ? half != block * 5 : texel[0] != block % 256 || texel[2] != 255 || texel[3] != 0;
          }
      }
    CHECK(wrong == 0);
  }
  CHECK(formats == 42);
}

// One partition of luminance (endpoint mode 0), two ends of 8 bits from bit 17 on; 4 x 4 weights of two bits each
// (block mode 0x42), which stand backwards from the last bit on and mean 0, 21, 43 and 64 of 64.
TEST_CASE("an ASTC block with weights, worked out from the specification") {
  if (!has_astc()) return;
  constexpr uint64_t kFirst = 200, kSecond = 30;
  constexpr uint32_t kWeights = 0x1be4d827;  // of texel i the bits 2 i and 2 i + 1
  std::array<uint64_t, 2> words = {0x42 | kFirst << 17 | kSecond << 25, 0};
  for (uint64_t bit = 0; bit < 32; ++bit) words[1] |= (kWeights >> bit & uint64_t{1}) << (63 - bit);
  for (const PixelFormat format : {PixelFormat::astc_4x4_ldr, PixelFormat::astc_4x4_srgb, PixelFormat::astc_4x4_hdr}) {
    const TextureRef texture = made_of({.format = format, .width = 4, .height = 4});
    std::memcpy(texture->contents().data(), words.data(), sizeof(words));
    REQUIRE(texture->decode());
    for (uint32_t i = 0; i < 16; ++i) {
      constexpr double kParts[] = {0, 21, 43, 64};
      const double part = kParts[kWeights >> (2 * i) & 3] / 64;
      const double wanted = (kFirst * (1 - part) + kSecond * part) / 255;
      const smelt_cpu_texture& cpu = texture->cpu();
      const unsigned char* const texel = cpu.data + i / 4 * cpu.level[0].row_bytes + size_t{i} % 4 * cpu.texel_bytes;
      uint16_t half;
      std::memcpy(&half, texel, sizeof(half));
      const double seen = format == PixelFormat::astc_4x4_hdr ? from_half_bits(half) : texel[0] / 255.0;
      CHECK(std::abs(seen - wanted) <= 1.0 / 255);
    }
  }
}

TEST_CASE("a view of ASTC as its twin") {
  if (!has_astc()) return;
  const TextureRef texture = made_of({.format = PixelFormat::astc_8x5_ldr, .width = 20, .height = 10, .levels = 2});
  const auto view = Texture::view(texture, {.format = PixelFormat::astc_8x5_srgb}, 1);
  REQUIRE_MESSAGE(view, trouble(view));
  put_colour((*view)->part(0, 0)->bytes.data(), false, {257 * 40, 0, 0, 65535});
  REQUIRE((*view)->decode());
  CHECK((*view)->cpu().encoding == SMELT_CPU_SRGB8);
  CHECK(seen_at((*view)->cpu(), 0, 0, 7, 4, 0) == Rgba{40 / 255.0, 0, 0, 1});
  for (const PixelFormat other : {PixelFormat::astc_8x6_ldr, PixelFormat::astc_8x5_hdr, PixelFormat::rgba32uint})
    CHECK(says(trouble(Texture::view(texture, {.format = other})), "twin with or without _srgb"));
}

}  // namespace smelt::loader
