// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Textures and samplers in C.
#include "handles.hpp"

using namespace smelt;
using namespace smelt::loader;
using namespace smelt::c_api;

namespace {

uint32_t at_least_one(uint32_t count) {
  return std::max(count, 1u);
}

Result<PixelFormat> to_format(uint32_t number, const char* function) {
  if (number > UINT16_MAX || facts_of(static_cast<PixelFormat>(number)) == nullptr)
    return tl::unexpected(no_pixel_format(number).value().in(function));
  return static_cast<PixelFormat>(number);
}

Result<TextureDescriptor> to_descriptor(const smelt_texture_options* given, const char* function) {
  if (given == nullptr) return null_argument(function, "options");
  SMELT_TRY(const smelt_texture_options options, read_options(given, function));
  TextureDescriptor descriptor;
  if (options.type > static_cast<uint32_t>(TextureType::buffer))
    return fail(Errc::invalid_argument, "{}: {} is not a texture type", function, options.type);
  descriptor.type = static_cast<TextureType>(options.type);
  SMELT_TRY(descriptor.format, to_format(options.pixel_format, function));
  descriptor.width = at_least_one(options.width);
  descriptor.height = at_least_one(options.height);
  descriptor.depth = at_least_one(options.depth);
  descriptor.array_length = at_least_one(options.array_length);
  descriptor.levels = at_least_one(options.levels);
  descriptor.samples = at_least_one(options.samples);
  return descriptor;
}

/// The enumerator that Metal gives this number.
template <class T>
Result<T> to_word(uint32_t number, std::initializer_list<T> words, const char* what) {
  if (number >= words.size())
    return fail(Errc::invalid_argument, "smelt_sampler_create: {} is not a valid {}", number, what);
  return words.begin()[number];
}

Result<SamplerDescriptor::Address> to_address(uint32_t number) {
  using enum SamplerDescriptor::Address;
  if (number == 1)
    return fail(Errc::unsupported, "smelt_sampler_create: AIR cannot express clamping to a mirrored edge");
  return to_word(number, {clamp_to_edge, clamp_to_edge, repeat, mirrored_repeat, clamp_to_zero, clamp_to_border},
                 "address mode");
}

Result<SamplerDescriptor> to_descriptor(const smelt_sampler_options& options) {
  using Descriptor = SamplerDescriptor;
  using Compare = Descriptor::Compare;
  Descriptor descriptor;
  for (size_t i = 0; i < 3; ++i) {
    SMELT_TRY(descriptor.address[i], to_address(options.address[i]));
  }
  const auto filters = {Descriptor::Filter::nearest, Descriptor::Filter::linear};
  SMELT_TRY(descriptor.magnify, to_word(options.magnify, filters, "filter"));
  SMELT_TRY(descriptor.minify, to_word(options.minify, filters, "filter"));
  SMELT_TRY(
      descriptor.mip,
      to_word(options.mip, {Descriptor::MipFilter::none, Descriptor::MipFilter::nearest, Descriptor::MipFilter::linear},
              "filter between levels"));
  SMELT_TRY(descriptor.compare, to_word(options.compare,
                                        {Compare::never, Compare::less, Compare::equal, Compare::less_equal,
                                         Compare::greater, Compare::not_equal, Compare::greater_equal, Compare::always},
                                        "compare function"));
  SMELT_TRY(descriptor.border, to_word(options.border,
                                       {Descriptor::Border::transparent_black, Descriptor::Border::opaque_black,
                                        Descriptor::Border::opaque_white},
                                       "border colour"));
  descriptor.pixel_coordinates = options.pixel_coordinates != 0;
  descriptor.max_anisotropy = at_least_one(options.max_anisotropy);
  descriptor.lod_min = options.lod_min;
  if (options.has_lod_max != 0) descriptor.lod_max = options.lod_max;
  return descriptor;
}

}  // namespace

void smelt_texture_retain(smelt_texture* handle) {
  retain(handle);
}
void smelt_texture_release(smelt_texture* handle) {
  release(handle);
}
void smelt_sampler_retain(smelt_sampler* handle) {
  retain(handle);
}
void smelt_sampler_release(smelt_sampler* handle) {
  release(handle);
}

smelt_status smelt_texture_create(const smelt_texture_options* options, smelt_texture** out) {
  clear(out);
  return guard([&]() -> Result<void> {
    if (out == nullptr) return null_argument("smelt_texture_create", "out");
    SMELT_TRY(const TextureDescriptor descriptor, to_descriptor(options, "smelt_texture_create"));
    return give(out, Texture::create(descriptor));
  });
}

smelt_status smelt_texture_wrap(const smelt_texture_options* options, void* memory, uint64_t size, uint64_t row_bytes,
                                void (*on_release)(void* context), void* context, smelt_texture** out) {
  clear(out);
  return guard([&]() -> Result<void> {
    if (memory == nullptr || out == nullptr) return null_argument("smelt_texture_wrap", "memory or out");
    SMELT_TRY(const TextureDescriptor descriptor, to_descriptor(options, "smelt_texture_wrap"));
    CallersMemory owner(on_release, context, memory);
    const std::span bytes(static_cast<std::byte*>(memory), static_cast<size_t>(std::min<uint64_t>(size, SIZE_MAX / 2)));
    SMELT_TRY(TextureRef texture, Texture::over(descriptor, bytes, row_bytes, owner.ref()));
    *out = new smelt_texture(std::move(texture));
    owner.take();
    return {};
  });
}

smelt_status smelt_texture_wrap_array(const smelt_array* given, const char* type, size_t type_length,
                                      uint32_t pixel_format, void (*on_release)(void* context), void* context,
                                      smelt_texture** out) {
  clear(out);
  return guard([&]() -> Result<void> {
    constexpr const char* kFunction = "smelt_texture_wrap_array";
    if (given == nullptr || out == nullptr) return null_argument(kFunction, "array or out");
    SMELT_TRY(const ArrayView view, view_of(given, kFunction));
    ArrayTexture wanted;
    if (type != nullptr) {
      const std::string_view name(type, type_length);
      const std::optional<TextureParameter> parameter = texture_parameter(name);
      if (!parameter) return fail(Errc::invalid_argument, "{}: '{}' is not a texture type", kFunction, name);
      wanted.type = parameter->type;
      wanted.is_depth = parameter->is_depth;
      if (name.find('<') != std::string_view::npos) wanted.kind = parameter->kind;
    }
    if (pixel_format != 0) {
      SMELT_TRY(wanted.format, to_format(pixel_format, kFunction));
    }
    CallersMemory owner(on_release, context, view.data);
    SMELT_TRY(TextureRef texture, texture_over(view, wanted, owner.ref()));
    *out = new smelt_texture(std::move(texture));
    owner.take();
    return {};
  });
}

smelt_status smelt_texture_get_info(const smelt_texture* texture, smelt_texture_info* info) {
  return guard([&]() -> Result<void> {
    if (texture == nullptr) return null_argument("smelt_texture_get_info", "texture");
    const TextureDescriptor& of = texture->ref->descriptor();
    smelt_texture_info filled{};
    filled.type = static_cast<uint32_t>(of.type);
    filled.pixel_format = static_cast<uint32_t>(of.format);
    filled.width = of.width;
    filled.height = of.height;
    filled.depth = of.depth;
    filled.array_length = of.array_length;
    filled.levels = of.levels;
    filled.samples = of.samples;
    filled.layers = texture->ref->layers();
    return write_info(info, filled, "smelt_texture_get_info");
  });
}

smelt_status smelt_texture_get_part(smelt_texture* texture, uint32_t level, uint32_t layer, smelt_texture_part* part) {
  return guard([&]() -> Result<void> {
    if (texture == nullptr) return null_argument("smelt_texture_get_part", "texture");
    SMELT_TRY(const Texture::Part of, texture->ref->part(level, layer));
    smelt_texture_part filled{};
    filled.data = of.bytes.data();
    filled.size = of.bytes.size();
    filled.row_bytes = of.row_bytes;
    filled.slice_bytes = of.slice_bytes;
    filled.width = of.width;
    filled.height = of.height;
    filled.depth = of.depth;
    return write_info(part, filled, "smelt_texture_get_part");
  });
}

smelt_status smelt_texture_generate_mipmaps(smelt_texture* texture) {
  return guard([&]() -> Result<void> {
    if (texture == nullptr) return null_argument("smelt_texture_generate_mipmaps", "texture");
    return generate_mipmaps(*texture->ref);
  });
}

smelt_status smelt_pixel_format_named(const char* name, size_t length, uint32_t* pixel_format) {
  clear(pixel_format);
  return guard([&]() -> Result<void> {
    if (name == nullptr || pixel_format == nullptr)
      return null_argument("smelt_pixel_format_named", "name or pixel_format");
    const PixelFormatFacts* const facts = pixel_format_named({name, length});
    if (facts == nullptr) return no_pixel_format(std::string_view(name, length));
    *pixel_format = static_cast<uint32_t>(facts->format);
    return {};
  });
}

smelt_status smelt_pixel_format_get_info(uint32_t pixel_format, smelt_pixel_format_info* info) {
  return guard([&]() -> Result<void> {
    SMELT_TRY(const PixelFormat format, to_format(pixel_format, "smelt_pixel_format_get_info"));
    const PixelFormatFacts& facts = *facts_of(format);
    const TexelElements texel = texel_elements(facts);
    smelt_pixel_format_info filled{};
    set_text(facts.name, filled.name, filled.name_length);
    filled.texel_bytes = facts.texel_bytes;
    filled.element = static_cast<int32_t>(texel.element);
    filled.channels = texel.channels;
    filled.block_width = facts.block_width;
    filled.block_height = facts.block_height;
    return write_info(info, filled, "smelt_pixel_format_get_info");
  });
}

smelt_status smelt_sampler_create(const smelt_sampler_options* given, smelt_sampler** out) {
  clear(out);
  return guard([&]() -> Result<void> {
    if (out == nullptr) return null_argument("smelt_sampler_create", "out");
    SMELT_TRY(const smelt_sampler_options options, read_options(given, "smelt_sampler_create"));
    SMELT_TRY(const SamplerDescriptor descriptor, to_descriptor(options));
    return give(out, Sampler::create(descriptor));
  });
}

smelt_status smelt_sampler_parse(const char* words, size_t length, smelt_sampler** out) {
  clear(out);
  return guard([&]() -> Result<void> {
    if (words == nullptr || out == nullptr) return null_argument("smelt_sampler_parse", "words or out");
    SMELT_TRY(const SamplerDescriptor descriptor, sampler_of_words({words, length}));
    return give(out, Sampler::create(descriptor));
  });
}
