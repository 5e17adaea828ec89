// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Queues, command buffers, encoders.
#include "bridge.hpp"

using namespace smelt::framework;

@interface SmeltMTLCommandQueue : SmeltMetalObject <MTLCommandQueue>
@end
@implementation SmeltMTLCommandQueue
SMELT_LABEL(MTL::CommandQueue)
SMELT_DEVICE(MTL::CommandQueue)
- (id<MTLCommandBuffer>)commandBuffer {
  Scope scope;
  return give(core<MTL::CommandQueue>(self)->commandBuffer());
}
- (id<MTLCommandBuffer>)commandBufferWithDescriptor:(MTLCommandBufferDescriptor*)descriptor {
  Scope scope;
  return give(core<MTL::CommandQueue>(self)->commandBuffer(core<MTL::CommandBufferDescriptor>(descriptor)));
}
- (id<MTLCommandBuffer>)commandBufferWithUnretainedReferences {
  Scope scope;
  return give(core<MTL::CommandQueue>(self)->commandBufferWithUnretainedReferences());
}
- (void)insertDebugCaptureBoundary {
  core<MTL::CommandQueue>(self)->insertDebugCaptureBoundary();
}
- (void)addResidencySet:(id<MTLResidencySet>)set {
  core<MTL::CommandQueue>(self)->addResidencySet(core<MTL::ResidencySet>(set));
}
- (void)addResidencySets:(const id<MTLResidencySet>[])sets count:(NSUInteger)count {
  for (NSUInteger i = 0; i < count; ++i) [self addResidencySet:sets[i]];
}
- (void)removeResidencySet:(id<MTLResidencySet>)set {
  core<MTL::CommandQueue>(self)->removeResidencySet(core<MTL::ResidencySet>(set));
}
- (void)removeResidencySets:(const id<MTLResidencySet>[])sets count:(NSUInteger)count {
  for (NSUInteger i = 0; i < count; ++i) [self removeResidencySet:sets[i]];
}
@end

@interface SmeltMTLCommandBuffer : SmeltMetalObject <MTLCommandBuffer>
@end
@implementation SmeltMTLCommandBuffer
SMELT_LABEL(MTL::CommandBuffer)
SMELT_DEVICE(MTL::CommandBuffer)
- (id<MTLCommandQueue>)commandQueue {
  Scope scope;
  return give(core<MTL::CommandBuffer>(self)->commandQueue());
}
SMELT_GET(MTL::CommandBuffer, BOOL, retainedReferences)
SMELT_GET(MTL::CommandBuffer, MTLCommandBufferErrorOption, errorOptions)
SMELT_GET(MTL::CommandBuffer, MTLCommandBufferStatus, status)
SMELT_GET(MTL::CommandBuffer, CFTimeInterval, kernelStartTime)
SMELT_GET(MTL::CommandBuffer, CFTimeInterval, kernelEndTime)
SMELT_GET(MTL::CommandBuffer, CFTimeInterval, GPUStartTime)
SMELT_GET(MTL::CommandBuffer, CFTimeInterval, GPUEndTime)
- (NSError*)error {
  Scope scope;
  return error(core<MTL::CommandBuffer>(self)->error());
}
- (id<MTLComputeCommandEncoder>)computeCommandEncoder {
  Scope scope;
  return give(core<MTL::CommandBuffer>(self)->computeCommandEncoder());
}
- (id<MTLComputeCommandEncoder>)computeCommandEncoderWithDispatchType:(MTLDispatchType)type {
  Scope scope;
  return give(core<MTL::CommandBuffer>(self)->computeCommandEncoder(static_cast<MTL::DispatchType>(type)));
}
- (id<MTLComputeCommandEncoder>)computeCommandEncoderWithDescriptor:(MTLComputePassDescriptor*)descriptor {
  Scope scope;
  return give(core<MTL::CommandBuffer>(self)->computeCommandEncoder(core<MTL::ComputePassDescriptor>(descriptor)));
}
- (id<MTLBlitCommandEncoder>)blitCommandEncoder {
  Scope scope;
  return give(core<MTL::CommandBuffer>(self)->blitCommandEncoder());
}
- (id<MTLBlitCommandEncoder>)blitCommandEncoderWithDescriptor:(MTLBlitPassDescriptor*)descriptor {
  Scope scope;
  return give(core<MTL::CommandBuffer>(self)->blitCommandEncoder(core<MTL::BlitPassDescriptor>(descriptor)));
}
- (void)encodeWaitForEvent:(id<MTLEvent>)event value:(uint64_t)value {
  core<MTL::CommandBuffer>(self)->encodeWait(core<MTL::Event>(event), value);
}
- (void)encodeSignalEvent:(id<MTLEvent>)event value:(uint64_t)value {
  core<MTL::CommandBuffer>(self)->encodeSignalEvent(core<MTL::Event>(event), value);
}
- (void)useResidencySet:(id<MTLResidencySet>)set {
  core<MTL::CommandBuffer>(self)->useResidencySet(core<MTL::ResidencySet>(set));
}
- (void)useResidencySets:(const id<MTLResidencySet>[])sets count:(NSUInteger)count {
  for (NSUInteger i = 0; i < count; ++i) [self useResidencySet:sets[i]];
}
- (void)pushDebugGroup:(NSString*)name {
  Scope scope;
  core<MTL::CommandBuffer>(self)->pushDebugGroup(text(name));
}
- (void)popDebugGroup {
  core<MTL::CommandBuffer>(self)->popDebugGroup();
}
- (void)enqueue {
  core<MTL::CommandBuffer>(self)->enqueue();
}
- (void)commit {
  core<MTL::CommandBuffer>(self)->commit();
}
static MTL::CommandBufferHandler from_block(MTLCommandBufferHandler handler) {
  void (^copied)(MTL::CommandBuffer*) = ^(MTL::CommandBuffer* buffer) {
    @autoreleasepool {
      handler(wrap(buffer));
    }
  };
  return copied;
}
- (void)addScheduledHandler:(MTLCommandBufferHandler)handler {
  core<MTL::CommandBuffer>(self)->addScheduledHandler(from_block(handler));
}
- (void)addCompletedHandler:(MTLCommandBufferHandler)handler {
  core<MTL::CommandBuffer>(self)->addCompletedHandler(from_block(handler));
}
- (void)waitUntilScheduled {
  core<MTL::CommandBuffer>(self)->waitUntilScheduled();
}
- (void)waitUntilCompleted {
  core<MTL::CommandBuffer>(self)->waitUntilCompleted();
}
@end

@interface SmeltMTLCommandEncoder : SmeltMetalObject <MTLCommandEncoder>
@end
@implementation SmeltMTLCommandEncoder
SMELT_LABEL(MTL::CommandEncoder)
SMELT_DEVICE(MTL::CommandEncoder)
- (void)endEncoding {
  core<MTL::CommandEncoder>(self)->endEncoding();
}
- (void)insertDebugSignpost:(NSString*)words {
  Scope scope;
  core<MTL::CommandEncoder>(self)->insertDebugSignpost(text(words));
}
- (void)pushDebugGroup:(NSString*)name {
  Scope scope;
  core<MTL::CommandEncoder>(self)->pushDebugGroup(text(name));
}
- (void)popDebugGroup {
  core<MTL::CommandEncoder>(self)->popDebugGroup();
}
@end

@interface SmeltMTLComputeCommandEncoder : SmeltMTLCommandEncoder <MTLComputeCommandEncoder>
@end
@implementation SmeltMTLComputeCommandEncoder
SMELT_GET(MTL::ComputeCommandEncoder, MTLDispatchType, dispatchType)
- (void)setComputePipelineState:(id<MTLComputePipelineState>)state {
  core<MTL::ComputeCommandEncoder>(self)->setComputePipelineState(core<MTL::ComputePipelineState>(state));
}
- (void)setBytes:(const void*)bytes length:(NSUInteger)length atIndex:(NSUInteger)index {
  core<MTL::ComputeCommandEncoder>(self)->setBytes(bytes, length, index);
}
- (void)setBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset atIndex:(NSUInteger)index {
  core<MTL::ComputeCommandEncoder>(self)->setBuffer(core<MTL::Buffer>(buffer), offset, index);
}
- (void)setBufferOffset:(NSUInteger)offset atIndex:(NSUInteger)index {
  core<MTL::ComputeCommandEncoder>(self)->setBufferOffset(offset, index);
}
- (void)setBuffers:(const id<MTLBuffer>[])buffers offsets:(const NSUInteger[])offsets withRange:(NSRange)span {
  core<MTL::ComputeCommandEncoder>(self)->setBuffers(cores<MTL::Buffer>(buffers, span.length).data(), offsets,
                                                     range(span));
}
- (void)setTexture:(id<MTLTexture>)texture atIndex:(NSUInteger)index {
  core<MTL::ComputeCommandEncoder>(self)->setTexture(core<MTL::Texture>(texture), index);
}
- (void)setTextures:(const id<MTLTexture>[])textures withRange:(NSRange)span {
  core<MTL::ComputeCommandEncoder>(self)->setTextures(cores<MTL::Texture>(textures, span.length).data(), range(span));
}
- (void)setSamplerState:(id<MTLSamplerState>)sampler atIndex:(NSUInteger)index {
  core<MTL::ComputeCommandEncoder>(self)->setSamplerState(core<MTL::SamplerState>(sampler), index);
}
- (void)setSamplerStates:(const id<MTLSamplerState>[])samplers withRange:(NSRange)span {
  core<MTL::ComputeCommandEncoder>(self)->setSamplerStates(cores<MTL::SamplerState>(samplers, span.length).data(),
                                                           range(span));
}
- (void)setVisibleFunctionTable:(id<MTLVisibleFunctionTable>)table atBufferIndex:(NSUInteger)index {
  core<MTL::ComputeCommandEncoder>(self)->setVisibleFunctionTable(core<MTL::VisibleFunctionTable>(table), index);
}
- (void)setVisibleFunctionTables:(const id<MTLVisibleFunctionTable>[])tables withBufferRange:(NSRange)span {
  core<MTL::ComputeCommandEncoder>(self)->setVisibleFunctionTables(
      cores<MTL::VisibleFunctionTable>(tables, span.length).data(), range(span));
}
- (void)setThreadgroupMemoryLength:(NSUInteger)length atIndex:(NSUInteger)index {
  core<MTL::ComputeCommandEncoder>(self)->setThreadgroupMemoryLength(length, index);
}
- (void)dispatchThreads:(MTLSize)threads threadsPerThreadgroup:(MTLSize)group {
  core<MTL::ComputeCommandEncoder>(self)->dispatchThreads(size(threads), size(group));
}
- (void)dispatchThreadgroups:(MTLSize)groups threadsPerThreadgroup:(MTLSize)group {
  core<MTL::ComputeCommandEncoder>(self)->dispatchThreadgroups(size(groups), size(group));
}
- (void)dispatchThreadgroupsWithIndirectBuffer:(id<MTLBuffer>)buffer
                          indirectBufferOffset:(NSUInteger)offset
                         threadsPerThreadgroup:(MTLSize)group {
  core<MTL::ComputeCommandEncoder>(self)->dispatchThreadgroups(core<MTL::Buffer>(buffer), offset, size(group));
}
- (void)updateFence:(id<MTLFence>)fence {
  core<MTL::ComputeCommandEncoder>(self)->updateFence(core<MTL::Fence>(fence));
}
- (void)waitForFence:(id<MTLFence>)fence {
  core<MTL::ComputeCommandEncoder>(self)->waitForFence(core<MTL::Fence>(fence));
}
- (void)useResource:(id<MTLResource>)resource usage:(MTLResourceUsage)usage {
  core<MTL::ComputeCommandEncoder>(self)->useResource(core<MTL::Resource>(resource), usage);
}
- (void)useResources:(const id<MTLResource>[])resources count:(NSUInteger)count usage:(MTLResourceUsage)usage {
  core<MTL::ComputeCommandEncoder>(self)->useResources(cores<MTL::Resource>(resources, count).data(), count, usage);
}
- (void)useHeap:(id<MTLHeap>)heap {
  core<MTL::ComputeCommandEncoder>(self)->useHeap(core<MTL::Heap>(heap));
}
- (void)useHeaps:(const id<MTLHeap>[])heaps count:(NSUInteger)count {
  core<MTL::ComputeCommandEncoder>(self)->useHeaps(cores<MTL::Heap>(heaps, count).data(), count);
}
- (void)memoryBarrierWithScope:(MTLBarrierScope)scope {
  core<MTL::ComputeCommandEncoder>(self)->memoryBarrier(static_cast<MTL::BarrierScope>(scope));
}
- (void)memoryBarrierWithResources:(const id<MTLResource>[])resources count:(NSUInteger)count {
  core<MTL::ComputeCommandEncoder>(self)->memoryBarrier(cores<MTL::Resource>(resources, count).data(), count);
}
- (void)sampleCountersInBuffer:(id<MTLCounterSampleBuffer>)buffer
                 atSampleIndex:(NSUInteger)index
                   withBarrier:(BOOL)barrier {
  core<MTL::ComputeCommandEncoder>(self)->sampleCountersInBuffer(core<MTL::CounterSampleBuffer>(buffer), index,
                                                                 barrier);
}
@end

@interface SmeltMTLBlitCommandEncoder : SmeltMTLCommandEncoder <MTLBlitCommandEncoder>
@end
@implementation SmeltMTLBlitCommandEncoder
- (void)copyFromBuffer:(id<MTLBuffer>)source
          sourceOffset:(NSUInteger)sourceOffset
              toBuffer:(id<MTLBuffer>)destination
     destinationOffset:(NSUInteger)destinationOffset
                  size:(NSUInteger)bytes {
  core<MTL::BlitCommandEncoder>(self)->copyFromBuffer(core<MTL::Buffer>(source), sourceOffset,
                                                      core<MTL::Buffer>(destination), destinationOffset, bytes);
}
- (void)copyFromBuffer:(id<MTLBuffer>)source
           sourceOffset:(NSUInteger)sourceOffset
      sourceBytesPerRow:(NSUInteger)bytesPerRow
    sourceBytesPerImage:(NSUInteger)bytesPerImage
             sourceSize:(MTLSize)extent
              toTexture:(id<MTLTexture>)destination
       destinationSlice:(NSUInteger)slice
       destinationLevel:(NSUInteger)level
      destinationOrigin:(MTLOrigin)at {
  core<MTL::BlitCommandEncoder>(self)->copyFromBuffer(core<MTL::Buffer>(source), sourceOffset, bytesPerRow,
                                                      bytesPerImage, size(extent), core<MTL::Texture>(destination),
                                                      slice, level, origin(at));
}
- (void)copyFromTexture:(id<MTLTexture>)source
                 sourceSlice:(NSUInteger)slice
                 sourceLevel:(NSUInteger)level
                sourceOrigin:(MTLOrigin)at
                  sourceSize:(MTLSize)extent
                    toBuffer:(id<MTLBuffer>)destination
           destinationOffset:(NSUInteger)destinationOffset
      destinationBytesPerRow:(NSUInteger)bytesPerRow
    destinationBytesPerImage:(NSUInteger)bytesPerImage {
  core<MTL::BlitCommandEncoder>(self)->copyFromTexture(core<MTL::Texture>(source), slice, level, origin(at),
                                                       size(extent), core<MTL::Buffer>(destination), destinationOffset,
                                                       bytesPerRow, bytesPerImage);
}
- (void)copyFromTexture:(id<MTLTexture>)source
            sourceSlice:(NSUInteger)sourceSlice
            sourceLevel:(NSUInteger)sourceLevel
           sourceOrigin:(MTLOrigin)sourceOrigin
             sourceSize:(MTLSize)extent
              toTexture:(id<MTLTexture>)destination
       destinationSlice:(NSUInteger)destinationSlice
       destinationLevel:(NSUInteger)destinationLevel
      destinationOrigin:(MTLOrigin)destinationOrigin {
  core<MTL::BlitCommandEncoder>(self)->copyFromTexture(
      core<MTL::Texture>(source), sourceSlice, sourceLevel, origin(sourceOrigin), size(extent),
      core<MTL::Texture>(destination), destinationSlice, destinationLevel, origin(destinationOrigin));
}
- (void)copyFromTexture:(id<MTLTexture>)source toTexture:(id<MTLTexture>)destination {
  core<MTL::BlitCommandEncoder>(self)->copyFromTexture(core<MTL::Texture>(source), core<MTL::Texture>(destination));
}
- (void)generateMipmapsForTexture:(id<MTLTexture>)texture {
  core<MTL::BlitCommandEncoder>(self)->generateMipmaps(core<MTL::Texture>(texture));
}
- (void)synchronizeTexture:(id<MTLTexture>)texture slice:(NSUInteger)slice level:(NSUInteger)level {
  core<MTL::BlitCommandEncoder>(self)->synchronizeTexture(core<MTL::Texture>(texture), slice, level);
}
- (void)fillBuffer:(id<MTLBuffer>)buffer range:(NSRange)span value:(uint8_t)byte {
  core<MTL::BlitCommandEncoder>(self)->fillBuffer(core<MTL::Buffer>(buffer), range(span), byte);
}
- (void)synchronizeResource:(id<MTLResource>)resource {
  core<MTL::BlitCommandEncoder>(self)->synchronizeResource(core<MTL::Resource>(resource));
}
- (void)updateFence:(id<MTLFence>)fence {
  core<MTL::BlitCommandEncoder>(self)->updateFence(core<MTL::Fence>(fence));
}
- (void)waitForFence:(id<MTLFence>)fence {
  core<MTL::BlitCommandEncoder>(self)->waitForFence(core<MTL::Fence>(fence));
}
@end
