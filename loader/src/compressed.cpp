// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Textures of compressed formats: their memory has blocks, and kernels see the texels that these decode to.
#include "block_decoder.hpp"

#include <cstring>
#include <new>

namespace smelt::loader {
namespace {

struct RefusedFormat {
  std::string_view name;
  uint32_t number;
  std::string_view instead;
};
constexpr RefusedFormat kRefused[] = {
#define SMELT_REFUSED_FORMAT(name, number, instead) {#name, number, instead},
#include "smelt/loader/pixel_formats.def"
};

tl::unexpected<Error> refused(const RefusedFormat& format) {
  return fail(
      Errc::unsupported,
      "pixel format {} ({}): nothing here decodes its blocks on the CPU, and no library of Debian does; want {}",
      format.name, format.number, format.instead);
}

/// Every slice of a level of a layer.
Result<void> decode_part(BlockDecoder& decoder, const Texture::Part& from, const Texture::Part& into) {
  for (uint32_t z = 0; z < from.depth; ++z)
    SMELT_TRY_VOID(decoder.decode({.blocks = from.bytes.data() + z * from.slice_bytes,
                                   .block_row_bytes = from.row_bytes,
                                   .texels = into.bytes.data() + z * into.slice_bytes,
                                   .texel_row_bytes = into.row_bytes,
                                   .width = from.width,
                                   .height = from.height}));
  return {};
}

}  // namespace

tl::unexpected<Error> no_pixel_format(uint32_t number) {
  for (const RefusedFormat& format : kRefused)
    if (format.number == number) return refused(format);
  return fail(Errc::unsupported, "the CPU does not support pixel format {}", number);
}

tl::unexpected<Error> no_pixel_format(std::string_view name) {
  for (const RefusedFormat& format : kRefused)
    if (format.name == name) return refused(format);
  return fail(Errc::unsupported, "the CPU does not support pixel format '{}' (docs/reference/textures.md)", name);
}

Result<std::unique_ptr<BlockDecoder>> BlockDecoder::create(const PixelFormatFacts& format) {
  return format.codec < BlockCodec::astc_srgb ? bc_decoder(format) : astc_decoder(format);
}

Result<void> Texture::add_texels() {
  const PixelFormatFacts& format = *facts_of(descriptor_.format);
  SMELT_TRY_VOID(BlockDecoder::create(format));  // says now what it would say later
  TextureDescriptor descriptor = descriptor_;
  descriptor.format = format.texels;
  SMELT_TRY(texels_, create(descriptor));
  decoded_ = std::make_unique<Decoded>();
  return {};
}

/// Of a view: texels of blocks of one kind are the same numbers, sRGB or not. ASTC rounds otherwise for sRGB.
Result<void> Texture::share_texels(const TextureRef& of, uint32_t first_level, uint32_t first_layer) {
  if (facts_of(descriptor_.format)->codec != facts_of(of->descriptor_.format)->codec) return add_texels();
  TextureDescriptor descriptor = descriptor_;
  descriptor.format = facts_of(descriptor_.format)->texels;
  SMELT_TRY(texels_, view(of->texels_, descriptor, first_level, first_layer));
  decoded_in_ = of;
  return {};
}

Result<void> Texture::decode() {
  if (!texels_) return {};
  if (decoded_in_) return decoded_in_->decode();
  const std::scoped_lock lock(decoded_->mutex);
  auto done = decode_changed();
  if (!done) decoded_->blocks.reset();  // next time all of it
  return done;
}

/// The levels whose blocks are not those that were decoded: whoever has the memory may write it without a word.
Result<void> Texture::decode_changed() {
  std::unique_ptr<std::byte[]>& seen = decoded_->blocks;
  const bool is_first = !seen;
  if (is_first) seen.reset(new (std::nothrow) std::byte[memory_.size()]);
  if (!seen) return fail(Errc::out_of_memory, "no memory for a copy of {} bytes of blocks", memory_.size());
  std::unique_ptr<BlockDecoder> decoder;
  for (uint32_t layer = 0; layer < layers(); ++layer)
    for (uint32_t level = 0; level < descriptor_.levels; ++level) {
      SMELT_TRY(const Part from, part(level, layer));
      std::byte* const before = seen.get() + (from.bytes.data() - memory_.data());
      if (!is_first && std::memcmp(before, from.bytes.data(), from.bytes.size()) == 0) continue;
      std::memcpy(before, from.bytes.data(), from.bytes.size());
      SMELT_TRY(const Part into, texels_->part(level, layer));
      if (!decoder) {
        SMELT_TRY(decoder, BlockDecoder::create(*facts_of(descriptor_.format)));
      }
      SMELT_TRY_VOID(decode_part(*decoder, from, into));
    }
  return {};
}

}  // namespace smelt::loader
