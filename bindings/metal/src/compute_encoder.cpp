// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compute_encoder.hpp"

#include "Metal/Metal.hpp"
#include "function_table.hpp"
#include "validation.hpp"

#include <algorithm>
#include <bit>

namespace smelt::metal {
namespace {

constexpr uint64_t kMostInlineBytes = 4096;
constexpr uint64_t kLeastBytes = 64;

ComputeEncoderObject& from(MTL::ComputeCommandEncoder* encoder) {
  return static_cast<ComputeEncoderObject&>(*encoder);
}

}  // namespace

ComputeEncoderObject::~ComputeEncoderObject() {
  if (state.ended) return;
  state.buffer->reject(misuse("-[MTLComputeCommandEncoder release]", "the encoder was released without endEncoding"));
  state.end(this);
}

void ComputeEncoderObject::set_buffer(const char* call, const MTL::Buffer* given, uint64_t offset, uint64_t index) {
  if (!state.may_encode(call)) return;
  if (index >= kSlots) {
    state.buffer->reject(misuse(call, "index {} is above {}", index, kSlots - 1));
    return;
  }
  Slot slot;
  slot.is_bound = true;
  if (given != nullptr) {
    BufferObject& buffer = smelt::metal::from(given);
    if (buffer.device != &state.buffer->queue->device) {
      state.buffer->reject(misuse(call, "the buffer at index {} is of another device", index));
      return;
    }
    if (offset > buffer.bytes) {
      state.buffer->reject(misuse(call, "offset {} at index {} is past the end of buffer '{}' of {} bytes", offset,
                                  index, text_of(buffer.label.get()), buffer.bytes));
      return;
    }
    slot.buffer = &buffer;
    slot.data = buffer.start + offset;
    slot.bytes = buffer.bytes - offset;
    state.buffer->keep_resource(&buffer);
  }
  slots[index] = slot;
}

void ComputeEncoderObject::set_texture(const char* call, const MTL::Texture* given, uint64_t index) {
  if (!state.may_encode(call)) return;
  if (index >= kTextures) {
    state.buffer->reject(misuse(call, "index {} is above {}", index, kTextures - 1));
    return;
  }
  textures[index] = given != nullptr ? &smelt::metal::from(given) : nullptr;
  if (given == nullptr) return;
  if (textures[index]->device != &state.buffer->queue->device)
    state.buffer->reject(misuse(call, "the texture at index {} is of another device", index));
  state.buffer->keep_resource(textures[index]);
}

void ComputeEncoderObject::set_sampler(const char* call, const MTL::SamplerState* given, uint64_t index) {
  if (!state.may_encode(call)) return;
  if (index >= kSamplers) {
    state.buffer->reject(misuse(call, "index {} is above {}", index, kSamplers - 1));
    return;
  }
  samplers[index] = given != nullptr ? &smelt::metal::from(given) : nullptr;
  if (given != nullptr) state.buffer->keep(samplers[index]);
}

void ComputeEncoderObject::set_table(const char* call, const MTL::VisibleFunctionTable* given, uint64_t index) {
  if (!state.may_encode(call)) return;
  if (index >= kSlots) {
    state.buffer->reject(misuse(call, "index {} is above {}", index, kSlots - 1));
    return;
  }
  slots[index] = {.is_bound = true, .is_table = true};
  if (given == nullptr) return;
  FunctionTableObject& table = smelt::metal::from(given);
  if (table.device != &state.buffer->queue->device) {
    state.buffer->reject(misuse(call, "the function table at index {} is of another device", index));
    return;
  }
  slots[index].table = &table;
  state.buffer->keep_resource(&table);
}

void ComputeEncoderObject::bind_tables(CommandList& list) {
  for (SlotMask mask = pipeline->used[BindingClass::table]; mask != 0; mask &= mask - 1) {
    const uint32_t index = lowest_slot(mask);
    if (index >= kSlots || !slots[index].is_table) continue;
    list.bounds.push_back({.index = index, .kind = BindingClass::table, .object = slots[index].table});
  }
}

void ComputeEncoderObject::bind_textures(CommandList& list) {
  for (SlotMask mask = pipeline->used[BindingClass::texture]; mask != 0; mask &= mask - 1) {
    const uint32_t index = lowest_slot(mask);
    if (textures[index] == nullptr) continue;
    list.bounds.push_back({.index = index, .kind = BindingClass::texture, .object = textures[index]});
  }
  for (SlotMask mask = pipeline->used[BindingClass::sampler]; mask != 0; mask &= mask - 1) {
    const uint32_t index = lowest_slot(mask);
    if (samplers[index] == nullptr) continue;
    list.bounds.push_back({.index = index, .kind = BindingClass::sampler, .object = samplers[index]});
  }
}

void ComputeEncoderObject::note_textures(std::unordered_map<uint64_t, bool>& uses) const {
  for (const loader::ArgInfo& argument : pipeline->pipeline->args()) {
    if (argument.kind != ArgumentKind::texture) continue;
    const bool writes = argument.access == Access::write || argument.access == Access::read_write;
    for (uint64_t slot = argument.index; slot < kTextures && slot < argument.index + argument.array_size; ++slot)
      if (textures[slot] != nullptr && textures[slot]->hazard != 0) uses[textures[slot]->hazard] |= writes;
  }
}

std::string ComputeEncoderObject::trouble_with_group(const MTL::Size& group) const {
  const uint64_t most = pipeline->most_threads;
  if (group.width == 0 || group.height == 0 || group.depth == 0)
    return fmt::format("threadsPerThreadgroup ({}, {}, {}) has a 0", group.width, group.height, group.depth);
  const bool fits = group.width <= most && group.height <= most && group.depth <= most &&
                    group.width * group.height * group.depth <= most;
  if (!fits)
    return fmt::format("threadsPerThreadgroup ({}, {}, {}) is above the pipeline's maxTotalThreadsPerThreadgroup of {}",
                       group.width, group.height, group.depth, most);
  if (pipeline->whole_simdgroups &&
      group.width * group.height * group.depth % pipeline->pipeline->thread_execution_width() != 0)
    return fmt::format(
        "threadsPerThreadgroup ({}, {}, {}) is not a multiple of threadExecutionWidth {}, which "
        "threadGroupSizeIsMultipleOfThreadExecutionWidth promises",
        group.width, group.height, group.depth, pipeline->pipeline->thread_execution_width());
  uint64_t bytes = pipeline->pipeline->static_threadgroup_memory_length();
  for (const uint32_t length : threadgroup_bytes) bytes += length;
  const uint64_t limit = state.buffer->queue->device.loader->limits().max_threadgroup_memory;
  if (bytes > limit) return fmt::format("threadgroup memory of {} bytes is above the device's {}", bytes, limit);
  return {};
}

std::string ComputeEncoderObject::trouble_with_bindings() const {
  for (uint32_t needed = pipeline->needed; needed != 0; needed &= needed - 1) {
    const auto index = static_cast<uint32_t>(std::countr_zero(needed));
    if (slots[index].is_bound) continue;
    std::string name;
    for (const loader::ArgInfo& argument : pipeline->pipeline->args())
      if (argument.index == index && class_of(argument.kind) == BindingClass::buffer) name = argument.name;
    return fmt::format("missing buffer binding at index {} for '{}'", index, name);
  }
  for (const loader::ArgInfo& argument : pipeline->pipeline->args()) {
    if (argument.unused || argument.conditional || pipeline->has_constants) continue;
    const bool is_texture = argument.kind == ArgumentKind::texture, is_sampler = argument.kind == ArgumentKind::sampler;
    for (uint64_t slot = argument.index; slot < argument.index + argument.array_size; ++slot)
      if ((is_texture && slot < kTextures && textures[slot] == nullptr) ||
          (is_sampler && slot < kSamplers && samplers[slot] == nullptr))
        return fmt::format("missing {} binding at index {} for '{}'", to_string(argument.kind), slot, argument.name);
  }
  return {};
}

/// Metal's debug layer refuses these lengths. Without the layer a GPU reads on past the end; here a kernel then reads
/// zeros after the bytes of setBytes (see bind()), and other memory that is too short is still refused.
std::string ComputeEncoderObject::trouble_with_lengths() const {
  for (const loader::LeastBytes& least : pipeline->pipeline->least_bytes()) {
    const Slot& slot = slots[least.slot];
    const bool may_be_padded = slot.buffer == nullptr && validation_is_off();
    if (slot.is_bound && slot.data != nullptr && !least.holds(slot.bytes) && !may_be_padded)
      return loader::too_short(least, slot.bytes, pipeline->pipeline->args());
  }
  return {};
}

std::string ComputeEncoderObject::trouble_with_tables() const {
  for (const loader::ArgInfo& argument : pipeline->pipeline->args()) {
    const std::optional<BindingClass> kind = class_of(argument.kind);
    if (argument.unused || argument.conditional || pipeline->has_constants || argument.index >= kSlots) continue;
    const Slot& slot = slots[argument.index];
    if (kind == BindingClass::buffer && slot.is_table)
      return fmt::format("a function table is bound at index {}, where '{}' is a buffer", argument.index,
                         argument.name);
    if (kind != BindingClass::table) continue;
    if (!slot.is_table)
      return fmt::format("{} at index {} for function table '{}'",
                         slot.is_bound ? "a buffer is bound" : "missing binding", argument.index, argument.name);
    if (slot.table != nullptr && slot.table->pipeline.get() != pipeline)
      return fmt::format("the function table at index {} for '{}' is of pipeline '{}'; a table is for its own pipeline",
                         argument.index, argument.name, slot.table->pipeline->pipeline->name());
  }
  return {};
}

void ComputeEncoderObject::bind(DispatchCommand& command) {
  CommandList& list = state.buffer->list;
  command.first_bound = list.bounds.size();
  for (uint32_t mask = pipeline->used[BindingClass::buffer]; mask != 0; mask &= mask - 1) {
    const auto index = static_cast<uint32_t>(std::countr_zero(mask));
    const Slot& slot = slots[index];
    if (const uint64_t bytes = pipeline->conditional[index]; bytes != 0 && (!slot.is_bound || slot.bytes < bytes)) {
      // On a GPU, code for an argument that is not there is gone once the constants are known; here it may read. What
      // is too short for the argument was bound for another kernel.
      const uint64_t given = std::clamp(bytes, kLeastBytes, kMostInlineBytes);
      list.bounds.push_back({index, BindingClass::buffer, list.arena.zeros(given), given});
      continue;
    }
    if (slot.is_bound || pipeline->has_constants)
      list.bounds.push_back({index, BindingClass::buffer, slot.data, slot.bytes});
  }
  if (validation_is_off())
    for (const loader::LeastBytes& least : pipeline->pipeline->least_bytes()) {
      const Slot& slot = slots[least.slot];
      if (!slot.is_bound || slot.data == nullptr || least.holds(slot.bytes)) continue;
      std::byte* const whole = list.arena.zeros(least.bytes);
      std::copy_n(slot.data, slot.bytes, whole);
      list.bounds.push_back({least.slot, BindingClass::buffer, whole, least.bytes});
    }
  for (uint32_t i = 0; i < kSlots; ++i)
    if (threadgroup_bytes[i] != 0) list.bounds.push_back({i, BindingClass::threadgroup, nullptr, threadgroup_bytes[i]});
  bind_tables(list);
  bind_textures(list);
  command.bounds = list.bounds.size() - command.first_bound;
  if (!state.buffer->queue->device.checked) return;
  command.first_use = list.uses.size();
  list.uses.insert(list.uses.end(), reachable.begin(), reachable.end());
  for (uint32_t mask = pipeline->used[BindingClass::buffer]; mask != 0; mask &= mask - 1)
    if (const BufferObject* const buffer = slots[lowest_slot(mask)].buffer) list.uses.push_back(buffer);
  command.uses = list.uses.size() - command.first_use;
}

void ComputeEncoderObject::dispatch(const char* call, DispatchCommand command, const BufferObject* indirect) {
  if (!state.may_encode(call)) return;
  std::string trouble =
      pipeline == nullptr ? "no pipeline was set (setComputePipelineState:)" : trouble_with_group(command.group);
  if (trouble.empty()) trouble = trouble_with_bindings();
  if (trouble.empty()) trouble = trouble_with_tables();
  if (trouble.empty()) trouble = trouble_with_lengths();
  if (!trouble.empty()) {
    const std::string of = pipeline != nullptr ? fmt::format("kernel '{}': ", pipeline->pipeline->name()) : "";
    state.buffer->reject(misuse(call, "{}{}", of, trouble));
    return;
  }
  command.pipeline = pipeline;
  bind(command);
  std::unordered_map<uint64_t, bool> uses = used;
  for (uint32_t mask = pipeline->used[BindingClass::buffer]; mask != 0; mask &= mask - 1) {
    const auto index = static_cast<uint32_t>(std::countr_zero(mask));
    if (slots[index].buffer != nullptr && slots[index].buffer->hazard != 0)
      uses[slots[index].buffer->hazard] |= (pipeline->written >> index & 1) != 0;
  }
  note_textures(uses);
  if (indirect != nullptr && indirect->hazard != 0) uses[indirect->hazard] |= false;
  if (type == MTL::DispatchTypeSerial) {
    for (const auto& [resource, writes] : uses) state.note_use(resource, writes);
    state.add_to_only_unit(std::move(command));
    return;
  }
  Unit unit;
  unit.first = state.buffer->list.commands.size();
  unit.count = 1;
  unit.after_barrier = std::exchange(barrier, false);
  Step& pass = state.pass();
  if (!pass.concurrent) pass.concurrent = loader::make_concurrent_pass();
  if (!pass.units.empty()) unit.barriers = pass.units.back().barriers + (unit.after_barrier ? 1 : 0);
  for (const auto& [resource, writes] : uses) unit.uses.push_back({resource, writes});
  state.buffer->list.commands.push_back(std::move(command));
  pass.units.push_back(std::move(unit));
}

}  // namespace smelt::metal

namespace MTL {
using namespace smelt::metal;

DispatchType ComputeCommandEncoder::dispatchType() const {
  return static_cast<const ComputeEncoderObject*>(this)->type;
}

void ComputeCommandEncoder::setComputePipelineState(const ComputePipelineState* state) {
  constexpr const char* kCall = "-[MTLComputeCommandEncoder setComputePipelineState:]";
  ComputeEncoderObject& encoder = from(this);
  if (!encoder.state.may_encode(kCall)) return;
  if (state == nullptr) {
    encoder.state.buffer->reject(misuse(kCall, "state is null"));
    return;
  }
  PipelineObject& pipeline = from(state);
  if (pipeline.device != &encoder.state.buffer->queue->device) {
    encoder.state.buffer->reject(misuse(kCall, "the pipeline is of another device"));
    return;
  }
  encoder.pipeline = &pipeline;
  encoder.state.buffer->keep(&pipeline);
}

void ComputeCommandEncoder::setBytes(const void* bytes, NS::UInteger length, NS::UInteger index) {
  constexpr const char* kCall = "-[MTLComputeCommandEncoder setBytes:length:atIndex:]";
  ComputeEncoderObject& encoder = from(this);
  if (!encoder.state.may_encode(kCall)) return;
  CommandBufferObject& buffer = *encoder.state.buffer;
  if (index >= ComputeEncoderObject::kSlots) {
    buffer.reject(misuse(kCall, "index {} is above {}", index, ComputeEncoderObject::kSlots - 1));
  } else if (length == 0 && validation_is_off()) {
    // A list without elements, say: who reads what is not there reads zeros.
    encoder.slots[index] = {true, nullptr, buffer.list.arena.zeros(kLeastBytes), 0};
  } else if (bytes == nullptr || length == 0) {
    buffer.reject(misuse(kCall, "bytes {}, length {} at index {}: neither may be zero", bytes, length, index));
  } else if (length > kMostInlineBytes) {
    buffer.reject(misuse(kCall, "length {} is above {}; use a buffer", length, kMostInlineBytes));
  } else {
    encoder.slots[index] = {true, nullptr, buffer.list.arena.copy(bytes, length), length};
  }
}

void ComputeCommandEncoder::setBuffer(const Buffer* buffer, NS::UInteger offset, NS::UInteger index) {
  from(this).set_buffer("-[MTLComputeCommandEncoder setBuffer:offset:atIndex:]", buffer, offset, index);
}
void ComputeCommandEncoder::setBufferOffset(NS::UInteger offset, NS::UInteger index) {
  constexpr const char* kCall = "-[MTLComputeCommandEncoder setBufferOffset:atIndex:]";
  ComputeEncoderObject& encoder = from(this);
  if (!encoder.state.may_encode(kCall)) return;
  if (index >= ComputeEncoderObject::kSlots || encoder.slots[index].buffer == nullptr) {
    encoder.state.buffer->reject(misuse(kCall, "no buffer is set at index {}", index));
    return;
  }
  encoder.set_buffer(kCall, encoder.slots[index].buffer, offset, index);
}
void ComputeCommandEncoder::setBuffers(const Buffer* const buffers[], const NS::UInteger offsets[], NS::Range range) {
  for (NS::UInteger i = 0; i < range.length; ++i)
    from(this).set_buffer("-[MTLComputeCommandEncoder setBuffers:offsets:withRange:]", buffers[i], offsets[i],
                          range.location + i);
}
void ComputeCommandEncoder::setTexture(const Texture* texture, NS::UInteger index) {
  from(this).set_texture("-[MTLComputeCommandEncoder setTexture:atIndex:]", texture, index);
}
void ComputeCommandEncoder::setTextures(const Texture* const textures[], NS::Range range) {
  for (NS::UInteger i = 0; i < range.length; ++i)
    from(this).set_texture("-[MTLComputeCommandEncoder setTextures:withRange:]", textures[i], range.location + i);
}
void ComputeCommandEncoder::setSamplerState(const SamplerState* sampler, NS::UInteger index) {
  from(this).set_sampler("-[MTLComputeCommandEncoder setSamplerState:atIndex:]", sampler, index);
}
void ComputeCommandEncoder::setSamplerStates(const SamplerState* const samplers[], NS::Range range) {
  for (NS::UInteger i = 0; i < range.length; ++i)
    from(this).set_sampler("-[MTLComputeCommandEncoder setSamplerStates:withRange:]", samplers[i], range.location + i);
}
void ComputeCommandEncoder::setVisibleFunctionTable(const VisibleFunctionTable* table, NS::UInteger bufferIndex) {
  from(this).set_table("-[MTLComputeCommandEncoder setVisibleFunctionTable:atBufferIndex:]", table, bufferIndex);
}
void ComputeCommandEncoder::setVisibleFunctionTables(const VisibleFunctionTable* const tables[],
                                                     NS::Range bufferRange) {
  for (NS::UInteger i = 0; i < bufferRange.length; ++i)
    from(this).set_table("-[MTLComputeCommandEncoder setVisibleFunctionTables:withBufferRange:]", tables[i],
                         bufferRange.location + i);
}
void ComputeCommandEncoder::setThreadgroupMemoryLength(NS::UInteger length, NS::UInteger index) {
  constexpr const char* kCall = "-[MTLComputeCommandEncoder setThreadgroupMemoryLength:atIndex:]";
  ComputeEncoderObject& encoder = from(this);
  if (!encoder.state.may_encode(kCall)) return;
  CommandBufferObject& buffer = *encoder.state.buffer;
  const uint64_t limit = buffer.queue->device.loader->limits().max_threadgroup_memory;
  if (index >= ComputeEncoderObject::kSlots)
    buffer.reject(misuse(kCall, "index {} is above {}", index, ComputeEncoderObject::kSlots - 1));
  else if (length % 16 != 0 && !validation_is_off())
    buffer.reject(misuse(kCall, "length {} at index {} is not a multiple of 16", length, index));
  else if (length > limit)
    buffer.reject(misuse(kCall, "length {} at index {} is above the device's {}", length, index, limit));
  else
    encoder.threadgroup_bytes[index] = static_cast<uint32_t>((length + 15) & ~NS::UInteger{15});
}

void ComputeCommandEncoder::dispatchThreads(Size threadsPerGrid, Size threadsPerThreadgroup) {
  DispatchCommand command;
  command.grid = threadsPerGrid;
  command.group = threadsPerThreadgroup;
  from(this).dispatch("-[MTLComputeCommandEncoder dispatchThreads:threadsPerThreadgroup:]", command, nullptr);
}
void ComputeCommandEncoder::dispatchThreadgroups(Size threadgroupsPerGrid, Size threadsPerThreadgroup) {
  DispatchCommand command;
  command.grid = threadgroupsPerGrid;
  command.counts_groups = true;
  command.group = threadsPerThreadgroup;
  from(this).dispatch("-[MTLComputeCommandEncoder dispatchThreadgroups:threadsPerThreadgroup:]", command, nullptr);
}
void ComputeCommandEncoder::dispatchThreadgroups(const Buffer* indirectBuffer, NS::UInteger indirectBufferOffset,
                                                 Size threadsPerThreadgroup) {
  constexpr const char* kCall =
      "-[MTLComputeCommandEncoder dispatchThreadgroupsWithIndirectBuffer:indirectBufferOffset:threadsPerThreadgroup:]";
  ComputeEncoderObject& encoder = from(this);
  CommandBufferObject& to = *encoder.state.buffer;
  constexpr uint64_t kBytes = sizeof(DispatchThreadgroupsIndirectArguments);
  if (indirectBuffer == nullptr) {
    to.reject(misuse(kCall, "indirectBuffer is null"));
    return;
  }
  BufferObject& buffer = from(indirectBuffer);
  if (indirectBufferOffset % 4 != 0 || indirectBufferOffset > buffer.bytes ||
      kBytes > buffer.bytes - indirectBufferOffset) {
    to.reject(misuse(kCall, "indirectBufferOffset {}: want a multiple of 4 with {} bytes behind it in {} bytes",
                     indirectBufferOffset, kBytes, buffer.bytes));
    return;
  }
  to.keep_resource(&buffer);
  DispatchCommand command;
  command.counts_groups = true;
  command.indirect = buffer.start + indirectBufferOffset;
  command.group = threadsPerThreadgroup;
  encoder.dispatch(kCall, command, &buffer);
}

void ComputeCommandEncoder::updateFence(const Fence* fence) {
  from(this).state.update_fence("-[MTLComputeCommandEncoder updateFence:]", fence);
}
void ComputeCommandEncoder::waitForFence(const Fence* fence) {
  from(this).state.wait_for_fence("-[MTLComputeCommandEncoder waitForFence:]", fence);
}
void ComputeCommandEncoder::useResource(const Resource* resource, ResourceUsage usage) {
  useResources(&resource, 1, usage);
}
void ComputeCommandEncoder::useResources(const Resource* const resources[], NS::UInteger count, ResourceUsage usage) {
  constexpr const char* kCall = "-[MTLComputeCommandEncoder useResources:count:usage:]";
  ComputeEncoderObject& encoder = from(this);
  if (!encoder.state.may_encode(kCall)) return;
  const bool is_checked(encoder.state.buffer->queue->device.checked);
  for (NS::UInteger i = 0; i < count; ++i) {
    if (resources[i] == nullptr) {
      encoder.state.buffer->reject(misuse(kCall, "resource {} is null", i));
      return;
    }
    encoder.state.buffer->keep_resource(const_cast<Resource*>(resources[i]));
    if (const uint64_t hazard = hazard_of(*resources[i]); hazard != 0)
      encoder.used[hazard] |= (usage & ResourceUsageWrite) != 0;
    if (!is_checked) continue;
    if (const auto* const reachable = dynamic_cast<const Reachable*>(resources[i]))
      encoder.reachable.push_back(reachable);
  }
}
void ComputeCommandEncoder::useHeap(const Heap* heap) {
  useHeaps(&heap, 1);
}
void ComputeCommandEncoder::useHeaps(const Heap* const heaps[], NS::UInteger count) {
  ComputeEncoderObject& encoder = from(this);
  if (!encoder.state.may_encode("-[MTLComputeCommandEncoder useHeaps:count:]")) return;
  for (NS::UInteger i = 0; i < count; ++i) {
    encoder.state.buffer->keep_resource(const_cast<Heap*>(heaps[i]));
    if (const uint64_t hazard = from(heaps[i]).hazard; hazard != 0) encoder.used[hazard] |= false;
  }
}
void ComputeCommandEncoder::memoryBarrier(BarrierScope) {
  ComputeEncoderObject& encoder = from(this);
  if (encoder.state.may_encode("-[MTLComputeCommandEncoder memoryBarrierWithScope:]")) encoder.barrier = true;
}
void ComputeCommandEncoder::memoryBarrier(const Resource* const[], NS::UInteger) {
  // Of these resources alone: a barrier for all of them orders more than was asked for, never less.
  memoryBarrier(BarrierScopeBuffers);
}
void ComputeCommandEncoder::sampleCountersInBuffer(const CounterSampleBuffer*, NS::UInteger, bool) {
  from(this).state.buffer->reject(
      misuse("-[MTLComputeCommandEncoder sampleCountersInBuffer:atSampleIndex:withBarrier:]",
             "the device has no counters (supportsCounterSampling: is false)"));
}

}  // namespace MTL
