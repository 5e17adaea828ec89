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

/// Pixel formats, with the numbers of MTLPixelFormat.
enum class PixelFormat : uint16_t {
#define SMELT_PIXEL_FORMAT(name, number, encoding, channels, order, bytes) name = number,
#define SMELT_COMPRESSED_FORMAT(name, number, codec, width, height, bytes, texels) name = number,
#include "smelt/loader/pixel_formats.def"
};

/// The type that a kernel reads from a format.
enum class TexelKind : uint8_t { floating, signed_integer, unsigned_integer };

/// How the blocks of a compressed format are encoded.
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

/// Facts about a pixel format.
struct PixelFormatFacts {
  std::string_view name;               ///< "rgba8unorm"
  PixelFormat format;                  ///< its number
  uint32_t encoding;                   ///< smelt_cpu_encoding; for a compressed format, that of `texels`
  uint32_t channels;                   ///< components; for a compressed format, those of `texels`
  uint32_t order;                      ///< smelt_cpu_order; for a compressed format, that of `texels`
  uint32_t texel_bytes;                ///< bytes of a texel; for a compressed format, of a block
  BlockCodec codec;                    ///< none: not compressed
  uint32_t block_width, block_height;  ///< texels of a block; 1 if not compressed
  PixelFormat texels;                  ///< the format that kernels see; the format itself if not compressed

  /// Whether it has blocks.
  bool is_compressed() const { return codec != BlockCodec::none; }
  /// The number of blocks or texels in a row of `width` texels.
  uint32_t blocks_across(uint32_t width) const { return (width + block_width - 1) / block_width; }
  /// The number of blocks or texels in a column of `height` texels.
  uint32_t blocks_down(uint32_t height) const { return (height + block_height - 1) / block_height; }
};
/// All formats, in the order of their numbers.
std::span<const PixelFormatFacts> pixel_formats();
/// Facts about a format; null for an unknown number.
const PixelFormatFacts* facts_of(PixelFormat format);
/// Finds a format by its name; null for an unknown name.
const PixelFormatFacts* pixel_format_named(std::string_view name);
/// The error for an unknown number: `unsupported`.
tl::unexpected<Error> no_pixel_format(uint32_t number);
/// The error for an unknown name: `unsupported`.
tl::unexpected<Error> no_pixel_format(std::string_view name);
/// The type that a kernel reads from this format.
TexelKind texel_kind(const PixelFormatFacts& format);

/// Texture types, with the numbers of MTLTextureType.
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
/// The name of Metal's class without its arguments, such as "texture2d_array".
std::string_view to_string(TextureType type);

/// A texture's type, format and extents.
struct TextureDescriptor {
  TextureType type = TextureType::d2;            ///< number of dimensions, array, cube, ...
  PixelFormat format = PixelFormat::rgba8unorm;  ///< the format of its texels
  uint32_t width = 1, height = 1, depth = 1;     ///< texels of level 0
  uint32_t array_length = 1;                     ///< of a cube array: cubes
  uint32_t levels = 1;                           ///< mip levels
  uint32_t samples = 1;                          ///< samples of a texel
};

/// Texels in memory. The descriptor does not change; kernels and the memory's owner write the memory. As with any
/// memory, the program must keep threads from using it at the same time.
///
/// For a compressed format, the memory holds blocks in rows, and kernels read and sample the decoded texels. smelt
/// decodes them when it encodes a dispatch that binds the texture, if the blocks have changed.
class Texture {
 public:
  /// Makes a texture of zeroed memory. Errors: invalid_argument; unsupported or toolchain_missing for a format that
  /// cannot be decoded.
  static Result<std::shared_ptr<Texture>> create(const TextureDescriptor& descriptor);
  /// Makes a texture of the caller's memory, which holds level 0, layer after layer, with rows `row_bytes` apart (0:
  /// without gaps). For a compressed format it may hold all levels of the first layer, then those of the next, without
  /// gaps. The texture keeps `owner`. Errors: as create(), and invalid_argument for memory that is too short.
  static Result<std::shared_ptr<Texture>> over(const TextureDescriptor& descriptor, std::span<std::byte> memory,
                                               uint64_t row_bytes = 0, std::shared_ptr<const void> owner = {});

  /// Makes a view of some levels and layers of another texture, in the same memory. It may have another type, or
  /// another format of the same size (for a compressed format: its twin with or without _srgb). `descriptor` gives
  /// type, format, and numbers of levels and elements (cubes). The view keeps the texture. Errors: invalid_argument.
  static Result<std::shared_ptr<Texture>> view(const std::shared_ptr<Texture>& of, const TextureDescriptor& descriptor,
                                               uint32_t first_level = 0, uint32_t first_layer = 0);

  ~Texture();
  Texture(const Texture&) = delete;
  Texture& operator=(const Texture&) = delete;

  /// Its type, format and extents.
  const TextureDescriptor& descriptor() const { return descriptor_; }
  /// The number of slices of an array, or of faces: six for each cube.
  uint32_t layers() const;
  /// All its memory.
  std::span<std::byte> contents() const { return memory_; }
  /// The memory of one level of one layer.
  struct Part {
    std::span<std::byte> bytes;       ///< from its first texel or block on
    uint32_t width, height, depth;    ///< in texels
    uint64_t row_bytes, slice_bytes;  ///< from one row of texels or blocks, from one slice of a 3D texture to the next
  };
  /// Finds the memory of one level of one layer (a slice of an array, or one of six faces of each cube).
  Result<Part> part(uint32_t level, uint32_t layer) const;

  /// Decodes blocks that have changed; does nothing if the format is not compressed. An encoder calls it for a bound
  /// texture. If cpu() is in an argument buffer, call it after each write.
  Result<void> decode();

  /// The record that CPU code uses (smelt/schema/cpu_abi.h). Its address is the texture's handle in an argument buffer.
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
/// A shared texture.
using TextureRef = std::shared_ptr<Texture>;

/// A sampler's states, with the names and numbers of Metal's constexpr samplers.
struct SamplerDescriptor {
  /// Coordinates outside the texture.
  enum class Address : uint8_t { clamp_to_zero, clamp_to_edge, repeat, mirrored_repeat, clamp_to_border };
  /// How texels of a level are combined.
  enum class Filter : uint8_t { nearest, linear };
  /// How levels are combined.
  enum class MipFilter : uint8_t { none, nearest, linear };
  /// The comparison of sample_compare.
  enum class Compare : uint8_t { none, less, less_equal, greater, greater_equal, equal, not_equal, always, never };
  /// The colour of clamp_to_border.
  enum class Border : uint8_t { transparent_black, opaque_black, opaque_white };

  /// For s, t and r.
  std::array<Address, 3> address = {Address::clamp_to_edge, Address::clamp_to_edge, Address::clamp_to_edge};
  Filter magnify = Filter::nearest, minify = Filter::nearest;  ///< for enlarged and for reduced textures
  MipFilter mip = MipFilter::none;                             ///< between levels
  bool pixel_coordinates = false;                              ///< coordinates count texels
  Compare compare = Compare::never;                            ///< for depth textures
  Border border = Border::transparent_black;                   ///< for clamp_to_border
  uint32_t max_anisotropy = 1;                                 ///< 1 to 16
  float lod_min = 0.0f, lod_max = 65504.0f;                    ///< bounds of the level, kept as halves, as in AIR
};

/// Reads states in the words of Metal source: "filter::linear, address::repeat, lod_clamp(0, 2)". Errors:
/// invalid_argument.
Result<SamplerDescriptor> sampler_of_words(std::string_view words);

/// A sampler. Immutable.
class Sampler {
 public:
  /// Makes a sampler.
  static Result<std::shared_ptr<Sampler>> create(const SamplerDescriptor& descriptor);
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;
  /// The record that CPU code uses. Its address is the sampler's handle in an argument buffer.
  const smelt_cpu_sampler& cpu() const { return *cpu_; }

 private:
  Sampler();
  std::unique_ptr<smelt_cpu_sampler> cpu_;
};
/// A shared sampler.
using SamplerRef = std::shared_ptr<Sampler>;

/// The textures that fit an argument of a kernel.
struct TextureParameter {
  TextureType type = TextureType::d2;    ///< the type of texture
  TexelKind kind = TexelKind::floating;  ///< the type that the kernel reads
  bool is_depth = false;                 ///< depth2d and others
};
/// Reads the type of an argument, such as "texture2d<float, sample>" from a package, or "texture2d" alone; nothing if
/// it is not a texture.
std::optional<TextureParameter> texture_parameter(std::string_view type_name);

/// Compares a texture with the type of a kernel's argument. Returns nothing if it fits, else why it does not.
std::optional<std::string> misfit(const Texture& texture, std::string_view type_name);

/// An array in memory, as NumPy and DLPack describe it.
struct ArrayView {
  std::byte* data = nullptr;                 ///< its first element
  std::span<const uint64_t> shape;           ///< number of elements in each dimension
  std::span<const int64_t> strides;          ///< bytes; empty: the order of indexes, without gaps
  ScalarType element = ScalarType::unknown;  ///< the type of an element
};
/// Properties of a texture that its array does not have.
struct ArrayTexture {
  std::optional<TextureType> type;    ///< default: by the number of dimensions, texture1d or texture2d
  std::optional<PixelFormat> format;  ///< default: by the elements, the channels and `kind`
  std::optional<TexelKind> kind;      ///< default: normalised for 8 and 16 bits, integers for 32 bits
  bool is_depth = false;              ///< a depth texture
};
/// Makes a texture of an array's memory. The array's indexes are those of the type, outermost first: elements of an
/// array, faces, depth, height, width, samples; then optionally the channels. There may be gaps only between rows.
/// Errors: argument_type (there is no such texture), argument_mismatch (the array does not fit `wanted`).
Result<std::shared_ptr<Texture>> texture_over(const ArrayView& array, const ArrayTexture& wanted,
                                              std::shared_ptr<const void> owner = {});

/// The elements of a texel in an array. A format that packs its channels into one word has one element and no channels.
struct TexelElements {
  ScalarType element = ScalarType::unknown;  ///< the type of an element
  uint32_t channels = 0;                     ///< 0: the texel is one element
};
/// The elements of a texel of this format.
TexelElements texel_elements(const PixelFormatFacts& format);

/// Computes each level from the one before; each texel is the mean of two in each direction. Errors: unsupported for
/// integers, formats of one word and compressed ones.
Result<void> generate_mipmaps(Texture& texture);

}  // namespace smelt::loader
