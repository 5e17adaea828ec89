// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Encoders as they are kept: both write into the command list of their command buffer.
#pragma once

#include "Metal/MTLBlitCommandEncoder.hpp"
#include "Metal/MTLComputeCommandEncoder.hpp"
#include "queue_object.hpp"
#include "sync_object.hpp"

#include <array>

namespace smelt::metal {

class FunctionTableObject;

/// What compute and blit encoders have in common.
struct EncoderState {
  NS::SharedPtr<CommandBufferObject> buffer;
  size_t step = 0;  // in the command list
  bool ended = false;
  Label label;
  std::vector<std::string> debug_groups;
  std::unordered_map<uint64_t, bool> pass_uses;  // of a pass that is one unit: resource, whether it is written

  /// Whether commands may be added; says what is wrong if not.
  bool may_encode(const char* call);
  Step& pass() { return buffer->list.steps[step]; }
  void end(const MTL::CommandEncoder* encoder);
  /// Null, which was reported, when the fence cannot be used here.
  FenceObject* usable_fence(const char* call, const MTL::Fence* fence);
  void update_fence(const char* call, const MTL::Fence* fence);
  void wait_for_fence(const char* call, const MTL::Fence* fence);
  void note_use(uint64_t hazard, bool writes);
  /// A unit of the pass that goes on until endEncoding.
  void add_to_only_unit(Command command);
  void name_pass();
};

class ComputeEncoderObject final : public MTL::ComputeCommandEncoder {
 public:
  ~ComputeEncoderObject() override;
  std::string_view class_name() const override { return "MTLComputeCommandEncoder"; }

  static constexpr size_t kSlots = 31;
  struct Slot {
    bool is_bound = false;
    BufferObject* buffer = nullptr;  // kept by the command buffer
    std::byte* data = nullptr;
    uint64_t bytes = 0;
    bool is_table = false;                       // and no buffer
    const FunctionTableObject* table = nullptr;  // kept likewise; null: the null table
  };
  EncoderState state;
  MTL::DispatchType type = MTL::DispatchTypeSerial;
  PipelineObject* pipeline = nullptr;  // kept likewise
  std::array<Slot, kSlots> slots;
  std::array<uint32_t, kSlots> threadgroup_bytes{};
  static constexpr size_t kTextures = row_of(BindingClass::texture).slots;
  static constexpr size_t kSamplers = row_of(BindingClass::sampler).slots;
  std::array<TextureObject*, kTextures> textures{};  // kept by the command buffer
  std::array<SamplerObject*, kSamplers> samplers{};
  std::unordered_map<uint64_t, bool> used;  // useResource: what kernels reach through memory
  std::vector<const Reachable*> reachable;  // useResource: only for checked code
  bool barrier = false;                     // before the next dispatch

  void set_buffer(const char* call, const MTL::Buffer* buffer, uint64_t offset, uint64_t index);
  void set_texture(const char* call, const MTL::Texture* texture, uint64_t index);
  void set_table(const char* call, const MTL::VisibleFunctionTable* table, uint64_t index);
  void set_sampler(const char* call, const MTL::SamplerState* sampler, uint64_t index);
  void dispatch(const char* call, DispatchCommand command, const BufferObject* indirect);

 private:
  std::string trouble_with_group(const MTL::Size& group) const;
  std::string trouble_with_bindings() const;
  std::string trouble_with_lengths() const;
  std::string trouble_with_tables() const;
  void bind(DispatchCommand& command);
  void bind_textures(CommandList& list);
  void bind_tables(CommandList& list);
  void note_textures(std::unordered_map<uint64_t, bool>& uses) const;
};

class BlitEncoderObject final : public MTL::BlitCommandEncoder {
 public:
  ~BlitEncoderObject() override;
  std::string_view class_name() const override { return "MTLBlitCommandEncoder"; }
  EncoderState state;
};

MTL::ComputeCommandEncoder* begin_compute(CommandBufferObject& buffer, const char* call, MTL::DispatchType type);
/// Of a command buffer that is committed too early.
void end_open_encoder(CommandBufferObject& buffer);
MTL::BlitCommandEncoder* begin_blit(CommandBufferObject& buffer, const char* call);

}  // namespace smelt::metal
