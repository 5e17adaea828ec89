// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What compute and blit encoders have in common, and how both begin.
#include "smelt/base/trace.hpp"

#include "Metal/Metal.hpp"
#include "compute_encoder.hpp"
#include "holder.hpp"
#include "validation.hpp"

namespace smelt::metal {

bool EncoderState::may_encode(const char* call) {
  if (!ended) return true;
  buffer->reject(misuse(call, "endEncoding was called already"));
  return false;
}

void EncoderState::name_pass() {
  if (!tracing()) return;
  std::string name = text_of(buffer->label.get());
  const auto add = [&](const std::string& part) {
    if (!part.empty()) name += (name.empty() ? "" : " / ") + part;
  };
  for (const std::string& group : buffer->debug_groups) add(group);
  add(text_of(label.get()));
  for (const std::string& group : debug_groups) add(group);
  pass().label = name;
}

void EncoderState::end(const MTL::CommandEncoder* encoder) {
  if (!may_encode("-[MTLCommandEncoder endEncoding]")) return;
  if (!pass_uses.empty()) {
    if (pass().units.empty()) pass().units.emplace_back();
    for (const auto& [resource, writes] : pass_uses) pass().units.front().uses.push_back({resource, writes});
  }
  if (pass().label.empty()) name_pass();
  ended = true;
  if (buffer->open_encoder == encoder) buffer->open_encoder = nullptr;
}

FenceObject* EncoderState::usable_fence(const char* call, const MTL::Fence* fence) {
  if (!may_encode(call)) return nullptr;
  if (fence == nullptr)
    buffer->reject(misuse(call, "fence is null"));
  else if (from(fence).device != &buffer->queue->device)
    buffer->reject(misuse(call, "the fence is of another device"));
  else
    return &from(fence);
  return nullptr;
}
void EncoderState::update_fence(const char* call, const MTL::Fence* fence) {
  if (FenceObject* const found = usable_fence(call, fence)) pass().updates.push_back(NS::RetainPtr(found));
}
void EncoderState::wait_for_fence(const char* call, const MTL::Fence* fence) {
  if (FenceObject* const found = usable_fence(call, fence)) pass().waits.push_back(NS::RetainPtr(found));
}

void EncoderState::note_use(uint64_t hazard, bool writes) {
  if (hazard != 0) pass_uses[hazard] |= writes;
}

void EncoderState::add_to_only_unit(Command command) {
  std::vector<Unit>& units = pass().units;
  if (units.empty()) {
    units.emplace_back();
    units.back().first = buffer->list.commands.size();
  }
  buffer->list.commands.push_back(std::move(command));
  ++units.back().count;
}

namespace {

template <class Encoder>
Encoder* begin(CommandBufferObject& buffer, const char* call) {
  if (!buffer.may_encode(call)) return nullptr;
  auto* encoder = new Encoder;
  encoder->state.buffer = NS::RetainPtr(&buffer);
  encoder->state.step = buffer.list.steps.size();
  buffer.list.steps.emplace_back();
  buffer.open_encoder = encoder;
  encoder->autorelease();
  return encoder;
}

EncoderState& state_of(MTL::CommandEncoder* encoder) {
  if (auto* compute = dynamic_cast<ComputeEncoderObject*>(encoder)) return compute->state;
  return static_cast<BlitEncoderObject*>(encoder)->state;
}
const EncoderState& state_of(const MTL::CommandEncoder* encoder) {
  return state_of(const_cast<MTL::CommandEncoder*>(encoder));
}

struct ComputePassValues {
  static constexpr std::string_view kClass = "MTLComputePassDescriptor";
  MTL::DispatchType type = MTL::DispatchTypeSerial;
};
struct BlitPassValues {
  static constexpr std::string_view kClass = "MTLBlitPassDescriptor";
};

}  // namespace

void end_open_encoder(CommandBufferObject& buffer) {
  if (buffer.open_encoder != nullptr) state_of(buffer.open_encoder).end(buffer.open_encoder);
}

MTL::ComputeCommandEncoder* begin_compute(CommandBufferObject& buffer, const char* call, MTL::DispatchType type) {
  auto* encoder = begin<ComputeEncoderObject>(buffer, call);
  if (encoder != nullptr) encoder->type = type;
  return encoder;
}
MTL::BlitCommandEncoder* begin_blit(CommandBufferObject& buffer, const char* call) {
  return begin<BlitEncoderObject>(buffer, call);
}

}  // namespace smelt::metal

namespace MTL {
using namespace smelt::metal;

SMELT_DESCRIPTOR(ComputePassDescriptor, ComputePassValues)
SMELT_VALUE(ComputePassDescriptor, DispatchType, dispatchType, setDispatchType, type)
ComputePassDescriptor* ComputePassDescriptor::computePassDescriptor() {
  return alloc()->init()->autorelease();
}
SMELT_DESCRIPTOR(BlitPassDescriptor, BlitPassValues)
BlitPassDescriptor* BlitPassDescriptor::blitPassDescriptor() {
  return alloc()->init()->autorelease();
}

SMELT_LABEL_AND_DEVICE(CommandEncoder, state_of(this).label, &state_of(this).buffer->queue->device)
void CommandEncoder::endEncoding() {
  state_of(this).end(this);
}
void CommandEncoder::insertDebugSignpost(const NS::String*) {}
void CommandEncoder::pushDebugGroup(const NS::String* name) {
  EncoderState& state = state_of(this);
  if (!state.may_encode("-[MTLCommandEncoder pushDebugGroup:]")) return;
  state.debug_groups.push_back(text_of(name));
  if (state.pass().label.empty()) state.name_pass();
}
void CommandEncoder::popDebugGroup() {
  EncoderState& state = state_of(this);
  if (state.debug_groups.empty())
    state.buffer->reject(misuse("-[MTLCommandEncoder popDebugGroup]", "no group was pushed"));
  else
    state.debug_groups.pop_back();
}

}  // namespace MTL
