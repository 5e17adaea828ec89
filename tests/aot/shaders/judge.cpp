// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "judge.hpp"

#ifdef SMELT_TEST_VULKAN
#include "../textures/vulkan.hpp"
#include "whole_picture.h"

#include <cstring>

namespace smelt::test {
namespace {

using RenderPass = Owned<VkRenderPass, vkDestroyRenderPass>;
using Frame = Owned<VkFramebuffer, vkDestroyFramebuffer>;

constexpr VkFormat kFormat = VK_FORMAT_R32G32B32A32_SFLOAT;
constexpr uint32_t kOutputs = 2;
/// By binding: constants, inputs, image, results of vertices.
constexpr VkDescriptorType kDescriptors[] = {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                             VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
                                             VK_DESCRIPTOR_TYPE_STORAGE_BUFFER};
constexpr uint32_t kBindings = std::size(kDescriptors);

class Judge final : public ShaderJudge {
 public:
  Judge(VkInstance instance, VkPhysicalDevice physical) : instance_(instance), memory_type_(host_memory(physical)) {
    const float priority = 1;
    auto queue = described<VkDeviceQueueCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO);
    queue.queueCount = 1;
    queue.pQueuePriorities = &priority;
    VkPhysicalDeviceFeatures features{};
    features.vertexPipelineStoresAndAtomics = features.largePoints = VK_TRUE;
    auto info = described<VkDeviceCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO);
    info.queueCreateInfoCount = 1;
    info.pQueueCreateInfos = &queue;
    info.pEnabledFeatures = &features;
    must(vkCreateDevice(physical, &info, nullptr, &device_), "vkCreateDevice");
    vkGetDeviceQueue(device_, 0, 0, &queue_);
    make_layouts();
    make_pass();
    make_commands();
  }
  ~Judge() override {
    for (Target& target : targets_) target = {};
    frame_ = {}, pass_ = {}, set_layout_ = {}, layout_ = {}, pool_ = {}, command_pool_ = {};
    vkDestroyDevice(device_, nullptr);
    vkDestroyInstance(instance_, nullptr);
  }

  std::vector<JudgedThread> run(GlslStage stage, std::span<const uint32_t> spirv, const ShaderConstants& constants,
                                std::span<const ShaderInputs> inputs, std::span<const std::byte> texels) override {
    const HostBuffer uniform = host(VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT, std::as_bytes(std::span(&constants, 1)));
    const HostBuffer in = host(VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, std::as_bytes(inputs));
    const HostBuffer staged = host(VK_BUFFER_USAGE_TRANSFER_SRC_BIT, texels);
    std::vector<JudgedThread> results(kThreads);
    const HostBuffer out =
        host(VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT, std::as_bytes(std::span(results)));
    const Target image(*this, kTexels, kTexels, VK_FORMAT_R8G8B8A8_UNORM,
                       VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT);
    const VulkanSampler sampler(device_, vkCreateSampler, sampler_info(), "vkCreateSampler");
    const VkDescriptorImageInfo sampled{sampler, image.view, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL};
    const VkDescriptorBufferInfo buffers[kBindings] = {
        {uniform.buffer(), 0, VK_WHOLE_SIZE}, {in.buffer(), 0, VK_WHOLE_SIZE}, {}, {out.buffer(), 0, VK_WHOLE_SIZE}};
    VkWriteDescriptorSet writes[kBindings] = {};
    for (uint32_t i = 0; i < kBindings; ++i) {
      writes[i].sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
      writes[i].dstSet = set_;
      writes[i].dstBinding = i;
      writes[i].descriptorCount = 1;
      writes[i].descriptorType = kDescriptors[i];
      writes[i].pImageInfo = &sampled;
      writes[i].pBufferInfo = &buffers[i];
    }
    vkUpdateDescriptorSets(device_, kBindings, writes, 0, nullptr);
    const Pipeline pipeline = make_pipeline(stage, spirv);
    record(stage, pipeline, image.image, staged.buffer(), out.buffer());
    submit();
    std::memcpy(results.data(), out.data(), results.size() * sizeof(JudgedThread));
    return stage == GlslStage::fragment ? by_thread(results) : results;
  }

 private:
  /// An image with its memory and its view.
  struct Target {
    Target() = default;
    Target(const Judge& judge, uint32_t width, uint32_t height, VkFormat format, VkImageUsageFlags usage) {
      auto info = described<VkImageCreateInfo>(VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO);
      info.imageType = VK_IMAGE_TYPE_2D;
      info.format = format;
      info.extent = {width, height, 1};
      info.mipLevels = info.arrayLayers = 1;
      info.samples = VK_SAMPLE_COUNT_1_BIT;
      info.usage = usage;
      image = Image(judge.device_, vkCreateImage, info, "vkCreateImage");
      VkMemoryRequirements needs;
      vkGetImageMemoryRequirements(judge.device_, image, &needs);
      auto allocate = described<VkMemoryAllocateInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO);
      allocate.allocationSize = needs.size;
      allocate.memoryTypeIndex = judge.memory_type_;
      memory = Memory(judge.device_, vkAllocateMemory, allocate, "vkAllocateMemory");
      must(vkBindImageMemory(judge.device_, image, memory, 0), "vkBindImageMemory");
      auto seen = described<VkImageViewCreateInfo>(VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO);
      seen.image = image;
      seen.viewType = VK_IMAGE_VIEW_TYPE_2D;
      seen.format = format;
      seen.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
      view = View(judge.device_, vkCreateImageView, seen, "vkCreateImageView");
    }
    Memory memory;
    Image image;
    View view;
  };

  HostBuffer host(VkBufferUsageFlags usage, std::span<const std::byte> bytes) const {
    HostBuffer buffer(device_, memory_type_, usage, bytes.size());
    std::memcpy(buffer.data(), bytes.data(), bytes.size());
    return buffer;
  }

  static VkSamplerCreateInfo sampler_info() {
    auto info = described<VkSamplerCreateInfo>(VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO);
    info.magFilter = info.minFilter = VK_FILTER_LINEAR;
    info.addressModeU = info.addressModeV = info.addressModeW = VK_SAMPLER_ADDRESS_MODE_REPEAT;
    return info;
  }

  void make_layouts() {
    VkDescriptorSetLayoutBinding bindings[kBindings] = {};
    VkDescriptorPoolSize sizes[kBindings] = {};
    for (uint32_t i = 0; i < kBindings; ++i) {
      bindings[i] = {i, kDescriptors[i], 1, VK_SHADER_STAGE_ALL_GRAPHICS | VK_SHADER_STAGE_COMPUTE_BIT, nullptr};
      sizes[i] = {kDescriptors[i], 1};
    }
    auto set = described<VkDescriptorSetLayoutCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO);
    set.bindingCount = kBindings;
    set.pBindings = bindings;
    set_layout_ = SetLayout(device_, vkCreateDescriptorSetLayout, set, "vkCreateDescriptorSetLayout");
    auto layout = described<VkPipelineLayoutCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO);
    layout.setLayoutCount = 1;
    layout.pSetLayouts = set_layout_.address();
    layout_ = Layout(device_, vkCreatePipelineLayout, layout, "vkCreatePipelineLayout");
    auto pool = described<VkDescriptorPoolCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO);
    pool.maxSets = 1;
    pool.poolSizeCount = kBindings;
    pool.pPoolSizes = sizes;
    pool_ = DescriptorPool(device_, vkCreateDescriptorPool, pool, "vkCreateDescriptorPool");
    auto allocate = described<VkDescriptorSetAllocateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO);
    allocate.descriptorPool = pool_;
    allocate.descriptorSetCount = 1;
    allocate.pSetLayouts = set_layout_.address();
    must(vkAllocateDescriptorSets(device_, &allocate, &set_), "vkAllocateDescriptorSets");
  }

  void make_pass() {
    VkAttachmentDescription attachments[kOutputs] = {};
    VkAttachmentReference references[kOutputs] = {};
    VkImageView views[kOutputs] = {};
    for (uint32_t i = 0; i < kOutputs; ++i) {
      attachments[i].format = kFormat;
      attachments[i].samples = VK_SAMPLE_COUNT_1_BIT;
      attachments[i].loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR;
      attachments[i].storeOp = VK_ATTACHMENT_STORE_OP_STORE;
      attachments[i].initialLayout = VK_IMAGE_LAYOUT_UNDEFINED;
      attachments[i].finalLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
      references[i] = {i, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
      targets_[i] = Target(*this, kWidth, kHeight, kFormat,
                           VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT);
      views[i] = targets_[i].view;
    }
    VkSubpassDescription subpass{};
    subpass.pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS;
    subpass.colorAttachmentCount = kOutputs;
    subpass.pColorAttachments = references;
    auto info = described<VkRenderPassCreateInfo>(VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO);
    info.attachmentCount = kOutputs;
    info.pAttachments = attachments;
    info.subpassCount = 1;
    info.pSubpasses = &subpass;
    pass_ = RenderPass(device_, vkCreateRenderPass, info, "vkCreateRenderPass");
    auto frame = described<VkFramebufferCreateInfo>(VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO);
    frame.renderPass = pass_;
    frame.attachmentCount = kOutputs;
    frame.pAttachments = views;
    frame.width = kWidth;
    frame.height = kHeight;
    frame.layers = 1;
    frame_ = Frame(device_, vkCreateFramebuffer, frame, "vkCreateFramebuffer");
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

  /// A fragment's picture is one large point; of vertices nothing is drawn.
  Pipeline make_pipeline(GlslStage stage, std::span<const uint32_t> spirv) const {
    if (stage == GlslStage::compute) return make_compute_pipeline(device_, layout_, spirv);
    const bool is_vertex = stage == GlslStage::vertex;
    const Shader shader = make_shader(device_, spirv), whole = make_shader(device_, whole_picture);
    VkPipelineShaderStageCreateInfo stages[2] = {};
    for (auto& one : stages) {
      one.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
      one.pName = "main";
    }
    stages[0].stage = VK_SHADER_STAGE_VERTEX_BIT;
    stages[0].module = is_vertex ? shader : whole;
    stages[1].stage = VK_SHADER_STAGE_FRAGMENT_BIT;
    stages[1].module = shader;
    const auto no_vertices =
        described<VkPipelineVertexInputStateCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO);
    auto assembly =
        described<VkPipelineInputAssemblyStateCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO);
    assembly.topology = VK_PRIMITIVE_TOPOLOGY_POINT_LIST;
    const VkViewport viewport{0, 0, kWidth, kHeight, 0, 1};
    const VkRect2D scissor{{0, 0}, {kWidth, kHeight}};
    auto view = described<VkPipelineViewportStateCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO);
    view.viewportCount = view.scissorCount = 1;
    view.pViewports = &viewport;
    view.pScissors = &scissor;
    auto raster =
        described<VkPipelineRasterizationStateCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO);
    raster.rasterizerDiscardEnable = is_vertex ? VK_TRUE : VK_FALSE;
    raster.lineWidth = 1;
    auto samples =
        described<VkPipelineMultisampleStateCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO);
    samples.rasterizationSamples = VK_SAMPLE_COUNT_1_BIT;
    VkPipelineColorBlendAttachmentState all[kOutputs] = {};
    for (auto& one : all) one.colorWriteMask = 15;
    auto blend =
        described<VkPipelineColorBlendStateCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO);
    blend.attachmentCount = kOutputs;
    blend.pAttachments = all;
    auto info = described<VkGraphicsPipelineCreateInfo>(VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO);
    info.stageCount = is_vertex ? 1 : 2;
    info.pStages = stages;
    info.pVertexInputState = &no_vertices;
    info.pInputAssemblyState = &assembly;
    info.pViewportState = &view;
    info.pRasterizationState = &raster;
    info.pMultisampleState = &samples;
    info.pColorBlendState = &blend;
    info.layout = layout_;
    info.renderPass = pass_;
    const auto create = [](VkDevice device, const VkGraphicsPipelineCreateInfo* wanted,
                           const VkAllocationCallbacks* allocator, VkPipeline* made) {
      return vkCreateGraphicsPipelines(device, nullptr, 1, wanted, allocator, made);
    };
    return Pipeline(device_, create, info, "vkCreateGraphicsPipelines");
  }

  void move(VkImage image, VkImageLayout from, VkImageLayout to) const {
    auto barrier = described<VkImageMemoryBarrier>(VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER);
    barrier.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
    barrier.oldLayout = from;
    barrier.newLayout = to;
    barrier.image = image;
    barrier.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    vkCmdPipelineBarrier(commands_, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0,
                         nullptr, 0, nullptr, 1, &barrier);
  }

  void draw(GlslStage stage, VkPipeline pipeline, VkBuffer out) {
    VkClearValue clear{};
    for (float& number : clear.color.float32) number = kNotWritten;
    const VkClearValue clears[kOutputs] = {clear, clear};
    auto pass = described<VkRenderPassBeginInfo>(VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO);
    pass.renderPass = pass_;
    pass.framebuffer = frame_;
    pass.renderArea = {{0, 0}, {kWidth, kHeight}};
    pass.clearValueCount = kOutputs;
    pass.pClearValues = clears;
    vkCmdBeginRenderPass(commands_, &pass, VK_SUBPASS_CONTENTS_INLINE);
    vkCmdBindPipeline(commands_, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    vkCmdBindDescriptorSets(commands_, VK_PIPELINE_BIND_POINT_GRAPHICS, layout_, 0, 1, &set_, 0, nullptr);
    vkCmdDraw(commands_, stage == GlslStage::vertex ? kThreads : 1, 1, 0, 0);
    vkCmdEndRenderPass(commands_);
    if (stage == GlslStage::fragment)
      for (uint32_t i = 0; i < kOutputs; ++i) {
        VkBufferImageCopy back{};
        back.bufferOffset = i * kThreads * sizeof(JudgedThread::output[0]);
        back.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
        back.imageExtent = {kWidth, kHeight, 1};
        vkCmdCopyImageToBuffer(commands_, targets_[i].image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, out, 1, &back);
      }
  }

  void record(GlslStage stage, VkPipeline pipeline, VkImage image, VkBuffer texels, VkBuffer out) {
    auto begin = described<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
    begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    must(vkBeginCommandBuffer(commands_, &begin), "vkBeginCommandBuffer");
    move(image, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    VkBufferImageCopy copy{};
    copy.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    copy.imageExtent = {kTexels, kTexels, 1};
    vkCmdCopyBufferToImage(commands_, texels, image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &copy);
    move(image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
    if (stage == GlslStage::compute) {
      vkCmdBindPipeline(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
      vkCmdBindDescriptorSets(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, layout_, 0, 1, &set_, 0, nullptr);
      vkCmdDispatch(commands_, kThreads / kGroup, 1, 1);
    } else {
      draw(stage, pipeline, out);
    }
    must(vkEndCommandBuffer(commands_), "vkEndCommandBuffer");
  }

  void submit() const {
    auto info = described<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
    info.commandBufferCount = 1;
    info.pCommandBuffers = &commands_;
    must(vkQueueSubmit(queue_, 1, &info, nullptr), "vkQueueSubmit");
    must(vkQueueWaitIdle(queue_), "vkQueueWaitIdle");
  }

  /// Pictures one after the other, as pairs.
  static std::vector<JudgedThread> by_thread(const std::vector<JudgedThread>& pictures) {
    std::vector<JudgedThread> threads(kThreads);
    const auto* pixels = pictures.front().output;
    for (uint32_t i = 0; i < kThreads; ++i)
      for (uint32_t output = 0; output < kOutputs; ++output) threads[i].output[output] = pixels[output * kThreads + i];
    return threads;
  }

  VkInstance instance_;
  uint32_t memory_type_;
  VkDevice device_ = nullptr;
  VkQueue queue_ = nullptr;
  SetLayout set_layout_;
  Layout layout_;
  DescriptorPool pool_;
  VkDescriptorSet set_ = nullptr;
  Target targets_[kOutputs];
  RenderPass pass_;
  Frame frame_;
  CommandPool command_pool_;
  VkCommandBuffer commands_ = nullptr;
};

}  // namespace

Result<std::unique_ptr<ShaderJudge>> ShaderJudge::open() {
  VkInstance instance = nullptr;
  if (const VkPhysicalDevice device = open_lavapipe(instance)) return std::make_unique<Judge>(instance, device);
  return fail(Errc::unsupported, "there is no lavapipe: install mesa-vulkan-drivers");
}

}  // namespace smelt::test
#else
namespace smelt::test {

Result<std::unique_ptr<ShaderJudge>> ShaderJudge::open() {
  return fail(Errc::unsupported, "built without Vulkan (libvulkan-dev and glslang-tools) or with sanitizers");
}

}  // namespace smelt::test
#endif
