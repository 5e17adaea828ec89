// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Buffers, heaps, residency sets, argument encoders, fences and events.
#include "bridge.hpp"

using namespace smelt::framework;

// What buffers and heaps say about their memory.
#define SMELT_MEMORY(Class)                                                             \
  SMELT_GET(Class, NSUInteger, allocatedSize)                                           \
  SMELT_GET(Class, MTLCPUCacheMode, cpuCacheMode)                                       \
  SMELT_GET(Class, MTLStorageMode, storageMode)                                         \
  SMELT_GET(Class, MTLHazardTrackingMode, hazardTrackingMode)                           \
  SMELT_GET(Class, MTLResourceOptions, resourceOptions)                                 \
  -(MTLPurgeableState)setPurgeableState : (MTLPurgeableState)state {                    \
    return static_cast<MTLPurgeableState>(                                              \
        core<Class>(self)->setPurgeableState(static_cast<MTL::PurgeableState>(state))); \
  }

@interface SmeltMTLBuffer : SmeltMetalObject <MTLBuffer>
@end
@implementation SmeltMTLBuffer
SMELT_LABEL(MTL::Buffer)
SMELT_DEVICE(MTL::Buffer)
SMELT_MEMORY(MTL::Buffer)
SMELT_GET(MTL::Buffer, NSUInteger, heapOffset)
SMELT_GET(MTL::Buffer, NSUInteger, length)
SMELT_GET(MTL::Buffer, void*, contents)
SMELT_GET(MTL::Buffer, uint64_t, gpuAddress)
SMELT_GET(MTL::Buffer, BOOL, isAliasable)
- (id<MTLHeap>)heap {
  Scope scope;
  return give(core<MTL::Buffer>(self)->heap());
}
- (void)makeAliasable {
  core<MTL::Buffer>(self)->makeAliasable();
}
- (void)didModifyRange:(NSRange)span {
  core<MTL::Buffer>(self)->didModifyRange(range(span));
}
- (id<MTLTexture>)newTextureWithDescriptor:(MTLTextureDescriptor*)descriptor
                                    offset:(NSUInteger)offset
                               bytesPerRow:(NSUInteger)bytesPerRow {
  return wrap(core<MTL::Buffer>(self)->newTexture(core<MTL::TextureDescriptor>(descriptor), offset, bytesPerRow));
}
- (void)addDebugMarker:(NSString*)marker range:(NSRange)span {
  Scope scope;
  core<MTL::Buffer>(self)->addDebugMarker(text(marker), range(span));
}
- (void)removeAllDebugMarkers {
  core<MTL::Buffer>(self)->removeAllDebugMarkers();
}
@end

@interface SmeltMTLTexture : SmeltMetalObject <MTLTexture>
@end
@implementation SmeltMTLTexture
SMELT_LABEL(MTL::Texture)
SMELT_DEVICE(MTL::Texture)
SMELT_MEMORY(MTL::Texture)
SMELT_GET(MTL::Texture, NSUInteger, heapOffset)
SMELT_GET(MTL::Texture, BOOL, isAliasable)
SMELT_GET(MTL::Texture, MTLTextureType, textureType)
SMELT_GET(MTL::Texture, MTLPixelFormat, pixelFormat)
SMELT_GET(MTL::Texture, NSUInteger, width)
SMELT_GET(MTL::Texture, NSUInteger, height)
SMELT_GET(MTL::Texture, NSUInteger, depth)
SMELT_GET(MTL::Texture, NSUInteger, mipmapLevelCount)
SMELT_GET(MTL::Texture, NSUInteger, sampleCount)
SMELT_GET(MTL::Texture, NSUInteger, arrayLength)
SMELT_GET(MTL::Texture, MTLTextureUsage, usage)
SMELT_GET(MTL::Texture, BOOL, isFramebufferOnly)
SMELT_GET(MTL::Texture, BOOL, isShareable)
SMELT_GET(MTL::Texture, NSUInteger, parentRelativeLevel)
SMELT_GET(MTL::Texture, NSUInteger, parentRelativeSlice)
SMELT_GET(MTL::Texture, NSUInteger, bufferOffset)
SMELT_GET(MTL::Texture, NSUInteger, bufferBytesPerRow)
- (id<MTLHeap>)heap {
  Scope scope;
  return give(core<MTL::Texture>(self)->heap());
}
- (void)makeAliasable {
  core<MTL::Texture>(self)->makeAliasable();
}
- (id<MTLTexture>)parentTexture {
  Scope scope;
  return give(core<MTL::Texture>(self)->parentTexture());
}
- (id<MTLBuffer>)buffer {
  Scope scope;
  return give(core<MTL::Texture>(self)->buffer());
}
- (void)replaceRegion:(MTLRegion)part
          mipmapLevel:(NSUInteger)level
                slice:(NSUInteger)slice
            withBytes:(const void*)bytes
          bytesPerRow:(NSUInteger)bytesPerRow
        bytesPerImage:(NSUInteger)bytesPerImage {
  core<MTL::Texture>(self)->replaceRegion(region(part), level, slice, bytes, bytesPerRow, bytesPerImage);
}
- (void)replaceRegion:(MTLRegion)part
          mipmapLevel:(NSUInteger)level
            withBytes:(const void*)bytes
          bytesPerRow:(NSUInteger)bytesPerRow {
  core<MTL::Texture>(self)->replaceRegion(region(part), level, bytes, bytesPerRow);
}
- (void)getBytes:(void*)bytes
      bytesPerRow:(NSUInteger)bytesPerRow
    bytesPerImage:(NSUInteger)bytesPerImage
       fromRegion:(MTLRegion)part
      mipmapLevel:(NSUInteger)level
            slice:(NSUInteger)slice {
  core<MTL::Texture>(self)->getBytes(bytes, bytesPerRow, bytesPerImage, region(part), level, slice);
}
- (void)getBytes:(void*)bytes
     bytesPerRow:(NSUInteger)bytesPerRow
      fromRegion:(MTLRegion)part
     mipmapLevel:(NSUInteger)level {
  core<MTL::Texture>(self)->getBytes(bytes, bytesPerRow, region(part), level);
}
- (id<MTLTexture>)newTextureViewWithPixelFormat:(MTLPixelFormat)format {
  return wrap(core<MTL::Texture>(self)->newTextureView(static_cast<MTL::PixelFormat>(format)));
}
- (id<MTLTexture>)newTextureViewWithPixelFormat:(MTLPixelFormat)format
                                    textureType:(MTLTextureType)type
                                         levels:(NSRange)levels
                                         slices:(NSRange)slices {
  return wrap(core<MTL::Texture>(self)->newTextureView(
      static_cast<MTL::PixelFormat>(format), static_cast<MTL::TextureType>(type), range(levels), range(slices)));
}
@end

@interface SmeltMTLSamplerState : SmeltMetalObject <MTLSamplerState>
@end
@implementation SmeltMTLSamplerState
SMELT_GET_TEXT(MTL::SamplerState, label)
SMELT_DEVICE(MTL::SamplerState)
@end

@interface SmeltMTLVisibleFunctionTable : SmeltMetalObject <MTLVisibleFunctionTable>
@end
@implementation SmeltMTLVisibleFunctionTable
SMELT_LABEL(MTL::VisibleFunctionTable)
SMELT_DEVICE(MTL::VisibleFunctionTable)
SMELT_MEMORY(MTL::VisibleFunctionTable)
SMELT_GET(MTL::VisibleFunctionTable, NSUInteger, heapOffset)
SMELT_GET(MTL::VisibleFunctionTable, BOOL, isAliasable)
- (id<MTLHeap>)heap {
  return nil;
}
- (void)makeAliasable {
  core<MTL::VisibleFunctionTable>(self)->makeAliasable();
}
- (void)setFunction:(id<MTLFunctionHandle>)function atIndex:(NSUInteger)index {
  core<MTL::VisibleFunctionTable>(self)->setFunction(core<MTL::FunctionHandle>(function), index);
}
- (void)setFunctions:(const id<MTLFunctionHandle>[])functions withRange:(NSRange)span {
  core<MTL::VisibleFunctionTable>(self)->setFunctions(cores<MTL::FunctionHandle>(functions, span.length).data(),
                                                      range(span));
}
@end

@interface SmeltMTLHeap : SmeltMetalObject <MTLHeap>
@end
@implementation SmeltMTLHeap
SMELT_LABEL(MTL::Heap)
SMELT_DEVICE(MTL::Heap)
SMELT_MEMORY(MTL::Heap)
SMELT_GET(MTL::Heap, MTLHeapType, type)
SMELT_GET(MTL::Heap, NSUInteger, size)
SMELT_GET(MTL::Heap, NSUInteger, usedSize)
SMELT_GET(MTL::Heap, NSUInteger, currentAllocatedSize)
- (NSUInteger)maxAvailableSizeWithAlignment:(NSUInteger)alignment {
  return core<MTL::Heap>(self)->maxAvailableSize(alignment);
}
- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options {
  return wrap(core<MTL::Heap>(self)->newBuffer(length, options));
}
- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options offset:(NSUInteger)offset {
  return wrap(core<MTL::Heap>(self)->newBuffer(length, options, offset));
}
@end

@interface SmeltMTLResidencySet : SmeltMetalObject <MTLResidencySet>
@end
@implementation SmeltMTLResidencySet
SMELT_GET_TEXT(MTL::ResidencySet, label)
SMELT_DEVICE(MTL::ResidencySet)
SMELT_GET(MTL::ResidencySet, uint64_t, allocatedSize)
SMELT_GET(MTL::ResidencySet, NSUInteger, allocationCount)
- (NSArray*)allAllocations {
  Scope scope;
  return array(core<MTL::ResidencySet>(self)->allAllocations());
}
- (void)requestResidency {
  core<MTL::ResidencySet>(self)->requestResidency();
}
- (void)endResidency {
  core<MTL::ResidencySet>(self)->endResidency();
}
- (void)addAllocation:(id<MTLAllocation>)allocation {
  core<MTL::ResidencySet>(self)->addAllocation(core<MTL::Allocation>(allocation));
}
- (void)addAllocations:(const id<MTLAllocation>[])allocations count:(NSUInteger)count {
  core<MTL::ResidencySet>(self)->addAllocations(cores<MTL::Allocation>(allocations, count).data(), count);
}
- (void)removeAllocation:(id<MTLAllocation>)allocation {
  core<MTL::ResidencySet>(self)->removeAllocation(core<MTL::Allocation>(allocation));
}
- (void)removeAllocations:(const id<MTLAllocation>[])allocations count:(NSUInteger)count {
  core<MTL::ResidencySet>(self)->removeAllocations(cores<MTL::Allocation>(allocations, count).data(), count);
}
- (void)removeAllAllocations {
  core<MTL::ResidencySet>(self)->removeAllAllocations();
}
- (BOOL)containsAllocation:(id<MTLAllocation>)allocation {
  return core<MTL::ResidencySet>(self)->containsAllocation(core<MTL::Allocation>(allocation));
}
- (void)commit {
  core<MTL::ResidencySet>(self)->commit();
}
@end

@interface SmeltMTLArgumentEncoder : SmeltMetalObject <MTLArgumentEncoder>
@end
@implementation SmeltMTLArgumentEncoder
SMELT_LABEL(MTL::ArgumentEncoder)
SMELT_DEVICE(MTL::ArgumentEncoder)
SMELT_GET(MTL::ArgumentEncoder, NSUInteger, encodedLength)
SMELT_GET(MTL::ArgumentEncoder, NSUInteger, alignment)
- (void)setArgumentBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset {
  core<MTL::ArgumentEncoder>(self)->setArgumentBuffer(core<MTL::Buffer>(buffer), offset);
}
- (void)setArgumentBuffer:(id<MTLBuffer>)buffer startOffset:(NSUInteger)offset arrayElement:(NSUInteger)element {
  core<MTL::ArgumentEncoder>(self)->setArgumentBuffer(core<MTL::Buffer>(buffer), offset, element);
}
- (void)setBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset atIndex:(NSUInteger)index {
  core<MTL::ArgumentEncoder>(self)->setBuffer(core<MTL::Buffer>(buffer), offset, index);
}
- (void)setBuffers:(const id<MTLBuffer>[])buffers offsets:(const NSUInteger[])offsets withRange:(NSRange)span {
  core<MTL::ArgumentEncoder>(self)->setBuffers(cores<MTL::Buffer>(buffers, span.length).data(), offsets, range(span));
}
- (void)setTexture:(id<MTLTexture>)texture atIndex:(NSUInteger)index {
  core<MTL::ArgumentEncoder>(self)->setTexture(core<MTL::Texture>(texture), index);
}
- (void)setTextures:(const id<MTLTexture>[])textures withRange:(NSRange)span {
  core<MTL::ArgumentEncoder>(self)->setTextures(cores<MTL::Texture>(textures, span.length).data(), range(span));
}
- (void)setSamplerState:(id<MTLSamplerState>)sampler atIndex:(NSUInteger)index {
  core<MTL::ArgumentEncoder>(self)->setSamplerState(core<MTL::SamplerState>(sampler), index);
}
- (void)setSamplerStates:(const id<MTLSamplerState>[])samplers withRange:(NSRange)span {
  core<MTL::ArgumentEncoder>(self)->setSamplerStates(cores<MTL::SamplerState>(samplers, span.length).data(),
                                                     range(span));
}
- (void*)constantDataAtIndex:(NSUInteger)index {
  return core<MTL::ArgumentEncoder>(self)->constantData(index);
}
@end

@interface SmeltMTLFence : SmeltMetalObject <MTLFence>
@end
@implementation SmeltMTLFence
SMELT_LABEL(MTL::Fence)
SMELT_DEVICE(MTL::Fence)
@end
@interface SmeltMTLEvent : SmeltMetalObject <MTLEvent>
@end
@implementation SmeltMTLEvent
SMELT_LABEL(MTL::Event)
SMELT_DEVICE(MTL::Event)
@end
@interface SmeltMTLSharedEvent : SmeltMTLEvent <MTLSharedEvent>
@end
@implementation SmeltMTLSharedEvent
SMELT_GET_SET(MTL::SharedEvent, uint64_t, signaledValue, setSignaledValue, uint64_t)
- (void)notifyListener:(MTLSharedEventListener*)listener
               atValue:(uint64_t)value
                 block:(MTLSharedEventNotificationBlock)block {
  void (^copied)(MTL::SharedEvent*, uint64_t) = ^(MTL::SharedEvent* event, uint64_t reached) {
    @autoreleasepool {
      const id<MTLSharedEvent> reaching = wrap(event);
      if (dispatch_queue_t queue = listener.dispatchQueue)
        dispatch_async(queue, ^{
          block(reaching, reached);
        });
      else
        block(reaching, reached);
    }
  };
  core<MTL::SharedEvent>(self)->notifyListener(core<MTL::SharedEventListener>(listener), value,
                                               MTL::SharedEventNotificationBlock(copied));
}
- (BOOL)waitUntilSignaledValue:(uint64_t)value timeoutMS:(uint64_t)milliseconds {
  return core<MTL::SharedEvent>(self)->waitUntilSignaledValue(value, milliseconds);
}
- (MTLSharedEventHandle*)newSharedEventHandle {
  return wrap(core<MTL::SharedEvent>(self)->newSharedEventHandle());
}
@end
