// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vulkan for the tests' judges: objects that end themselves, memory that the host sees, and Mesa's lavapipe.
#pragma once

#include <vulkan/vulkan.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

namespace smelt::test {

inline void must(VkResult result, const char* what) {
  if (result != VK_SUCCESS) throw std::runtime_error(std::string(what) + ": VkResult " + std::to_string(result));
}

/// All zero but for its type.
template <class T>
T described(VkStructureType type) {
  T value{};
  value.sType = type;
  return value;
}

/// A device's object and its end.
template <class T, void (*Destroy)(VkDevice, T, const VkAllocationCallbacks*)>
class Owned {
 public:
  Owned() = default;
  template <class Create, class Info>
  Owned(VkDevice device, Create create, const Info& info, const char* what) : device_(device) {
    must(create(device, &info, nullptr, &handle_), what);
  }
  Owned(Owned&& other) noexcept : device_(other.device_), handle_(std::exchange(other.handle_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Owned() {
    if (handle_ != nullptr) Destroy(device_, handle_, nullptr);
  }
  operator T() const { return handle_; }
  const T* address() const { return &handle_; }

 private:
  VkDevice device_ = nullptr;
  T handle_ = nullptr;
};
using Memory = Owned<VkDeviceMemory, vkFreeMemory>;
using Image = Owned<VkImage, vkDestroyImage>;
using View = Owned<VkImageView, vkDestroyImageView>;
using VulkanSampler = Owned<VkSampler, vkDestroySampler>;
using Layout = Owned<VkPipelineLayout, vkDestroyPipelineLayout>;
using SetLayout = Owned<VkDescriptorSetLayout, vkDestroyDescriptorSetLayout>;
using DescriptorPool = Owned<VkDescriptorPool, vkDestroyDescriptorPool>;
using CommandPool = Owned<VkCommandPool, vkDestroyCommandPool>;
using Shader = Owned<VkShaderModule, vkDestroyShaderModule>;
using Pipeline = Owned<VkPipeline, vkDestroyPipeline>;

inline Shader make_shader(VkDevice device, std::span<const uint32_t> spirv) {
  auto info = described<VkShaderModuleCreateInfo>(VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
  info.codeSize = spirv.size_bytes();
  info.pCode = spirv.data();
  return Shader(device, vkCreateShaderModule, info, "vkCreateShaderModule");
}

/// Of the shader's function main.
inline Pipeline make_compute_pipeline(VkDevice device, VkPipelineLayout layout, std::span<const uint32_t> spirv) {
  const Shader shader = make_shader(device, spirv);
  auto info = described<VkComputePipelineCreateInfo>(VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO);
  info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = shader;
  info.stage.pName = "main";
  info.layout = layout;
  const auto create = [](VkDevice of, const VkComputePipelineCreateInfo* wanted, const VkAllocationCallbacks* allocator,
                         VkPipeline* made) {
    return vkCreateComputePipelines(of, nullptr, 1, wanted, allocator, made);
  };
  return Pipeline(device, create, info, "vkCreateComputePipelines");
}

/// Memory that both sides see, as one buffer.
class HostBuffer {
 public:
  HostBuffer(VkDevice device, uint32_t memory_type, VkBufferUsageFlags usage, uint64_t bytes) {
    auto info = described<VkBufferCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
    info.size = bytes;
    info.usage = usage;
    buffer_ = Owned<VkBuffer, vkDestroyBuffer>(device, vkCreateBuffer, info, "vkCreateBuffer");
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(device, buffer_, &needs);
    auto allocate = described<VkMemoryAllocateInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO);
    allocate.allocationSize = needs.size;
    allocate.memoryTypeIndex = memory_type;
    memory_ = Memory(device, vkAllocateMemory, allocate, "vkAllocateMemory");
    must(vkBindBufferMemory(device, buffer_, memory_, 0), "vkBindBufferMemory");
    void* mapped = nullptr;
    must(vkMapMemory(device, memory_, 0, VK_WHOLE_SIZE, 0, &mapped), "vkMapMemory");
    data_ = static_cast<std::byte*>(mapped);
  }
  VkBuffer buffer() const { return buffer_; }
  std::byte* data() const { return data_; }

 private:
  Memory memory_;
  Owned<VkBuffer, vkDestroyBuffer> buffer_;
  std::byte* data_ = nullptr;
};

inline bool is_lavapipe(VkPhysicalDevice device) {
  auto driver = described<VkPhysicalDeviceDriverProperties>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES);
  auto properties = described<VkPhysicalDeviceProperties2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2);
  properties.pNext = &driver;
  vkGetPhysicalDeviceProperties2(device, &properties);
  return properties.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU &&
         driver.driverID == VK_DRIVER_ID_MESA_LLVMPIPE;
}

/// Null where there is none; else `instance` is the caller's to destroy.
inline VkPhysicalDevice open_lavapipe(VkInstance& instance) {
  // Else textures of eight bits are filtered in eight bits, and components of five bits widened to eight first.
  setenv("GALLIVM_PERF", "no_aos_sampling", 0);
  auto application = described<VkApplicationInfo>(VK_STRUCTURE_TYPE_APPLICATION_INFO);
  application.apiVersion = VK_API_VERSION_1_2;
  auto info = described<VkInstanceCreateInfo>(VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO);
  info.pApplicationInfo = &application;
  if (vkCreateInstance(&info, nullptr, &instance) == VK_SUCCESS) {
    uint32_t count = 16;
    VkPhysicalDevice devices[16];
    if (vkEnumeratePhysicalDevices(instance, &count, devices) < VK_SUCCESS) count = 0;
    for (uint32_t i = 0; i < count; ++i)
      if (is_lavapipe(devices[i])) return devices[i];
    vkDestroyInstance(instance, nullptr);
  }
  return nullptr;
}

/// The type of memory that the host sees without flushes; all memory of a CPU is of it.
inline uint32_t host_memory(VkPhysicalDevice physical) {
  VkPhysicalDeviceMemoryProperties has;
  vkGetPhysicalDeviceMemoryProperties(physical, &has);
  constexpr VkMemoryPropertyFlags kNeeded = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  for (uint32_t i = 0; i < has.memoryTypeCount; ++i)
    if ((has.memoryTypes[i].propertyFlags & kNeeded) == kNeeded) return i;
  throw std::runtime_error("no memory that the host sees");
}

}  // namespace smelt::test
