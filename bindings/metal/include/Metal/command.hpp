// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Command queues, command buffers and encoders.
//
// Order. Command buffers of a queue start in the order of enqueue() or commit(). Passes (encoders) of a queue that
// touch the same tracked resource, one of them writing, run one after the other; others may run at the same time, also
// those of two command buffers. Resources that are not tracked, and addresses that a kernel finds in memory without
// useResource(), need fences, barriers or events. Passes of different queues run in any order, unless an event orders
// them, or a fence whose update was committed before the pass that waits for it.
// Threads: one thread at a time for a command buffer and its encoders; queues from any thread.
#pragma once

#include "Metal/types.hpp"

namespace MTL {

class BlitPassDescriptor;
class CommandBufferDescriptor;
class ComputePassDescriptor;
class CounterSampleBuffer;

class SMELT_METAL_API CommandQueueDescriptor : public NS::Copying<CommandQueueDescriptor> {
 public:
  static CommandQueueDescriptor* alloc();
  CommandQueueDescriptor* init();
  NS::UInteger maxCommandBufferCount() const;
  void setMaxCommandBufferCount(NS::UInteger count);
};

class SMELT_METAL_API CommandQueue : public NS::Referencing<CommandQueue> {
 public:
  NS::String* label() const;
  void setLabel(const NS::String* label);
  Device* device() const;
  /// Keeps what its commands use until it has completed.
  CommandBuffer* commandBuffer();
  CommandBuffer* commandBuffer(const CommandBufferDescriptor* descriptor);
  CommandBuffer* commandBufferWithUnretainedReferences();
  void insertDebugCaptureBoundary() {}
  void addResidencySet(const ResidencySet*) {}
  void addResidencySets(const ResidencySet* const[], NS::UInteger) {}
  void removeResidencySet(const ResidencySet*) {}
  void removeResidencySets(const ResidencySet* const[], NS::UInteger) {}
};

class SMELT_METAL_API CommandBufferDescriptor : public NS::Copying<CommandBufferDescriptor> {
 public:
  static CommandBufferDescriptor* alloc();
  CommandBufferDescriptor* init();
  bool retainedReferences() const;
  void setRetainedReferences(bool retained);
  CommandBufferErrorOption errorOptions() const;
  void setErrorOptions(CommandBufferErrorOption options);
};

class SMELT_METAL_API CommandBuffer : public NS::Referencing<CommandBuffer> {
 public:
  NS::String* label() const;
  void setLabel(const NS::String* label);
  Device* device() const;
  CommandQueue* commandQueue() const;
  bool retainedReferences() const;
  CommandBufferErrorOption errorOptions() const;

  ComputeCommandEncoder* computeCommandEncoder();
  ComputeCommandEncoder* computeCommandEncoder(DispatchType dispatchType);
  ComputeCommandEncoder* computeCommandEncoder(const ComputePassDescriptor* descriptor);
  BlitCommandEncoder* blitCommandEncoder();
  BlitCommandEncoder* blitCommandEncoder(const BlitPassDescriptor* descriptor);
  /// What comes later in this queue waits until the event's value is at least `value`.
  void encodeWait(const Event* event, uint64_t value);
  /// When everything encoded so far in this queue has completed.
  void encodeSignalEvent(const Event* event, uint64_t value);
  void useResidencySet(const ResidencySet*) {}
  void useResidencySets(const ResidencySet* const[], NS::UInteger) {}
  void pushDebugGroup(const NS::String* name);
  void popDebugGroup();

  void enqueue();
  void commit();
  /// Handlers are called on a thread of the queue's own, in the order of its command buffers, each in a pool of its
  /// own. They may make and commit command buffers.
  void addScheduledHandler(const CommandBufferHandler& handler);
  void addCompletedHandler(const CommandBufferHandler& handler);
  void waitUntilScheduled();
  /// Until it has completed and its handlers have returned; in a handler of the same queue: until it has completed.
  void waitUntilCompleted();
  CommandBufferStatus status() const;
  /// Null unless status() is CommandBufferStatusError.
  NS::Error* error() const;
  /// Seconds of the steady clock; 0 until they are known.
  double kernelStartTime() const;
  double kernelEndTime() const;
  double GPUStartTime() const;
  double GPUEndTime() const;
};

class SMELT_METAL_API CommandEncoder : public NS::Referencing<CommandEncoder> {
 public:
  NS::String* label() const;
  void setLabel(const NS::String* label);
  Device* device() const;
  void endEncoding();
  void insertDebugSignpost(const NS::String* text);
  void pushDebugGroup(const NS::String* name);
  void popDebugGroup();
};

/// Bindings stay until they are replaced. What a dispatch uses is taken down when it is encoded.
class SMELT_METAL_API ComputeCommandEncoder : public NS::Referencing<ComputeCommandEncoder, CommandEncoder> {
 public:
  DispatchType dispatchType() const;
  void setComputePipelineState(const ComputePipelineState* state);
  /// Copied now; at most 4,096 bytes.
  void setBytes(const void* bytes, NS::UInteger length, NS::UInteger index);
  /// A null buffer is a null pointer to the kernel.
  void setBuffer(const Buffer* buffer, NS::UInteger offset, NS::UInteger index);
  void setBufferOffset(NS::UInteger offset, NS::UInteger index);
  void setBuffers(const Buffer* const buffers[], const NS::UInteger offsets[], NS::Range range);
  void setTexture(const Texture* texture, NS::UInteger index);
  void setTextures(const Texture* const textures[], NS::Range range);
  void setSamplerState(const SamplerState* sampler, NS::UInteger index);
  void setSamplerStates(const SamplerState* const samplers[], NS::Range range);
  /// In the place of a buffer. A null table is one that is_null_visible_function_table says yes to.
  void setVisibleFunctionTable(const VisibleFunctionTable* table, NS::UInteger bufferIndex);
  void setVisibleFunctionTables(const VisibleFunctionTable* const tables[], NS::Range bufferRange);
  /// A multiple of 16. A threadgroup argument without a length has no memory to speak of.
  void setThreadgroupMemoryLength(NS::UInteger length, NS::UInteger index);
  /// Every thread of the grid once; groups at its edges are smaller.
  void dispatchThreads(Size threadsPerGrid, Size threadsPerThreadgroup);
  void dispatchThreadgroups(Size threadgroupsPerGrid, Size threadsPerThreadgroup);
  /// DispatchThreadgroupsIndirectArguments in the buffer, read when the dispatch runs.
  void dispatchThreadgroups(const Buffer* indirectBuffer, NS::UInteger indirectBufferOffset,
                            Size threadsPerThreadgroup);
  /// The fence is updated when this pass ends.
  void updateFence(const Fence* fence);
  /// This pass begins when the pass that updated the fence last has ended.
  void waitForFence(const Fence* fence);
  /// For what kernels reach through addresses in memory: counts for hazards of the dispatches that follow.
  void useResource(const Resource* resource, ResourceUsage usage);
  void useResources(const Resource* const resources[], NS::UInteger count, ResourceUsage usage);
  void useHeap(const Heap* heap);
  void useHeaps(const Heap* const heaps[], NS::UInteger count);
  /// Of a concurrent encoder: what follows waits for what came before.
  void memoryBarrier(BarrierScope scope);
  void memoryBarrier(const Resource* const resources[], NS::UInteger count);
  void sampleCountersInBuffer(const CounterSampleBuffer* sampleBuffer, NS::UInteger sampleIndex, bool barrier);
};

class SMELT_METAL_API BlitCommandEncoder : public NS::Referencing<BlitCommandEncoder, CommandEncoder> {
 public:
  /// The ranges may overlap only if they are in different buffers or equal, as in Metal.
  void copyFromBuffer(const Buffer* sourceBuffer, NS::UInteger sourceOffset, const Buffer* destinationBuffer,
                      NS::UInteger destinationOffset, NS::UInteger size);
  void fillBuffer(const Buffer* buffer, NS::Range range, uint8_t value);
  void copyFromBuffer(const Buffer* sourceBuffer, NS::UInteger sourceOffset, NS::UInteger sourceBytesPerRow,
                      NS::UInteger sourceBytesPerImage, Size sourceSize, const Texture* destinationTexture,
                      NS::UInteger destinationSlice, NS::UInteger destinationLevel, Origin destinationOrigin);
  void copyFromTexture(const Texture* sourceTexture, NS::UInteger sourceSlice, NS::UInteger sourceLevel,
                       Origin sourceOrigin, Size sourceSize, const Buffer* destinationBuffer,
                       NS::UInteger destinationOffset, NS::UInteger destinationBytesPerRow,
                       NS::UInteger destinationBytesPerImage);
  void copyFromTexture(const Texture* sourceTexture, NS::UInteger sourceSlice, NS::UInteger sourceLevel,
                       Origin sourceOrigin, Size sourceSize, const Texture* destinationTexture,
                       NS::UInteger destinationSlice, NS::UInteger destinationLevel, Origin destinationOrigin);
  /// All levels and slices of one to the other, which has as many.
  void copyFromTexture(const Texture* sourceTexture, const Texture* destinationTexture);
  /// Each level the averages of the one before.
  void generateMipmaps(const Texture* texture);
  /// Nothing to do: there is one copy.
  void synchronizeTexture(const Texture* texture, NS::UInteger slice, NS::UInteger level);
  /// Nothing to do: there is one copy.
  void synchronizeResource(const Resource* resource);
  void updateFence(const Fence* fence);
  void waitForFence(const Fence* fence);
};

class SMELT_METAL_API ComputePassDescriptor : public NS::Copying<ComputePassDescriptor> {
 public:
  static ComputePassDescriptor* computePassDescriptor();
  static ComputePassDescriptor* alloc();
  ComputePassDescriptor* init();
  DispatchType dispatchType() const;
  void setDispatchType(DispatchType type);
};
class SMELT_METAL_API BlitPassDescriptor : public NS::Copying<BlitPassDescriptor> {
 public:
  static BlitPassDescriptor* blitPassDescriptor();
  static BlitPassDescriptor* alloc();
  BlitPassDescriptor* init();
};

}  // namespace MTL
