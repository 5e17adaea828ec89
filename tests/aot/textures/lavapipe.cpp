// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lavapipe.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#ifdef SMELT_TEST_VULKAN
#include "lavapipe_cube.h"
#include "lavapipe_cube_array.h"
#include "lavapipe_d1.h"
#include "lavapipe_d1_array.h"
#include "lavapipe_d2.h"
#include "lavapipe_d2_array.h"
#include "lavapipe_d3.h"
#include "vulkan.hpp"
#endif

namespace smelt::test {

using loader::PixelFormat;
using loader::SamplerDescriptor;
using loader::TextureType;
using Address = SamplerDescriptor::Address;

namespace {

bool has_alpha(PixelFormat format) {
  return loader::facts_of(format)->channels == 4;
}
unsigned axes_of(TextureType type) {
  switch (type) {
    case TextureType::d1:
    case TextureType::d1_array:
      return 1;
    case TextureType::d3:
      return 3;
    default:
      return 2;
  }
}

/// clamp_to_zero is a border too: opaque where the format has no alpha.
SamplerDescriptor::Border border_of(Address address, SamplerDescriptor::Border border, PixelFormat format) {
  if (address == Address::clamp_to_border) return border;
  return has_alpha(format) ? SamplerDescriptor::Border::transparent_black : SamplerDescriptor::Border::opaque_black;
}
bool has_border(Address address) {
  return address == Address::clamp_to_zero || address == Address::clamp_to_border;
}

}  // namespace

bool vulkan_has(const loader::TextureDescriptor& texture, const SamplerDescriptor& sampler) {
  if (sampler.max_anisotropy != 1) return false;
  std::optional<SamplerDescriptor::Border> border;
  for (unsigned axis = 0; axis < axes_of(texture.type); ++axis) {
    const Address address = sampler.address[axis];
    if (!has_border(address)) continue;
    const auto colour = border_of(address, sampler.border, texture.format);
    if (border.value_or(colour) != colour) return false;
    border = colour;
  }
  if (!sampler.pixel_coordinates) return true;
  const bool clamps = std::all_of(sampler.address.begin(), sampler.address.end(), [](Address address) {
    return address == Address::clamp_to_edge || has_border(address);
  });
  return clamps && (texture.type == TextureType::d1 || texture.type == TextureType::d2) &&
         sampler.mip == SamplerDescriptor::MipFilter::none && sampler.magnify == sampler.minify &&
         sampler.lod_min == 0 && sampler.lod_max == 0;
}

#ifdef SMELT_TEST_VULKAN
namespace {

VkFormat vulkan_format(PixelFormat format) {
  switch (format) {
    case PixelFormat::r8unorm:
      return VK_FORMAT_R8_UNORM;
    case PixelFormat::r8snorm:
      return VK_FORMAT_R8_SNORM;
    case PixelFormat::r8unorm_srgb:
      return VK_FORMAT_R8_SRGB;
    case PixelFormat::rg8unorm:
      return VK_FORMAT_R8G8_UNORM;
    case PixelFormat::rg8snorm:
      return VK_FORMAT_R8G8_SNORM;
    case PixelFormat::rg8unorm_srgb:
      return VK_FORMAT_R8G8_SRGB;
    case PixelFormat::rgba8unorm:
      return VK_FORMAT_R8G8B8A8_UNORM;
    case PixelFormat::rgba8snorm:
      return VK_FORMAT_R8G8B8A8_SNORM;
    case PixelFormat::rgba8unorm_srgb:
      return VK_FORMAT_R8G8B8A8_SRGB;
    case PixelFormat::bgra8unorm:
      return VK_FORMAT_B8G8R8A8_UNORM;
    case PixelFormat::bgra8unorm_srgb:
      return VK_FORMAT_B8G8R8A8_SRGB;
    case PixelFormat::r16unorm:
      return VK_FORMAT_R16_UNORM;
    case PixelFormat::r16snorm:
      return VK_FORMAT_R16_SNORM;
    case PixelFormat::r16float:
      return VK_FORMAT_R16_SFLOAT;
    case PixelFormat::rg16unorm:
      return VK_FORMAT_R16G16_UNORM;
    case PixelFormat::rg16snorm:
      return VK_FORMAT_R16G16_SNORM;
    case PixelFormat::rg16float:
      return VK_FORMAT_R16G16_SFLOAT;
    case PixelFormat::rgba16unorm:
      return VK_FORMAT_R16G16B16A16_UNORM;
    case PixelFormat::rgba16snorm:
      return VK_FORMAT_R16G16B16A16_SNORM;
    case PixelFormat::rgba16float:
      return VK_FORMAT_R16G16B16A16_SFLOAT;
    case PixelFormat::r32float:
      return VK_FORMAT_R32_SFLOAT;
    case PixelFormat::rg32float:
      return VK_FORMAT_R32G32_SFLOAT;
    case PixelFormat::rgba32float:
      return VK_FORMAT_R32G32B32A32_SFLOAT;
    case PixelFormat::b5g6r5unorm:
      return VK_FORMAT_R5G6B5_UNORM_PACK16;
    case PixelFormat::a1bgr5unorm:
      return VK_FORMAT_R5G5B5A1_UNORM_PACK16;
    case PixelFormat::abgr4unorm:
      return VK_FORMAT_R4G4B4A4_UNORM_PACK16;
    case PixelFormat::bgr5a1unorm:
      return VK_FORMAT_A1R5G5B5_UNORM_PACK16;
    case PixelFormat::rgb10a2unorm:
      return VK_FORMAT_A2B10G10R10_UNORM_PACK32;
    case PixelFormat::bgr10a2unorm:
      return VK_FORMAT_A2R10G10B10_UNORM_PACK32;
    case PixelFormat::rg11b10float:
      return VK_FORMAT_B10G11R11_UFLOAT_PACK32;
    case PixelFormat::rgb9e5float:
      return VK_FORMAT_E5B9G9R9_UFLOAT_PACK32;
    case PixelFormat::bc1_rgba:
      return VK_FORMAT_BC1_RGBA_UNORM_BLOCK;
    case PixelFormat::bc1_rgba_srgb:
      return VK_FORMAT_BC1_RGBA_SRGB_BLOCK;
    case PixelFormat::bc2_rgba:
      return VK_FORMAT_BC2_UNORM_BLOCK;
    case PixelFormat::bc2_rgba_srgb:
      return VK_FORMAT_BC2_SRGB_BLOCK;
    case PixelFormat::bc3_rgba:
      return VK_FORMAT_BC3_UNORM_BLOCK;
    case PixelFormat::bc3_rgba_srgb:
      return VK_FORMAT_BC3_SRGB_BLOCK;
    case PixelFormat::bc4_runorm:
      return VK_FORMAT_BC4_UNORM_BLOCK;
    case PixelFormat::bc4_rsnorm:
      return VK_FORMAT_BC4_SNORM_BLOCK;
    case PixelFormat::bc5_rgunorm:
      return VK_FORMAT_BC5_UNORM_BLOCK;
    case PixelFormat::bc5_rgsnorm:
      return VK_FORMAT_BC5_SNORM_BLOCK;
    case PixelFormat::astc_4x4_ldr:
      return VK_FORMAT_ASTC_4x4_UNORM_BLOCK;
    case PixelFormat::astc_4x4_srgb:
      return VK_FORMAT_ASTC_4x4_SRGB_BLOCK;
    case PixelFormat::astc_5x4_ldr:
      return VK_FORMAT_ASTC_5x4_UNORM_BLOCK;
    case PixelFormat::astc_5x4_srgb:
      return VK_FORMAT_ASTC_5x4_SRGB_BLOCK;
    case PixelFormat::astc_5x5_ldr:
      return VK_FORMAT_ASTC_5x5_UNORM_BLOCK;
    case PixelFormat::astc_5x5_srgb:
      return VK_FORMAT_ASTC_5x5_SRGB_BLOCK;
    case PixelFormat::astc_6x5_ldr:
      return VK_FORMAT_ASTC_6x5_UNORM_BLOCK;
    case PixelFormat::astc_6x5_srgb:
      return VK_FORMAT_ASTC_6x5_SRGB_BLOCK;
    case PixelFormat::astc_6x6_ldr:
      return VK_FORMAT_ASTC_6x6_UNORM_BLOCK;
    case PixelFormat::astc_6x6_srgb:
      return VK_FORMAT_ASTC_6x6_SRGB_BLOCK;
    case PixelFormat::astc_8x5_ldr:
      return VK_FORMAT_ASTC_8x5_UNORM_BLOCK;
    case PixelFormat::astc_8x5_srgb:
      return VK_FORMAT_ASTC_8x5_SRGB_BLOCK;
    case PixelFormat::astc_8x6_ldr:
      return VK_FORMAT_ASTC_8x6_UNORM_BLOCK;
    case PixelFormat::astc_8x6_srgb:
      return VK_FORMAT_ASTC_8x6_SRGB_BLOCK;
    case PixelFormat::astc_8x8_ldr:
      return VK_FORMAT_ASTC_8x8_UNORM_BLOCK;
    case PixelFormat::astc_8x8_srgb:
      return VK_FORMAT_ASTC_8x8_SRGB_BLOCK;
    case PixelFormat::astc_10x5_ldr:
      return VK_FORMAT_ASTC_10x5_UNORM_BLOCK;
    case PixelFormat::astc_10x5_srgb:
      return VK_FORMAT_ASTC_10x5_SRGB_BLOCK;
    case PixelFormat::astc_10x6_ldr:
      return VK_FORMAT_ASTC_10x6_UNORM_BLOCK;
    case PixelFormat::astc_10x6_srgb:
      return VK_FORMAT_ASTC_10x6_SRGB_BLOCK;
    case PixelFormat::astc_10x8_ldr:
      return VK_FORMAT_ASTC_10x8_UNORM_BLOCK;
    case PixelFormat::astc_10x8_srgb:
      return VK_FORMAT_ASTC_10x8_SRGB_BLOCK;
    case PixelFormat::astc_10x10_ldr:
      return VK_FORMAT_ASTC_10x10_UNORM_BLOCK;
    case PixelFormat::astc_10x10_srgb:
      return VK_FORMAT_ASTC_10x10_SRGB_BLOCK;
    case PixelFormat::astc_12x10_ldr:
      return VK_FORMAT_ASTC_12x10_UNORM_BLOCK;
    case PixelFormat::astc_12x10_srgb:
      return VK_FORMAT_ASTC_12x10_SRGB_BLOCK;
    case PixelFormat::astc_12x12_ldr:
      return VK_FORMAT_ASTC_12x12_UNORM_BLOCK;
    case PixelFormat::astc_12x12_srgb:
      return VK_FORMAT_ASTC_12x12_SRGB_BLOCK;
    default:
      return VK_FORMAT_UNDEFINED;
  }
}

bool is_cube(TextureType type) {
  return type == TextureType::cube || type == TextureType::cube_array;
}
VkImageType image_type(TextureType type) {
  constexpr VkImageType kTypes[] = {VK_IMAGE_TYPE_1D, VK_IMAGE_TYPE_2D, VK_IMAGE_TYPE_3D};
  return kTypes[axes_of(type) - 1];
}
VkImageViewType view_type(TextureType type) {
  switch (type) {
    case TextureType::d1:
      return VK_IMAGE_VIEW_TYPE_1D;
    case TextureType::d1_array:
      return VK_IMAGE_VIEW_TYPE_1D_ARRAY;
    case TextureType::d2_array:
      return VK_IMAGE_VIEW_TYPE_2D_ARRAY;
    case TextureType::d3:
      return VK_IMAGE_VIEW_TYPE_3D;
    case TextureType::cube:
      return VK_IMAGE_VIEW_TYPE_CUBE;
    case TextureType::cube_array:
      return VK_IMAGE_VIEW_TYPE_CUBE_ARRAY;
    default:
      return VK_IMAGE_VIEW_TYPE_2D;
  }
}
std::span<const uint32_t> shader_of(TextureType type) {
  switch (type) {
    case TextureType::d1:
      return lavapipe_d1;
    case TextureType::d1_array:
      return lavapipe_d1_array;
    case TextureType::d2_array:
      return lavapipe_d2_array;
    case TextureType::d3:
      return lavapipe_d3;
    case TextureType::cube:
      return lavapipe_cube;
    case TextureType::cube_array:
      return lavapipe_cube_array;
    default:
      return lavapipe_d2;
  }
}

VkSamplerAddressMode vulkan_address(Address address) {
  switch (address) {
    case Address::clamp_to_edge:
      return VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;
    case Address::repeat:
      return VK_SAMPLER_ADDRESS_MODE_REPEAT;
    case Address::mirrored_repeat:
      return VK_SAMPLER_ADDRESS_MODE_MIRRORED_REPEAT;
    default:
      return VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER;
  }
}

VkSamplerCreateInfo sampler_info(const loader::TextureDescriptor& texture, const SamplerDescriptor& sampler) {
  const auto filter = [](SamplerDescriptor::Filter f) {
    return f == SamplerDescriptor::Filter::linear ? VK_FILTER_LINEAR : VK_FILTER_NEAREST;
  };
  auto info = described<VkSamplerCreateInfo>(VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO);
  info.magFilter = filter(sampler.magnify);
  info.minFilter = filter(sampler.minify);
  info.mipmapMode = sampler.mip == SamplerDescriptor::MipFilter::linear ? VK_SAMPLER_MIPMAP_MODE_LINEAR
                                                                        : VK_SAMPLER_MIPMAP_MODE_NEAREST;
  info.addressModeU = vulkan_address(sampler.address[0]);
  info.addressModeV = vulkan_address(sampler.address[1]);
  info.addressModeW = vulkan_address(sampler.address[2]);
  info.minLod = sampler.lod_min;
  info.maxLod = sampler.lod_max;
  info.unnormalizedCoordinates = sampler.pixel_coordinates ? VK_TRUE : VK_FALSE;
  for (unsigned axis = 0; axis < axes_of(texture.type); ++axis)
    if (has_border(sampler.address[axis])) switch (border_of(sampler.address[axis], sampler.border, texture.format)) {
        case SamplerDescriptor::Border::transparent_black:
          info.borderColor = VK_BORDER_COLOR_FLOAT_TRANSPARENT_BLACK;
          break;
        case SamplerDescriptor::Border::opaque_black:
          info.borderColor = VK_BORDER_COLOR_FLOAT_OPAQUE_BLACK;
          break;
        case SamplerDescriptor::Border::opaque_white:
          info.borderColor = VK_BORDER_COLOR_FLOAT_OPAQUE_WHITE;
          break;
      }
  return info;
}

class Device final : public Lavapipe {
 public:
  Device(VkInstance instance, VkPhysicalDevice physical)
      : instance_(instance), physical_(physical), memory_type_(host_memory(physical)) {
    const float priority = 1;
    auto queue = described<VkDeviceQueueCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO);
    queue.queueCount = 1;  // of family 0, the only one
    queue.pQueuePriorities = &priority;
    VkPhysicalDeviceFeatures features{};
    features.imageCubeArray = VK_TRUE;
    VkPhysicalDeviceFeatures has;
    vkGetPhysicalDeviceFeatures(physical, &has);
    features.textureCompressionBC = has.textureCompressionBC;
    features.textureCompressionASTC_LDR = has.textureCompressionASTC_LDR;
    auto info = described<VkDeviceCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO);
    info.queueCreateInfoCount = 1;
    info.pQueueCreateInfos = &queue;
    info.pEnabledFeatures = &features;
    must(vkCreateDevice(physical, &info, nullptr, &device_), "vkCreateDevice");
    vkGetDeviceQueue(device_, 0, 0, &queue_);
    make_layouts();
    make_commands();
  }
  ~Device() override {
    pipelines_.clear();
    set_layout_ = {}, layout_ = {}, pool_ = {}, command_pool_ = {};
    vkDestroyDevice(device_, nullptr);
    vkDestroyInstance(instance_, nullptr);
  }

  bool samples(PixelFormat format) const override {
    const VkFormat wanted = vulkan_format(format);
    if (wanted == VK_FORMAT_UNDEFINED) return false;
    VkFormatProperties has;
    vkGetPhysicalDeviceFormatProperties(physical_, wanted, &has);
    constexpr VkFormatFeatureFlags kNeeded = VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT |
                                             VK_FORMAT_FEATURE_SAMPLED_IMAGE_FILTER_LINEAR_BIT |
                                             VK_FORMAT_FEATURE_TRANSFER_DST_BIT;
    return (has.optimalTilingFeatures & kNeeded) == kNeeded;
  }

  std::vector<Sampled> sample(const loader::Texture& texture, const SamplerDescriptor& sampler,
                              std::span<const SamplePoint> points) override {
    if (!vulkan_has(texture.descriptor(), sampler)) throw std::runtime_error("a sampler that Vulkan does not have");
    const HostBuffer texels = host(VK_BUFFER_USAGE_TRANSFER_SRC_BIT, texture.contents());
    const HostBuffer in = host(VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, std::as_bytes(points));
    std::vector<Sampled> out(points.size());
    const HostBuffer results = host(VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, std::as_bytes(std::span(out)));
    const Image image(device_, vkCreateImage, image_info(texture.descriptor(), texture.layers()), "vkCreateImage");
    const Memory memory = memory_of(image);
    const View view = view_of(image, texture, sampler);
    const VulkanSampler states(device_, vkCreateSampler, sampler_info(texture.descriptor(), sampler),
                               "vkCreateSampler");
    point_at(view, states, in.buffer(), results.buffer());
    record(texture, image, texels.buffer(), static_cast<uint32_t>(points.size()));
    submit();
    std::memcpy(out.data(), results.data(), out.size() * sizeof(Sampled));
    return out;
  }

 private:
  HostBuffer host(VkBufferUsageFlags usage, std::span<const std::byte> bytes) const {
    HostBuffer buffer(device_, memory_type_, usage, bytes.size());
    std::memcpy(buffer.data(), bytes.data(), bytes.size());
    return buffer;
  }

  void make_layouts() {
    VkDescriptorSetLayoutBinding bindings[3] = {};
    for (uint32_t i = 0; i < 3; ++i) {
      bindings[i].binding = i;
      bindings[i].descriptorType = kDescriptors[i];
      bindings[i].descriptorCount = 1;
      bindings[i].stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
    }
    auto set = described<VkDescriptorSetLayoutCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO);
    set.bindingCount = 3;
    set.pBindings = bindings;
    set_layout_ = SetLayout(device_, vkCreateDescriptorSetLayout, set, "vkCreateDescriptorSetLayout");
    auto layout = described<VkPipelineLayoutCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO);
    layout.setLayoutCount = 1;
    layout.pSetLayouts = set_layout_.address();
    layout_ = Layout(device_, vkCreatePipelineLayout, layout, "vkCreatePipelineLayout");
    const VkDescriptorPoolSize sizes[2] = {{kDescriptors[0], 1}, {kDescriptors[1], 2}};
    auto pool = described<VkDescriptorPoolCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO);
    pool.maxSets = 1;
    pool.poolSizeCount = 2;
    pool.pPoolSizes = sizes;
    pool_ = DescriptorPool(device_, vkCreateDescriptorPool, pool, "vkCreateDescriptorPool");
    auto allocate = described<VkDescriptorSetAllocateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO);
    allocate.descriptorPool = pool_;
    allocate.descriptorSetCount = 1;
    allocate.pSetLayouts = set_layout_.address();
    must(vkAllocateDescriptorSets(device_, &allocate, &set_), "vkAllocateDescriptorSets");
  }

  void make_commands() {
    auto pool = described<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
    pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
    command_pool_ = CommandPool(device_, vkCreateCommandPool, pool, "vkCreateCommandPool");
    auto allocate = described<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
    allocate.commandPool = command_pool_;
    allocate.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    allocate.commandBufferCount = 1;
    must(vkAllocateCommandBuffers(device_, &allocate, &commands_), "vkAllocateCommandBuffers");
  }

  VkPipeline pipeline(TextureType type) {
    for (const auto& [of, made] : pipelines_)
      if (of == type) return made;
    return pipelines_.emplace_back(type, make_compute_pipeline(device_, layout_, shader_of(type))).second;
  }

  static VkImageCreateInfo image_info(const loader::TextureDescriptor& texture, uint32_t layers) {
    auto info = described<VkImageCreateInfo>(VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO);
    if (is_cube(texture.type)) info.flags = VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT;
    info.imageType = image_type(texture.type);
    info.format = vulkan_format(texture.format);
    info.extent = {texture.width, texture.height, texture.depth};
    info.mipLevels = texture.levels;
    info.arrayLayers = layers;
    info.samples = VK_SAMPLE_COUNT_1_BIT;
    info.usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    return info;
  }

  Memory memory_of(VkImage image) const {
    VkMemoryRequirements needs;
    vkGetImageMemoryRequirements(device_, image, &needs);
    auto allocate = described<VkMemoryAllocateInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO);
    allocate.allocationSize = needs.size;
    allocate.memoryTypeIndex = memory_type_;
    Memory memory(device_, vkAllocateMemory, allocate, "vkAllocateMemory");
    must(vkBindImageMemory(device_, image, memory, 0), "vkBindImageMemory");
    return memory;
  }

  /// Vulkan has no mip filter "none": it is one level that can be seen.
  View view_of(VkImage image, const loader::Texture& texture, const SamplerDescriptor& sampler) const {
    auto info = described<VkImageViewCreateInfo>(VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO);
    info.image = image;
    info.viewType = view_type(texture.descriptor().type);
    info.format = vulkan_format(texture.descriptor().format);
    const uint32_t levels = sampler.mip == SamplerDescriptor::MipFilter::none ? 1 : texture.descriptor().levels;
    info.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, levels, 0, texture.layers()};
    return View(device_, vkCreateImageView, info, "vkCreateImageView");
  }

  void point_at(VkImageView view, VkSampler sampler, VkBuffer in, VkBuffer out) const {
    const VkDescriptorImageInfo image{sampler, view, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL};
    const VkDescriptorBufferInfo buffers[2] = {{in, 0, VK_WHOLE_SIZE}, {out, 0, VK_WHOLE_SIZE}};
    VkWriteDescriptorSet writes[3] = {};
    for (uint32_t i = 0; i < 3; ++i) {
      writes[i].sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
      writes[i].dstSet = set_;
      writes[i].dstBinding = i;
      writes[i].descriptorCount = 1;
      writes[i].descriptorType = kDescriptors[i];
      writes[i].pImageInfo = i == 0 ? &image : nullptr;
      writes[i].pBufferInfo = i == 0 ? nullptr : &buffers[i - 1];
    }
    vkUpdateDescriptorSets(device_, 3, writes, 0, nullptr);
  }

  static std::vector<VkBufferImageCopy> copies_of(const loader::Texture& texture) {
    std::vector<VkBufferImageCopy> copies;
    const loader::PixelFormatFacts& format = *loader::facts_of(texture.descriptor().format);
    for (uint32_t level = 0; level < texture.descriptor().levels; ++level)
      for (uint32_t layer = 0; layer < texture.layers(); ++layer) {
        const auto part = texture.part(level, layer).value();
        VkBufferImageCopy& copy = copies.emplace_back();
        copy.bufferOffset = static_cast<uint64_t>(part.bytes.data() - texture.contents().data());
        copy.bufferRowLength = static_cast<uint32_t>(part.row_bytes / format.texel_bytes) * format.block_width;
        copy.bufferImageHeight =
            format.blocks_down(part.height) * format.block_height;  // slices of 3D textures lie without gaps
        copy.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, level, layer, 1};
        copy.imageExtent = {part.width, part.height, part.depth};
      }
    return copies;
  }

  void move(VkImage image, VkImageLayout from, VkImageLayout to) const {
    auto barrier = described<VkImageMemoryBarrier>(VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER);
    barrier.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
    barrier.oldLayout = from;
    barrier.newLayout = to;
    barrier.image = image;
    barrier.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, VK_REMAINING_MIP_LEVELS, 0, VK_REMAINING_ARRAY_LAYERS};
    vkCmdPipelineBarrier(commands_, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0,
                         nullptr, 0, nullptr, 1, &barrier);
  }

  void record(const loader::Texture& texture, VkImage image, VkBuffer texels, uint32_t points) {
    const std::vector<VkBufferImageCopy> copies = copies_of(texture);
    auto begin = described<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
    begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    must(vkBeginCommandBuffer(commands_, &begin), "vkBeginCommandBuffer");
    move(image, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    vkCmdCopyBufferToImage(commands_, texels, image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                           static_cast<uint32_t>(copies.size()), copies.data());
    move(image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
    vkCmdBindPipeline(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline(texture.descriptor().type));
    vkCmdBindDescriptorSets(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, layout_, 0, 1, &set_, 0, nullptr);
    vkCmdDispatch(commands_, (points + 63) / 64, 1, 1);
    must(vkEndCommandBuffer(commands_), "vkEndCommandBuffer");
  }

  void submit() const {
    auto info = described<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
    info.commandBufferCount = 1;
    info.pCommandBuffers = &commands_;
    must(vkQueueSubmit(queue_, 1, &info, nullptr), "vkQueueSubmit");
    must(vkQueueWaitIdle(queue_), "vkQueueWaitIdle");
  }

  static constexpr VkDescriptorType kDescriptors[3] = {
      VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER};

  VkInstance instance_;
  VkPhysicalDevice physical_;
  VkDevice device_ = nullptr;
  VkQueue queue_ = nullptr;
  uint32_t memory_type_;
  SetLayout set_layout_;
  Layout layout_;
  DescriptorPool pool_;
  VkDescriptorSet set_ = nullptr;
  CommandPool command_pool_;
  VkCommandBuffer commands_ = nullptr;
  std::vector<std::pair<TextureType, Pipeline>> pipelines_;
};

}  // namespace

Result<std::unique_ptr<Lavapipe>> Lavapipe::open() {
  VkInstance instance = nullptr;
  if (const VkPhysicalDevice device = open_lavapipe(instance)) return std::make_unique<Device>(instance, device);
  return fail(Errc::unsupported, "there is no lavapipe: install mesa-vulkan-drivers");
}
#else
Result<std::unique_ptr<Lavapipe>> Lavapipe::open() {
  return fail(Errc::unsupported, "built without Vulkan (libvulkan-dev and glslang-tools) or with sanitizers");
}
#endif

}  // namespace smelt::test
