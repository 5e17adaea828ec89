// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/loader/texture.hpp"

#include "smelt/base/floats.hpp"
#include "smelt/schema/cpu_abi.h"

#include "block_decoder.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace smelt::loader {
namespace {

#define SMELT_PLAIN(name, encoding, channels, order, bytes)                                                 \
  {#name, PixelFormat::name, SMELT_CPU_##encoding, channels, SMELT_CPU_##order, bytes, BlockCodec::none, 1, \
   1,     PixelFormat::name},
constexpr PixelFormatFacts kPlainFormats[] = {
#define SMELT_PIXEL_FORMAT(name, number, encoding, channels, order, bytes) \
  SMELT_PLAIN(name, encoding, channels, order, bytes)
#include "smelt/loader/pixel_formats.def"
};

/// What a texel is, is what the format of the texels says.
constexpr PixelFormatFacts compressed(std::string_view name, PixelFormat format, BlockCodec codec, uint32_t width,
                                      uint32_t height, uint32_t bytes, PixelFormat texels) {
  PixelFormatFacts facts = *std::ranges::find(kPlainFormats, texels, &PixelFormatFacts::format);
  facts.name = name;
  facts.format = format;
  facts.texel_bytes = bytes;
  facts.codec = codec;
  facts.block_width = width;
  facts.block_height = height;
  return facts;
}

constexpr PixelFormatFacts kFormats[] = {
#define SMELT_PIXEL_FORMAT(name, number, encoding, channels, order, bytes) \
  SMELT_PLAIN(name, encoding, channels, order, bytes)
#define SMELT_COMPRESSED_FORMAT(name, number, codec, width, height, bytes, texels) \
  compressed(#name, PixelFormat::name, BlockCodec::codec, width, height, bytes, PixelFormat::texels),
#include "smelt/loader/pixel_formats.def"
};
#undef SMELT_PLAIN

constexpr std::string_view kTypes[] = {"texture1d",          "texture1d_array", "texture2d",         "texture2d_array",
                                       "texture2d_ms",       "texturecube",     "texturecube_array", "texture3d",
                                       "texture2d_ms_array", "texture_buffer"};

constexpr uint32_t kMostExtent = 1 << 16;
constexpr uint64_t kMostBytes = uint64_t{1} << 40;

bool is_cube(TextureType type) {
  return type == TextureType::cube || type == TextureType::cube_array;
}
bool is_array(TextureType type) {
  return type == TextureType::d1_array || type == TextureType::d2_array || type == TextureType::cube_array ||
         type == TextureType::d2_multisample_array;
}
bool is_multisampled(TextureType type) {
  return type == TextureType::d2_multisample || type == TextureType::d2_multisample_array;
}
uint32_t at_level(uint32_t size, uint32_t level) {
  return std::max(size >> level, 1u);
}

tl::unexpected<Error> too_large() {
  return fail(Errc::invalid_argument, "a texture of more than {} bytes", kMostBytes);
}

/// Metal has compressed textures of two and three dimensions alone.
Result<void> check_compressed(TextureType type, const PixelFormatFacts& format) {
  const bool has = type == TextureType::d2 || type == TextureType::d2_array || type == TextureType::d3 || is_cube(type);
  if (has || !format.is_compressed()) return {};
  return fail(Errc::invalid_argument,
              "a {} of the compressed format {}: want a texture2d, texture2d_array, texture3d, texturecube or "
              "texturecube_array",
              to_string(type), format.name);
}

/// Whether a view in the other format shows the texels; only blocks of one kind are the same in both.
Result<void> check_seen_as(PixelFormat format, PixelFormat other) {
  const PixelFormatFacts &from = *facts_of(format), &as = *facts_of(other);
  const auto is_astc = [](BlockCodec codec) { return codec == BlockCodec::astc_srgb || codec == BlockCodec::astc_ldr; };
  const bool same_size = from.block_width == as.block_width && from.block_height == as.block_height;
  if (same_size && (from.codec == as.codec || (is_astc(from.codec) && is_astc(as.codec)))) return {};
  return fail(Errc::invalid_argument,
              "a view of {} as {}: a compressed texture is seen as its own format or as its "
              "twin with or without _srgb",
              from.name, as.name);
}

/// What a type has no more than one of.
Result<void> check_extents(const TextureDescriptor& d) {
  const bool is_flat = d.type == TextureType::d1 || d.type == TextureType::d1_array || d.type == TextureType::buffer;
  const std::string_view name = to_string(d.type);
  for (const uint32_t extent : {d.width, d.height, d.depth, d.array_length})
    if (extent == 0 || (extent > kMostExtent && d.type != TextureType::buffer))
      return fail(Errc::invalid_argument, "a {} of {} x {} x {}, {} of them: each must be from 1 to {}", name, d.width,
                  d.height, d.depth, d.array_length, kMostExtent);
  if (is_flat && d.height != 1) return fail(Errc::invalid_argument, "a {} has no height, {} was given", name, d.height);
  if (d.type != TextureType::d3 && d.depth != 1)
    return fail(Errc::invalid_argument, "a {} has no depth, {} was given", name, d.depth);
  if (!is_array(d.type) && d.array_length != 1)
    return fail(Errc::invalid_argument, "a {} is not an array, {} elements were given", name, d.array_length);
  if (is_cube(d.type) && d.width != d.height)
    return fail(Errc::invalid_argument, "a {} has square faces, {} x {} was given", name, d.width, d.height);
  if (is_multisampled(d.type) ? d.samples < 2 || d.samples > 8 || d.levels != 1 : d.samples != 1)
    return fail(Errc::invalid_argument, "a {} with {} samples and {} levels", name, d.samples, d.levels);
  const auto most = static_cast<uint32_t>(std::bit_width(std::max({d.width, d.height, d.depth})));
  if (d.levels == 0 || d.levels > std::min<uint32_t>(most, SMELT_CPU_MAX_LEVELS))
    return fail(Errc::invalid_argument, "a {} of {} x {} x {} has 1 to {} levels, {} were given", name, d.width,
                d.height, d.depth, std::min<uint32_t>(most, SMELT_CPU_MAX_LEVELS), d.levels);
  return {};
}

}  // namespace

std::span<const PixelFormatFacts> pixel_formats() {
  return kFormats;
}

const PixelFormatFacts* facts_of(PixelFormat format) {
  const auto* const found = std::ranges::find(kFormats, format, &PixelFormatFacts::format);
  return found != std::end(kFormats) ? found : nullptr;
}

const PixelFormatFacts* pixel_format_named(std::string_view name) {
  const auto* const found = std::ranges::find(kFormats, name, &PixelFormatFacts::name);
  return found != std::end(kFormats) ? found : nullptr;
}

TexelKind texel_kind(const PixelFormatFacts& format) {
  switch (format.encoding) {
    case SMELT_CPU_UINT8:
    case SMELT_CPU_UINT16:
    case SMELT_CPU_UINT32:
    case SMELT_CPU_RGB10A2_UINT:
      return TexelKind::unsigned_integer;
    case SMELT_CPU_SINT8:
    case SMELT_CPU_SINT16:
    case SMELT_CPU_SINT32:
      return TexelKind::signed_integer;
    default:
      return TexelKind::floating;
  }
}

std::string_view to_string(TextureType type) {
  return kTypes[static_cast<size_t>(type)];
}

Texture::Texture() : cpu_(new smelt_cpu_texture{}) {}
Texture::~Texture() = default;
Sampler::Sampler() : cpu_(new smelt_cpu_sampler{}) {}
Sampler::~Sampler() = default;

Result<TextureRef> Texture::make(const TextureDescriptor& descriptor, uint64_t row_bytes) {
  if (static_cast<size_t>(descriptor.type) >= std::size(kTypes))
    return fail(Errc::invalid_argument, "{} is not a texture type", static_cast<int>(descriptor.type));
  const PixelFormatFacts* const format = facts_of(descriptor.format);
  if (format == nullptr) return no_pixel_format(static_cast<uint32_t>(descriptor.format));
  SMELT_TRY_VOID(check_extents(descriptor));
  SMELT_TRY_VOID(check_compressed(descriptor.type, *format));
  TextureRef made(new Texture);
  made->descriptor_ = descriptor;
  smelt_cpu_texture& cpu = *made->cpu_;
  cpu.encoding = format->encoding;
  cpu.channels = format->channels;
  cpu.order = format->order;
  cpu.texel_bytes = format->texel_bytes;
  cpu.width = descriptor.width;
  cpu.height = descriptor.height;
  cpu.depth = descriptor.depth;
  cpu.layers = descriptor.array_length * (is_cube(descriptor.type) ? 6 : 1);
  cpu.levels = descriptor.levels;
  cpu.samples = descriptor.samples;
  uint64_t at = 0;
  for (uint32_t level = 0; level < descriptor.levels; ++level) {
    const uint32_t width = format->blocks_across(at_level(cpu.width, level));
    const uint32_t height = format->blocks_down(at_level(cpu.height, level));
    const uint64_t packed = uint64_t{width} * cpu.samples * cpu.texel_bytes;
    if (row_bytes != 0 && row_bytes < packed)
      return fail(Errc::invalid_argument, "rows of {} bytes cannot hold {} {} of {} bytes", row_bytes, width,
                  format->is_compressed() ? "blocks" : "texels", cpu.texel_bytes);
    cpu.level[level].offset = at;
    cpu.level[level].row_bytes = row_bytes != 0 ? row_bytes : packed;
    const uint64_t rows = uint64_t{height} * at_level(cpu.depth, level);
    if (cpu.level[level].row_bytes > kMostBytes / rows) return too_large();
    cpu.level[level].slice_bytes = cpu.level[level].row_bytes * height;
    at += cpu.level[level].slice_bytes * at_level(cpu.depth, level);
  }
  cpu.layer_bytes = at;
  if (at > kMostBytes / cpu.layers) return too_large();
  // Of the last row only the texels are there.
  made->bytes_ = cpu.layer_bytes * cpu.layers;
  if (row_bytes != 0)
    made->bytes_ -= row_bytes - uint64_t{format->blocks_across(cpu.width)} * cpu.samples * cpu.texel_bytes;
  return made;
}

Result<TextureRef> Texture::create(const TextureDescriptor& descriptor) {
  SMELT_TRY(TextureRef made, make(descriptor, 0));
  made->own_.reset(new (std::nothrow) std::byte[made->bytes_]());
  if (!made->own_) return fail(Errc::out_of_memory, "no memory for a texture of {} bytes", made->bytes_);
  made->memory_ = {made->own_.get(), made->bytes_};
  made->cpu_->data = reinterpret_cast<unsigned char*>(made->own_.get());
  if (facts_of(descriptor.format)->is_compressed()) SMELT_TRY_VOID(made->add_texels());
  return made;
}

Result<TextureRef> Texture::over(const TextureDescriptor& descriptor, std::span<std::byte> memory, uint64_t row_bytes,
                                 std::shared_ptr<const void> owner) {
  const PixelFormatFacts* const format = facts_of(descriptor.format);
  const bool is_compressed = format != nullptr && format->is_compressed();
  if (descriptor.levels != 1 && (!is_compressed || row_bytes != 0))
    return fail(Errc::invalid_argument, "a texture over memory has one level, {} were given", descriptor.levels);
  SMELT_TRY(TextureRef made, make(descriptor, row_bytes));
  if (memory.size() < made->bytes_ && is_compressed)
    return fail(Errc::invalid_argument,
                "{} of {} x {} with {} levels and {} slices is {} bytes of blocks, the memory has {}", format->name,
                descriptor.width, descriptor.height, descriptor.levels, uint64_t{made->layers()} * descriptor.depth,
                made->bytes_, memory.size());
  if (memory.size() < made->bytes_)
    return fail(Errc::invalid_argument, "the texture has {} bytes, the memory {}", made->bytes_, memory.size());
  made->memory_ = memory.first(made->bytes_);
  made->cpu_->data = reinterpret_cast<unsigned char*>(memory.data());
  made->owner_ = std::move(owner);
  if (is_compressed) SMELT_TRY_VOID(made->add_texels());
  return made;
}

Result<TextureRef> Texture::view(const TextureRef& of, const TextureDescriptor& descriptor, uint32_t first_level,
                                 uint32_t first_layer) {
  const smelt_cpu_texture& from = *of->cpu_;
  if (first_level >= from.levels || descriptor.levels > from.levels - first_level)
    return fail(Errc::invalid_argument, "a view of {} levels from {} on: the texture has {}", descriptor.levels,
                first_level, from.levels);
  TextureDescriptor as = descriptor;
  as.width = at_level(from.width, first_level);
  as.height = at_level(from.height, first_level);
  as.depth = at_level(from.depth, first_level);
  as.samples = from.samples;
  SMELT_TRY(TextureRef made, make(as, 0));
  smelt_cpu_texture& cpu = *made->cpu_;
  if (first_layer >= from.layers || cpu.layers > from.layers - first_layer)
    return fail(Errc::invalid_argument, "a view of {} slices from {} on: the texture has {}", cpu.layers, first_layer,
                from.layers);
  SMELT_TRY_VOID(check_seen_as(of->descriptor_.format, as.format));
  if (cpu.texel_bytes != from.texel_bytes)
    return fail(Errc::invalid_argument, "a view as {}: its texels have {} bytes, the texture's {}",
                facts_of(as.format)->name, cpu.texel_bytes, from.texel_bytes);
  std::copy_n(from.level + first_level, as.levels, cpu.level);
  cpu.layer_bytes = from.layer_bytes;
  cpu.data = from.data + first_layer * from.layer_bytes;
  made->memory_ = of->memory_.subspan(first_layer * from.layer_bytes);
  made->owner_ = of;
  if (of->texels_) SMELT_TRY_VOID(made->share_texels(of, first_level, first_layer));
  return made;
}

uint32_t Texture::layers() const {
  return cpu_->layers;
}

Result<Texture::Part> Texture::part(uint32_t level, uint32_t layer) const {
  if (level >= cpu_->levels || layer >= cpu_->layers)
    return fail(Errc::invalid_argument, "level {} of layer {}: the texture has {} levels and {} layers", level, layer,
                cpu_->levels, cpu_->layers);
  const smelt_cpu_level& of = cpu_->level[level];
  const uint64_t start = cpu_->layer_bytes * layer + of.offset;
  const uint32_t depth = at_level(cpu_->depth, level);
  const uint64_t bytes = std::min<uint64_t>(of.slice_bytes * depth, memory_.size() - start);
  return Part{memory_.subspan(start, bytes),
              at_level(cpu_->width, level),
              at_level(cpu_->height, level),
              depth,
              of.row_bytes,
              of.slice_bytes};
}

Result<SamplerRef> Sampler::create(const SamplerDescriptor& d) {
  if (d.max_anisotropy < 1 || d.max_anisotropy > 16)
    return fail(Errc::invalid_argument, "a sampler's max_anisotropy is from 1 to 16, {} was given", d.max_anisotropy);
  if (!(d.lod_min >= 0.0f) || !(d.lod_max >= d.lod_min))
    return fail(Errc::invalid_argument, "a sampler's levels go from {} to {}; want 0 <= lod_min <= lod_max", d.lod_min,
                d.lod_max);
  if (d.pixel_coordinates)
    for (const SamplerDescriptor::Address address : d.address)
      if (address == SamplerDescriptor::Address::repeat || address == SamplerDescriptor::Address::mirrored_repeat)
        return fail(Errc::invalid_argument, "a sampler with pixel coordinates cannot repeat");
  constexpr float kMostHalf = 65504.0f;
  const auto half = [&](float value) { return uint64_t{to_half_bits(std::min(value, kMostHalf))}; };
  const auto number = [](auto value) { return static_cast<uint64_t>(value); };
  SamplerRef made(new Sampler);
  // docs/formats/air.md 3.11: the fields of a constexpr sampler.
  made->cpu_->state[0] =
      number(d.address[0]) | number(d.address[1]) << 3 | number(d.address[2]) << 6 | number(d.magnify) << 9 |
      number(d.minify) << 11 | number(d.mip) << 13 | number(d.pixel_coordinates) << 15 | number(d.compare) << 16 |
      uint64_t{d.max_anisotropy - 1} << 20 | half(d.lod_min) << 24 | half(d.lod_max) << 40 | number(d.border) << 56;
  return made;
}

std::optional<TextureParameter> texture_parameter(std::string_view type_name) {
  constexpr std::string_view kArray = "array<";
  if (type_name.starts_with(kArray)) type_name.remove_prefix(kArray.size());
  const size_t open = std::min(type_name.find('<'), type_name.size());
  std::string family(type_name.substr(0, open));
  TextureParameter parameter;
  parameter.is_depth = family.starts_with("depth");
  if (parameter.is_depth) family.replace(0, 5, "texture");
  const auto* const found = std::ranges::find(kTypes, family);
  if (found == std::end(kTypes)) return std::nullopt;
  parameter.type = static_cast<TextureType>(found - std::begin(kTypes));
  const std::string_view arguments = open < type_name.size() ? type_name.substr(open + 1) : std::string_view();
  const std::string_view element = arguments.substr(0, arguments.find_first_of(",>"));
  if (element == "int" || element == "short") parameter.kind = TexelKind::signed_integer;
  if (element == "uint" || element == "ushort") parameter.kind = TexelKind::unsigned_integer;
  return parameter;
}

std::optional<std::string> misfit(const Texture& texture, std::string_view type_name) {
  const std::optional<TextureParameter> wants = texture_parameter(type_name);
  if (!wants) return std::nullopt;
  const TextureDescriptor& is = texture.descriptor();
  const PixelFormatFacts& format = *facts_of(is.format);
  if (wants->type != is.type) return fmt::format("is a {}", to_string(is.type));
  if (wants->kind != texel_kind(format)) return fmt::format("has the pixel format {}", format.name);
  if (format.is_compressed() && type_name.find("write") != std::string_view::npos)
    return fmt::format("has the compressed format {}, which kernels read and sample but cannot write", format.name);
  return std::nullopt;
}

}  // namespace smelt::loader
