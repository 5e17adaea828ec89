// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Textures and samplers that the cpu device binds (docs/reference/textures.md).
#pragma once

#include "smelt/base/bytes.hpp"
#include "smelt/base/result.hpp"
#include "smelt/loader/types.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

struct smelt_cpu_texture;
struct smelt_cpu_sampler;

namespace smelt::loader {

/// The numbers of MTLPixelFormat.
enum class PixelFormat : uint16_t {
#define SMELT_PIXEL_FORMAT(name, number, encoding, channels, order, bytes) name = number,
#define SMELT_COMPRESSED_FORMAT(name, number, codec, width, height, bytes, texels) name = number,
#include "smelt/loader/pixel_formats.def"
};

/// What the components of a format are to a kernel.
enum class TexelKind : uint8_t { floating, signed_integer, unsigned_integer };

/// What the blocks of a compressed format are.
enum class BlockCodec : uint8_t {
  none,
  bc1,
  bc2,
  bc3,
  bc4_unorm,
  bc4_snorm,
  bc5_unorm,
  bc5_snorm,
  astc_srgb,
  astc_ldr,
  astc_hdr
};

struct PixelFormatFacts {
  std::string_view name;  ///< "rgba8unorm"
  PixelFormat format;
  uint32_t encoding;  ///< smelt_cpu_encoding
  uint32_t channels;
  uint32_t order;                      ///< smelt_cpu_order
  uint32_t texel_bytes;                ///< of a compressed format those of a block; what stands above is of its texels
  BlockCodec codec;                    ///< none: not compressed
  uint32_t block_width, block_height;  ///< in texels; 1 and 1 of what is not compressed
  PixelFormat texels;                  ///< what kernels see; else the format itself

  bool is_compressed() const { return codec != BlockCodec::none; }
  /// How many blocks, or texels, cover that many texels.
  uint32_t blocks_across(uint32_t width) const { return (width + block_width - 1) / block_width; }
  uint32_t blocks_down(uint32_t height) const { return (height + block_height - 1) / block_height; }
};
/// By number.
std::span<const PixelFormatFacts> pixel_formats();
/// Null for a number that is no format of the table.
const PixelFormatFacts* facts_of(PixelFormat format);
const PixelFormatFacts* pixel_format_named(std::string_view name);
/// Why there is no such format. Errors: unsupported.
tl::unexpected<Error> no_pixel_format(uint32_t number);
tl::unexpected<Error> no_pixel_format(std::string_view name);
TexelKind texel_kind(const PixelFormatFacts& format);

/// The numbers of MTLTextureType.
enum class TextureType : uint8_t {
  d1 = 0,
  d1_array = 1,
  d2 = 2,
  d2_array = 3,
  d2_multisample = 4,
  cube = 5,
  cube_array = 6,
  d3 = 7,
  d2_multisample_array = 8,
  buffer = 9
};
/// "texture2d_array", as Metal's classes are called without their arguments.
std::string_view to_string(TextureType type);

struct TextureDescriptor {
  TextureType type = TextureType::d2;
  PixelFormat format = PixelFormat::rgba8unorm;
  uint32_t width = 1, height = 1, depth = 1;
  uint32_t array_length = 1;  ///< of a cube array: cubes
  uint32_t levels = 1;
  uint32_t samples = 1;
};

/// Texels in memory. The description does not change; the memory is written by kernels and by whoever has it. Threads:
/// as memory.
///
/// Of a compressed format the memory has blocks, row after row of them, and kernels read and sample what they decode
/// to. It is decoded when a dispatch that binds the texture is encoded, if the blocks are others than before.
class Texture {
 public:
  /// With memory of its own, all zero. Errors: invalid_argument; unsupported and toolchain_missing for formats that
  /// nothing decodes.
  static Result<std::shared_ptr<Texture>> create(const TextureDescriptor& descriptor);
  /// Over memory of the caller's: level 0 alone, layer after layer, rows `row_bytes` apart (0: without gaps). Of a
  /// compressed format it may be all levels of the first layer, then those of the next, without gaps. `owner` is kept
  /// as long as the texture. Errors: as create(), and invalid_argument for memory that is too short.
  static Result<std::shared_ptr<Texture>> over(const TextureDescriptor& descriptor, std::span<std::byte> memory,
                                               uint64_t row_bytes = 0, std::shared_ptr<const void> owner = {});

  /// Some of the levels and layers of another, in the same memory, which it keeps; maybe as another type, or in another
  /// format of as many bytes (a compressed one: its twin with or without _srgb). `descriptor` has the type, the format,
  /// how many levels and elements (cubes). Errors: invalid_argument.
  static Result<std::shared_ptr<Texture>> view(const std::shared_ptr<Texture>& of, const TextureDescriptor& descriptor,
                                               uint32_t first_level = 0, uint32_t first_layer = 0);

  ~Texture();
  Texture(const Texture&) = delete;
  Texture& operator=(const Texture&) = delete;

  const TextureDescriptor& descriptor() const { return descriptor_; }
  /// Slices of an array, six faces of each cube.
  uint32_t layers() const;
  /// All its memory.
  std::span<std::byte> contents() const { return memory_; }
  /// The part of one level of one layer (a slice of an array, six faces of each cube), and its rows.
  struct Part {
    std::span<std::byte> bytes;
    uint32_t width, height, depth;    ///< in texels
    uint64_t row_bytes, slice_bytes;  ///< from one row of texels or blocks, from one slice of a 3D texture to the next
  };
  Result<Part> part(uint32_t level, uint32_t layer) const;

  /// Brings what kernels see up to date with the blocks; nothing to do where the format is not compressed. An encoder
  /// calls it for what it binds; a texture whose cpu() is in an argument buffer wants it after each write.
  Result<void> decode();

  /// What the CPU's code is handed (smelt/schema/cpu_abi.h).
  const smelt_cpu_texture& cpu() const { return *(texels_ ? texels_->cpu_ : cpu_); }

 private:
  struct Decoded;
  Texture();
  static Result<std::shared_ptr<Texture>> make(const TextureDescriptor& descriptor, uint64_t row_bytes);
  Result<void> add_texels();
  Result<void> decode_changed();
  Result<void> share_texels(const std::shared_ptr<Texture>& of, uint32_t first_level, uint32_t first_layer);

  TextureDescriptor descriptor_;
  std::unique_ptr<smelt_cpu_texture> cpu_;  // where what is in `memory_` lies
  uint64_t bytes_ = 0;
  std::span<std::byte> memory_;
  std::unique_ptr<std::byte[]> own_;
  std::shared_ptr<const void> owner_;
  // Of a compressed format:
  std::shared_ptr<Texture> texels_;
  std::shared_ptr<Texture> decoded_in_;  // the texture that this is a view of, where its texels are those of this
  std::unique_ptr<Decoded> decoded_;
};
using TextureRef = std::shared_ptr<Texture>;

/// Names and numbers of a constexpr sampler's states in Metal.
struct SamplerDescriptor {
  enum class Address : uint8_t { clamp_to_zero, clamp_to_edge, repeat, mirrored_repeat, clamp_to_border };
  enum class Filter : uint8_t { nearest, linear };
  enum class MipFilter : uint8_t { none, nearest, linear };
  enum class Compare : uint8_t { none, less, less_equal, greater, greater_equal, equal, not_equal, always, never };
  enum class Border : uint8_t { transparent_black, opaque_black, opaque_white };

  std::array<Address, 3> address = {Address::clamp_to_edge, Address::clamp_to_edge, Address::clamp_to_edge};
  Filter magnify = Filter::nearest, minify = Filter::nearest;
  MipFilter mip = MipFilter::none;
  bool pixel_coordinates = false;
  Compare compare = Compare::never;
  Border border = Border::transparent_black;
  uint32_t max_anisotropy = 1;               ///< 1 to 16
  float lod_min = 0.0f, lod_max = 65504.0f;  ///< kept as halves, as AIR has them
};

/// In the words of Metal source: "filter::linear, address::repeat, lod_clamp(0, 2)". Errors: invalid_argument.
Result<SamplerDescriptor> sampler_of_words(std::string_view words);

class Sampler {
 public:
  static Result<std::shared_ptr<Sampler>> create(const SamplerDescriptor& descriptor);
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;
  const smelt_cpu_sampler& cpu() const { return *cpu_; }

 private:
  Sampler();
  std::unique_ptr<smelt_cpu_sampler> cpu_;
};
using SamplerRef = std::shared_ptr<Sampler>;

/// What a kernel's argument takes.
struct TextureParameter {
  TextureType type = TextureType::d2;
  TexelKind kind = TexelKind::floating;
  bool is_depth = false;
};
/// Of "texture2d<float, sample>", as packages have it, or of "texture2d" alone; nothing for what is no texture.
std::optional<TextureParameter> texture_parameter(std::string_view type_name);

/// Whether a texture is what a kernel's argument of this type takes; else why not.
std::optional<std::string> misfit(const Texture& texture, std::string_view type_name);

/// An array in memory, as NumPy and DLPack describe it. `data` is its first element.
struct ArrayView {
  std::byte* data = nullptr;
  std::span<const uint64_t> shape;
  std::span<const int64_t> strides;  ///< bytes; empty: the order of indexes, without gaps
  ScalarType element = ScalarType::unknown;
};
/// What of a texture its array does not say.
struct ArrayTexture {
  std::optional<TextureType> type;    ///< else by the number of dimensions: texture1d, texture2d
  std::optional<PixelFormat> format;  ///< else by the elements, the channels and `kind`
  std::optional<TexelKind> kind;      ///< else of 8 and 16 bits normalised, of 32 bits whole numbers
  bool is_depth = false;
};
/// The texture that an array is; its memory is the texture's. Indexes are those of the type, outermost first: elements
/// of an array, faces, depth, height, width, samples; then, where there is one more, the channels. Texels and what is
/// in them lie together, rows may be apart. Errors: argument_type (no such texture), argument_mismatch (not what
/// `wanted` says).
Result<std::shared_ptr<Texture>> texture_over(const ArrayView& array, const ArrayTexture& wanted,
                                              std::shared_ptr<const void> owner = {});

/// A texel as an array's elements: of a format of one word that word, without channels.
struct TexelElements {
  ScalarType element = ScalarType::unknown;
  uint32_t channels = 0;  ///< 0: the texel is one element
};
TexelElements texel_elements(const PixelFormatFacts& format);

/// Every level from the one before, each texel the mean of two in each direction. Errors: unsupported for integers,
/// formats of one word and compressed ones.
Result<void> generate_mipmaps(Texture& texture);

}  // namespace smelt::loader
