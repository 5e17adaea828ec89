// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Metal/Metal.hpp"
#include "foundation/nil.hpp"
#include "holder.hpp"
#include "resource_object.hpp"
#include "validation.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace smelt::metal {

TextureObject::~TextureObject() {
  if (!parent && !buffer && device != nullptr) device->allocated -= bytes;
}

namespace {

/// Blocks are not cut: a box begins at one, and ends with one or at the level's edge.
std::string trouble_with_blocks(const loader::PixelFormatFacts& format, const loader::Texture::Part& part,
                                const MTL::Origin& origin, const MTL::Size& size) {
  const auto cuts = [](uint64_t at, uint64_t count, uint64_t whole, uint64_t block) {
    return at % block != 0 || (count % block != 0 && at + count != whole);
  };
  if (!cuts(origin.x, size.width, part.width, format.block_width) &&
      !cuts(origin.y, size.height, part.height, format.block_height))
    return {};
  return fmt::format("origin ({}, {}) and size ({}, {}) cut blocks of {} x {} texels of {}", origin.x, origin.y,
                     size.width, size.height, format.block_width, format.block_height, format.name);
}

}  // namespace

TexelBox box_of(const TextureObject& texture, uint64_t slice, uint64_t level, const MTL::Origin& origin,
                const MTL::Size& size) {
  TexelBox box;
  constexpr uint64_t kMost = UINT32_MAX;
  const auto part = texture.texture->part(static_cast<uint32_t>(std::min(level, kMost)),
                                          static_cast<uint32_t>(std::min(slice, kMost)));
  if (!part) {
    box.trouble = part.error().message;
    return box;
  }
  const auto lies_in = [](uint64_t at, uint64_t count, uint64_t whole) { return at <= whole && count <= whole - at; };
  if (!lies_in(origin.x, size.width, part->width) || !lies_in(origin.y, size.height, part->height) ||
      !lies_in(origin.z, size.depth, part->depth)) {
    box.trouble =
        fmt::format("origin ({}, {}, {}) and size ({}, {}, {}) go past level {} of {} x {} x {}", origin.x, origin.y,
                    origin.z, size.width, size.height, size.depth, level, part->width, part->height, part->depth);
    return box;
  }
  const loader::TextureDescriptor& of = texture.texture->descriptor();
  const loader::PixelFormatFacts& format = *loader::facts_of(of.format);
  box.trouble = trouble_with_blocks(format, *part, origin, size);
  box.texel_bytes = uint64_t{format.texel_bytes} * of.samples;
  box.row_bytes = part->row_bytes;
  box.slice_bytes = part->slice_bytes;
  box.across = format.blocks_across(static_cast<uint32_t>(size.width));
  box.rows = format.blocks_down(static_cast<uint32_t>(size.height));
  box.start = part->bytes.data() + origin.z * box.slice_bytes + origin.y / format.block_height * box.row_bytes +
              origin.x / format.block_width * box.texel_bytes;
  return box;
}

Result<void> run_copy(const BoxCopy& copy) {
  for (uint64_t slice = 0; slice < copy.slices; ++slice)
    for (uint64_t row = 0; row < copy.rows; ++row)
      std::memmove(copy.destination + slice * copy.destination_slice + row * copy.destination_row,
                   copy.source + slice * copy.source_slice + row * copy.source_row, copy.bytes);
  // Kernels may see it through an argument buffer, which nothing looks into at a launch.
  return copy.into != nullptr ? copy.into->decode() : Result<void>();
}

namespace {

struct TextureValues {
  static constexpr std::string_view kClass = "MTLTextureDescriptor";
  MTL::TextureType type = MTL::TextureType2D;
  MTL::PixelFormat format = MTL::PixelFormatRGBA8Unorm;
  NS::UInteger width = 1, height = 1, depth = 1, levels = 1, samples = 1, array_length = 1;
  MTL::ResourceOptions options = MTL::ResourceStorageModeManaged;  // Metal's default on a Mac
  MTL::TextureUsage usage = MTL::TextureUsageShaderRead;
  bool optimised = true;
};

struct SamplerValues {
  static constexpr std::string_view kClass = "MTLSamplerDescriptor";
  NS::SharedPtr<NS::String> label;
  MTL::SamplerMinMagFilter minify = MTL::SamplerMinMagFilterNearest, magnify = MTL::SamplerMinMagFilterNearest;
  MTL::SamplerMipFilter mip = MTL::SamplerMipFilterNotMipmapped;
  NS::UInteger anisotropy = 1;
  MTL::SamplerAddressMode s = MTL::SamplerAddressModeClampToEdge, t = MTL::SamplerAddressModeClampToEdge,
                          r = MTL::SamplerAddressModeClampToEdge;
  MTL::SamplerBorderColor border = MTL::SamplerBorderColorTransparentBlack;
  bool normalised = true, average = false, in_argument_buffers = false;
  float least = 0, most = 3.4028235e38f;
  MTL::CompareFunction compare = MTL::CompareFunctionNever;
};

void put_option_bits(MTL::ResourceOptions& options, MTL::ResourceOptions mask, MTL::ResourceOptions bits) {
  options = (options & ~mask) | bits;
}

loader::TextureDescriptor descriptor_of(const TextureValues& values) {
  const auto narrow = [](NS::UInteger count) {
    return static_cast<uint32_t>(std::min<NS::UInteger>(count, UINT32_MAX));
  };
  loader::TextureDescriptor descriptor;
  descriptor.type = static_cast<loader::TextureType>(values.type);
  descriptor.format = static_cast<loader::PixelFormat>(values.format);
  descriptor.width = narrow(values.width);
  descriptor.height = narrow(values.height);
  descriptor.depth = narrow(values.depth);
  descriptor.array_length = narrow(values.array_length);
  descriptor.levels = narrow(values.levels);
  descriptor.samples = narrow(values.samples);
  return descriptor;
}

/// Owned by the caller.
TextureObject* texture_object(DeviceObject& device, loader::TextureRef texture, MTL::ResourceOptions options,
                              MTL::TextureUsage usage) {
  auto* made = new TextureObject;
  made->device = &device;
  made->bytes = texture->contents().size();
  made->texture = std::move(texture);
  made->usage = usage;
  made->options = (options & kTrackingMask) == 0 ? options | MTL::ResourceHazardTrackingModeTracked : options;
  return made;
}

uint32_t levels_of(uint64_t width, uint64_t height) {
  return static_cast<uint32_t>(std::bit_width(std::max(width, height)));
}

Result<loader::SamplerDescriptor::Address> address_of(MTL::SamplerAddressMode mode) {
  using enum loader::SamplerDescriptor::Address;
  switch (mode) {
    case MTL::SamplerAddressModeClampToEdge:
      return clamp_to_edge;
    case MTL::SamplerAddressModeRepeat:
      return repeat;
    case MTL::SamplerAddressModeMirrorRepeat:
      return mirrored_repeat;
    case MTL::SamplerAddressModeClampToZero:
      return clamp_to_zero;
    case MTL::SamplerAddressModeClampToBorderColor:
      return clamp_to_border;
    case MTL::SamplerAddressModeMirrorClampToEdge:
      break;
  }
  return fail(Errc::unsupported, "address mode {} is not supported", static_cast<NS::UInteger>(mode));
}

loader::SamplerDescriptor::Compare compare_of(MTL::CompareFunction function) {
  using enum loader::SamplerDescriptor::Compare;
  constexpr loader::SamplerDescriptor::Compare kWords[] = {never,   less,      equal,         less_equal,
                                                           greater, not_equal, greater_equal, always};
  return kWords[std::min<size_t>(function, std::size(kWords) - 1)];
}

Result<loader::SamplerRef> make_sampler(const SamplerValues& values) {
  loader::SamplerDescriptor descriptor;
  SMELT_TRY(descriptor.address[0], address_of(values.s));
  SMELT_TRY(descriptor.address[1], address_of(values.t));
  SMELT_TRY(descriptor.address[2], address_of(values.r));
  descriptor.minify = static_cast<loader::SamplerDescriptor::Filter>(values.minify);
  descriptor.magnify = static_cast<loader::SamplerDescriptor::Filter>(values.magnify);
  descriptor.mip = static_cast<loader::SamplerDescriptor::MipFilter>(values.mip);
  descriptor.border = static_cast<loader::SamplerDescriptor::Border>(values.border);
  descriptor.compare = compare_of(values.compare);
  descriptor.pixel_coordinates = !values.normalised;
  descriptor.max_anisotropy = static_cast<uint32_t>(std::min<NS::UInteger>(values.anisotropy, UINT32_MAX));
  descriptor.lod_min = values.least;
  descriptor.lod_max = values.most;
  return loader::Sampler::create(descriptor);
}

/// Between a texture and the program's memory, which has rows of blocks where the format is compressed.
void move_region(const char* call, const TextureObject& texture, const MTL::Region& region, uint64_t level,
                 uint64_t slice, std::byte* memory, uint64_t row_bytes, uint64_t image_bytes, bool into_texture) {
  if (is_private(texture.options)) {
    misuse(call, "the texture is private; copy it by a blit command encoder");
    return;
  }
  const TexelBox box = box_of(texture, slice, level, region.origin, region.size);
  if (memory == nullptr || !box.trouble.empty()) {
    misuse(call, "{}", memory == nullptr ? "pixelBytes is null" : box.trouble);
    return;
  }
  const uint64_t bytes = box.across * box.texel_bytes;
  if ((box.rows > 1 || region.size.depth > 1) && row_bytes < bytes) {
    misuse(call, "bytesPerRow {} is less than a row of {} bytes", row_bytes, bytes);
    return;
  }
  BoxCopy copy;
  copy.bytes = bytes;
  copy.rows = box.rows;
  copy.slices = region.size.depth;
  copy.source = into_texture ? memory : box.start;
  copy.source_row = into_texture ? row_bytes : box.row_bytes;
  copy.source_slice = into_texture ? image_bytes : box.slice_bytes;
  copy.destination = into_texture ? box.start : memory;
  copy.destination_row = into_texture ? box.row_bytes : row_bytes;
  copy.destination_slice = into_texture ? box.slice_bytes : image_bytes;
  if (into_texture) copy.into = texture.texture.get();
  if (const auto done = run_copy(copy); !done) misuse(call, "{}", done.error().message);
}

}  // namespace
}  // namespace smelt::metal

namespace MTL {
using namespace smelt::metal;

SMELT_DESCRIPTOR(TextureDescriptor, TextureValues)
SMELT_VALUE(TextureDescriptor, TextureType, textureType, setTextureType, type)
SMELT_VALUE(TextureDescriptor, PixelFormat, pixelFormat, setPixelFormat, format)
SMELT_VALUE(TextureDescriptor, NS::UInteger, width, setWidth, width)
SMELT_VALUE(TextureDescriptor, NS::UInteger, height, setHeight, height)
SMELT_VALUE(TextureDescriptor, NS::UInteger, depth, setDepth, depth)
SMELT_VALUE(TextureDescriptor, NS::UInteger, mipmapLevelCount, setMipmapLevelCount, levels)
SMELT_VALUE(TextureDescriptor, NS::UInteger, sampleCount, setSampleCount, samples)
SMELT_VALUE(TextureDescriptor, NS::UInteger, arrayLength, setArrayLength, array_length)
SMELT_VALUE(TextureDescriptor, ResourceOptions, resourceOptions, setResourceOptions, options)
SMELT_VALUE(TextureDescriptor, TextureUsage, usage, setUsage, usage)
SMELT_VALUE(TextureDescriptor, bool, allowGPUOptimizedContents, setAllowGPUOptimizedContents, optimised)
CPUCacheMode TextureDescriptor::cpuCacheMode() const {
  return cache_in(values_of(this).options);
}
void TextureDescriptor::setCpuCacheMode(CPUCacheMode mode) {
  put_option_bits(values_of(this).options, kCacheMask, mode);
}
StorageMode TextureDescriptor::storageMode() const {
  return storage_in(values_of(this).options);
}
void TextureDescriptor::setStorageMode(StorageMode mode) {
  put_option_bits(values_of(this).options, kStorageMask, mode << 4);
}
HazardTrackingMode TextureDescriptor::hazardTrackingMode() const {
  return tracking_in(values_of(this).options);
}
void TextureDescriptor::setHazardTrackingMode(HazardTrackingMode mode) {
  put_option_bits(values_of(this).options, kTrackingMask, mode << 8);
}

TextureDescriptor* TextureDescriptor::texture2DDescriptor(PixelFormat pixelFormat, NS::UInteger width,
                                                          NS::UInteger height, bool mipmapped) {
  auto* made = alloc()->init();
  TextureValues& values = values_of(made);
  values.format = pixelFormat;
  values.width = width;
  values.height = height;
  if (mipmapped) values.levels = levels_of(width, height);
  made->autorelease();
  return made;
}
TextureDescriptor* TextureDescriptor::textureCubeDescriptor(PixelFormat pixelFormat, NS::UInteger size,
                                                            bool mipmapped) {
  TextureDescriptor* const made = texture2DDescriptor(pixelFormat, size, size, mipmapped);
  values_of(made).type = TextureTypeCube;
  return made;
}
TextureDescriptor* TextureDescriptor::textureBufferDescriptor(PixelFormat pixelFormat, NS::UInteger width,
                                                              ResourceOptions resourceOptions, TextureUsage usage) {
  TextureDescriptor* const made = texture2DDescriptor(pixelFormat, width, 1, false);
  values_of(made).type = TextureTypeTextureBuffer;
  values_of(made).options = resourceOptions;
  values_of(made).usage = usage;
  return made;
}

Texture* Device::newTexture(const TextureDescriptor* descriptor) {
  constexpr const char* kCall = "-[MTLDevice newTextureWithDescriptor:]";
  if (descriptor == nullptr) return misuse(kCall, "descriptor is null"), nullptr;
  const TextureValues& values = values_of(descriptor);
  const ResourceOptions storage = values.options & kStorageMask;
  if (storage == ResourceStorageModeMemoryless)
    return misuse(kCall, "memoryless storage is for render targets"), nullptr;
  if (const std::string trouble = trouble_with(values.options); !trouble.empty())
    return misuse(kCall, "{}", trouble), nullptr;
  auto texture = smelt::loader::Texture::create(descriptor_of(values));
  if (!texture && texture.error().code == smelt::Errc::out_of_memory) return nullptr;
  if (!texture) return misuse(kCall, "{}", texture.error().message), nullptr;
  DeviceObject& device = from(this);
  TextureObject* const made = texture_object(device, std::move(*texture), values.options, values.usage);
  if (is_tracked(made->options)) made->hazard = device.next_hazard++;
  device.allocated += made->bytes;
  return made;
}

Texture* Buffer::newTexture(const TextureDescriptor* descriptor, NS::UInteger offset, NS::UInteger bytesPerRow) {
  constexpr const char* kCall = "-[MTLBuffer newTextureWithDescriptor:offset:bytesPerRow:]";
  if (is_nil(this)) return nullptr;
  if (descriptor == nullptr) return misuse(kCall, "descriptor is null"), nullptr;
  BufferObject& buffer = from(this);
  if (offset > buffer.bytes)
    return misuse(kCall, "offset {} is past the buffer's {} bytes", offset, buffer.bytes), nullptr;
  const TextureValues& values = values_of(descriptor);
  auto texture =
      smelt::loader::Texture::over(descriptor_of(values), {buffer.start + offset, buffer.bytes - offset}, bytesPerRow);
  if (!texture) return misuse(kCall, "{}", texture.error().message), nullptr;
  TextureObject* const made = texture_object(*buffer.device, std::move(*texture), buffer.options, values.usage);
  made->buffer = NS::RetainPtr<Buffer>(this);
  made->buffer_offset = offset;
  made->buffer_row_bytes = bytesPerRow;
  made->hazard = buffer.hazard;
  return made;
}

TextureType Texture::textureType() const {
  if (is_nil(this)) return TextureType1D;
  return static_cast<TextureType>(from(this).texture->descriptor().type);
}
PixelFormat Texture::pixelFormat() const {
  if (is_nil(this)) return PixelFormatInvalid;
  return static_cast<PixelFormat>(from(this).texture->descriptor().format);
}
NS::UInteger Texture::width() const {
  return is_nil(this) ? 0 : from(this).texture->descriptor().width;
}
NS::UInteger Texture::height() const {
  return is_nil(this) ? 0 : from(this).texture->descriptor().height;
}
NS::UInteger Texture::depth() const {
  return is_nil(this) ? 0 : from(this).texture->descriptor().depth;
}
NS::UInteger Texture::mipmapLevelCount() const {
  return is_nil(this) ? 0 : from(this).texture->descriptor().levels;
}
NS::UInteger Texture::sampleCount() const {
  return is_nil(this) ? 0 : from(this).texture->descriptor().samples;
}
NS::UInteger Texture::arrayLength() const {
  return is_nil(this) ? 0 : from(this).texture->descriptor().array_length;
}
TextureUsage Texture::usage() const {
  return is_nil(this) ? 0 : from(this).usage;
}
Texture* Texture::parentTexture() const {
  return is_nil(this) ? nullptr : from(this).parent.get();
}
NS::UInteger Texture::parentRelativeLevel() const {
  return is_nil(this) ? 0 : from(this).first_level;
}
NS::UInteger Texture::parentRelativeSlice() const {
  return is_nil(this) ? 0 : from(this).first_slice;
}
Buffer* Texture::buffer() const {
  return is_nil(this) ? nullptr : from(this).buffer.get();
}
NS::UInteger Texture::bufferOffset() const {
  return is_nil(this) ? 0 : from(this).buffer_offset;
}
NS::UInteger Texture::bufferBytesPerRow() const {
  return is_nil(this) ? 0 : from(this).buffer_row_bytes;
}

void Texture::replaceRegion(Region region, NS::UInteger level, NS::UInteger slice, const void* pixelBytes,
                            NS::UInteger bytesPerRow, NS::UInteger bytesPerImage) {
  if (is_nil(this)) return;
  move_region("-[MTLTexture replaceRegion:mipmapLevel:slice:withBytes:bytesPerRow:bytesPerImage:]", from(this), region,
              level, slice, static_cast<std::byte*>(const_cast<void*>(pixelBytes)), bytesPerRow, bytesPerImage, true);
}
void Texture::replaceRegion(Region region, NS::UInteger level, const void* pixelBytes, NS::UInteger bytesPerRow) {
  replaceRegion(region, level, 0, pixelBytes, bytesPerRow, bytesPerRow * region.size.height);
}
void Texture::getBytes(void* pixelBytes, NS::UInteger bytesPerRow, NS::UInteger bytesPerImage, Region region,
                       NS::UInteger level, NS::UInteger slice) {
  if (is_nil(this)) return;
  move_region("-[MTLTexture getBytes:bytesPerRow:bytesPerImage:fromRegion:mipmapLevel:slice:]", from(this), region,
              level, slice, static_cast<std::byte*>(pixelBytes), bytesPerRow, bytesPerImage, false);
}
void Texture::getBytes(void* pixelBytes, NS::UInteger bytesPerRow, Region region, NS::UInteger level) {
  getBytes(pixelBytes, bytesPerRow, bytesPerRow * region.size.height, region, level, 0);
}

Texture* Texture::newTextureView(PixelFormat pixelFormat) {
  if (is_nil(this)) return nullptr;
  return newTextureView(pixelFormat, textureType(), NS::Range(0, mipmapLevelCount()),
                        NS::Range(0, from(this).texture->layers()));
}
Texture* Texture::newTextureView(PixelFormat pixelFormat, TextureType textureType, NS::Range levelRange,
                                 NS::Range sliceRange) {
  constexpr const char* kCall = "-[MTLTexture newTextureViewWithPixelFormat:textureType:levels:slices:]";
  if (is_nil(this)) return nullptr;
  TextureObject& of = from(this);
  const bool is_cube = textureType == TextureTypeCube || textureType == TextureTypeCubeArray;
  if (levelRange.Max() > UINT32_MAX || sliceRange.Max() > UINT32_MAX || (is_cube && sliceRange.length % 6 != 0))
    return misuse(kCall, "levels {{{}, {}}}, slices {{{}, {}}}: no such part", levelRange.location, levelRange.length,
                  sliceRange.location, sliceRange.length),
           nullptr;
  smelt::loader::TextureDescriptor descriptor = of.texture->descriptor();
  descriptor.type = static_cast<smelt::loader::TextureType>(textureType);
  descriptor.format = static_cast<smelt::loader::PixelFormat>(pixelFormat);
  descriptor.levels = static_cast<uint32_t>(levelRange.length);
  descriptor.array_length = static_cast<uint32_t>(sliceRange.length / (is_cube ? 6 : 1));
  auto texture = smelt::loader::Texture::view(of.texture, descriptor, static_cast<uint32_t>(levelRange.location),
                                              static_cast<uint32_t>(sliceRange.location));
  if (!texture) return misuse(kCall, "{}", texture.error().message), nullptr;
  TextureObject* const made = texture_object(*of.device, std::move(*texture), of.options, of.usage);
  made->parent = NS::RetainPtr<Texture>(this);
  made->first_level = levelRange.location;
  made->first_slice = sliceRange.location;
  made->hazard = of.hazard;
  return made;
}

SMELT_DESCRIPTOR(SamplerDescriptor, SamplerValues)
SMELT_OBJECT(SamplerDescriptor, NS::String, label, setLabel, label)
SMELT_VALUE(SamplerDescriptor, SamplerMinMagFilter, minFilter, setMinFilter, minify)
SMELT_VALUE(SamplerDescriptor, SamplerMinMagFilter, magFilter, setMagFilter, magnify)
SMELT_VALUE(SamplerDescriptor, SamplerMipFilter, mipFilter, setMipFilter, mip)
SMELT_VALUE(SamplerDescriptor, NS::UInteger, maxAnisotropy, setMaxAnisotropy, anisotropy)
SMELT_VALUE(SamplerDescriptor, SamplerAddressMode, sAddressMode, setSAddressMode, s)
SMELT_VALUE(SamplerDescriptor, SamplerAddressMode, tAddressMode, setTAddressMode, t)
SMELT_VALUE(SamplerDescriptor, SamplerAddressMode, rAddressMode, setRAddressMode, r)
SMELT_VALUE(SamplerDescriptor, SamplerBorderColor, borderColor, setBorderColor, border)
SMELT_VALUE(SamplerDescriptor, bool, normalizedCoordinates, setNormalizedCoordinates, normalised)
SMELT_VALUE(SamplerDescriptor, float, lodMinClamp, setLodMinClamp, least)
SMELT_VALUE(SamplerDescriptor, float, lodMaxClamp, setLodMaxClamp, most)
SMELT_VALUE(SamplerDescriptor, bool, lodAverage, setLodAverage, average)
SMELT_VALUE(SamplerDescriptor, CompareFunction, compareFunction, setCompareFunction, compare)
SMELT_VALUE(SamplerDescriptor, bool, supportArgumentBuffers, setSupportArgumentBuffers, in_argument_buffers)

bool Device::supportsTextureSampleCount(NS::UInteger count) const {
  return count == 1 || count == 2 || count == 4 || count == 8;
}
SamplerState* Device::newSamplerState(const SamplerDescriptor* descriptor) {
  constexpr const char* kCall = "-[MTLDevice newSamplerStateWithDescriptor:]";
  if (descriptor == nullptr) return misuse(kCall, "descriptor is null"), nullptr;
  auto sampler = make_sampler(values_of(descriptor));
  if (!sampler) return misuse(kCall, "{}", sampler.error().message), nullptr;
  auto* made = new SamplerObject;
  made->device = &from(this);
  made->sampler = std::move(*sampler);
  made->label.set(descriptor->label());
  return made;
}

NS::String* SamplerState::label() const {
  return is_nil(this) ? nullptr : from(this).label.get();
}
Device* SamplerState::device() const {
  return is_nil(this) ? nullptr : from(this).device;
}

}  // namespace MTL
