// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bridge.hpp"

using namespace smelt::framework;

@interface SmeltMTLDevice : SmeltMetalObject <MTLDevice>
@end
@implementation SmeltMTLDevice
SMELT_GET_TEXT(MTL::Device, name)
SMELT_GET(MTL::Device, uint64_t, registryID)
- (MTLArchitecture*)architecture {
  Scope scope;
  return give(core<MTL::Device>(self)->architecture());
}
- (MTLSize)maxThreadsPerThreadgroup {
  return size(core<MTL::Device>(self)->maxThreadsPerThreadgroup());
}
SMELT_GET(MTL::Device, BOOL, isLowPower)
SMELT_GET(MTL::Device, BOOL, isHeadless)
SMELT_GET(MTL::Device, BOOL, isRemovable)
SMELT_GET(MTL::Device, BOOL, hasUnifiedMemory)
SMELT_GET(MTL::Device, MTLDeviceLocation, location)
SMELT_GET(MTL::Device, NSUInteger, locationNumber)
SMELT_GET(MTL::Device, uint64_t, maxTransferRate)
SMELT_GET(MTL::Device, uint64_t, peerGroupID)
SMELT_GET(MTL::Device, uint64_t, recommendedMaxWorkingSetSize)
SMELT_GET(MTL::Device, NSUInteger, maxBufferLength)
SMELT_GET(MTL::Device, NSUInteger, maxThreadgroupMemoryLength)
SMELT_GET(MTL::Device, NSUInteger, maxArgumentBufferSamplerCount)
SMELT_GET(MTL::Device, NSUInteger, currentAllocatedSize)
SMELT_GET(MTL::Device, MTLReadWriteTextureTier, readWriteTextureSupport)
SMELT_GET(MTL::Device, MTLArgumentBuffersTier, argumentBuffersSupport)
- (BOOL)supportsFamily:(MTLGPUFamily)family {
  return core<MTL::Device>(self)->supportsFamily(static_cast<MTL::GPUFamily>(family));
}
SMELT_GET(MTL::Device, BOOL, supportsRaytracing)
SMELT_GET(MTL::Device, BOOL, supportsFunctionPointers)
SMELT_GET(MTL::Device, BOOL, supportsDynamicLibraries)
SMELT_GET(MTL::Device, BOOL, supportsShaderBarycentricCoordinates)
SMELT_GET(MTL::Device, BOOL, supportsPullModelInterpolation)
SMELT_GET(MTL::Device, BOOL, supportsQueryTextureLOD)
SMELT_GET(MTL::Device, BOOL, supportsBCTextureCompression)
SMELT_GET(MTL::Device, BOOL, areRasterOrderGroupsSupported)
- (BOOL)isDepth24Stencil8PixelFormatSupported {
  return core<MTL::Device>(self)->depth24Stencil8PixelFormatSupported();
}

- (id<MTLCommandQueue>)newCommandQueue {
  return wrap(core<MTL::Device>(self)->newCommandQueue());
}
- (id<MTLCommandQueue>)newCommandQueueWithMaxCommandBufferCount:(NSUInteger)count {
  return wrap(core<MTL::Device>(self)->newCommandQueue(count));
}
- (id<MTLCommandQueue>)newCommandQueueWithDescriptor:(MTLCommandQueueDescriptor*)descriptor {
  return wrap(core<MTL::Device>(self)->newCommandQueue(core<MTL::CommandQueueDescriptor>(descriptor)));
}

- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options {
  return wrap(core<MTL::Device>(self)->newBuffer(length, options));
}
- (id<MTLBuffer>)newBufferWithBytes:(const void*)bytes length:(NSUInteger)length options:(MTLResourceOptions)options {
  return wrap(core<MTL::Device>(self)->newBuffer(bytes, length, options));
}
- (id<MTLBuffer>)newBufferWithBytesNoCopy:(void*)bytes
                                   length:(NSUInteger)length
                                  options:(MTLResourceOptions)options
                              deallocator:(void (^)(void* bytes, NSUInteger length))deallocator {
  return wrap(core<MTL::Device>(self)->newBuffer(bytes, length, options, MTL::BufferDeallocator(deallocator)));
}
- (id<MTLTexture>)newTextureWithDescriptor:(MTLTextureDescriptor*)descriptor {
  return wrap(core<MTL::Device>(self)->newTexture(core<MTL::TextureDescriptor>(descriptor)));
}
- (id<MTLSamplerState>)newSamplerStateWithDescriptor:(MTLSamplerDescriptor*)descriptor {
  return wrap(core<MTL::Device>(self)->newSamplerState(core<MTL::SamplerDescriptor>(descriptor)));
}
- (BOOL)supportsTextureSampleCount:(NSUInteger)count {
  return core<MTL::Device>(self)->supportsTextureSampleCount(count);
}
- (NSUInteger)minimumTextureBufferAlignmentForPixelFormat:(MTLPixelFormat)format {
  return core<MTL::Device>(self)->minimumTextureBufferAlignmentForPixelFormat(static_cast<MTL::PixelFormat>(format));
}
- (NSUInteger)minimumLinearTextureAlignmentForPixelFormat:(MTLPixelFormat)format {
  return core<MTL::Device>(self)->minimumLinearTextureAlignmentForPixelFormat(static_cast<MTL::PixelFormat>(format));
}
- (id<MTLHeap>)newHeapWithDescriptor:(MTLHeapDescriptor*)descriptor {
  return wrap(core<MTL::Device>(self)->newHeap(core<MTL::HeapDescriptor>(descriptor)));
}
- (MTLSizeAndAlign)heapBufferSizeAndAlignWithLength:(NSUInteger)length options:(MTLResourceOptions)options {
  const MTL::SizeAndAlign found = core<MTL::Device>(self)->heapBufferSizeAndAlign(length, options);
  return {found.size, found.align};
}
- (id<MTLResidencySet>)newResidencySetWithDescriptor:(MTLResidencySetDescriptor*)descriptor error:(NSError**)error {
  return with_error(error, [&](NS::Error** found) {
    return wrap(core<MTL::Device>(self)->newResidencySet(core<MTL::ResidencySetDescriptor>(descriptor), found));
  });
}

- (id<MTLLibrary>)newDefaultLibrary {
  Scope scope;
  return wrap(core<MTL::Device>(self)->newDefaultLibrary());
}
- (id<MTLLibrary>)newDefaultLibraryWithBundle:(NSBundle*)bundle error:(NSError**)error {
  return with_error(error, [&](NS::Error** found) {
    return wrap(core<MTL::Device>(self)->newDefaultLibrary(NS::Bundle::bundle(text(bundle.bundlePath)), found));
  });
}
- (id<MTLLibrary>)newLibraryWithFile:(NSString*)path error:(NSError**)error {
  return with_error(error,
                    [&](NS::Error** found) { return wrap(core<MTL::Device>(self)->newLibrary(text(path), found)); });
}
- (id<MTLLibrary>)newLibraryWithURL:(NSURL*)from error:(NSError**)error {
  return with_error(error,
                    [&](NS::Error** found) { return wrap(core<MTL::Device>(self)->newLibrary(url(from), found)); });
}
- (id<MTLLibrary>)newLibraryWithData:(dispatch_data_t)data error:(NSError**)error {
  return with_error(error, [&](NS::Error** found) {
    const void* bytes = nullptr;
    size_t length = 0;
    dispatch_data_t mapped = dispatch_data_create_map(data, &bytes, &length);
    id library = wrap(core<MTL::Device>(self)->newLibrary(NS::Data::data(bytes, length), found));
    dispatch_release(mapped);
    return library;
  });
}
- (id<MTLLibrary>)newLibraryWithSource:(NSString*)source options:(MTLCompileOptions*)options error:(NSError**)error {
  return with_error(error, [&](NS::Error** found) {
    return wrap(core<MTL::Device>(self)->newLibrary(text(source), core<MTL::CompileOptions>(options), found));
  });
}
- (void)newLibraryWithSource:(NSString*)source
                     options:(MTLCompileOptions*)options
           completionHandler:(MTLNewLibraryCompletionHandler)handler {
  Scope scope;
  void (^copied)(MTL::Library*, NS::Error*) = ^(MTL::Library* library, NS::Error* found) {
    @autoreleasepool {
      handler(wrap(library), error(found));
    }
  };
  core<MTL::Device>(self)->newLibrary(text(source), core<MTL::CompileOptions>(options),
                                      MTL::NewLibraryCompletionHandler(copied));
}

- (id<MTLComputePipelineState>)newComputePipelineStateWithFunction:(id<MTLFunction>)function error:(NSError**)error {
  return with_error(error, [&](NS::Error** found) {
    return wrap(core<MTL::Device>(self)->newComputePipelineState(core<MTL::Function>(function), found));
  });
}
- (id<MTLComputePipelineState>)newComputePipelineStateWithFunction:(id<MTLFunction>)function
                                                           options:(MTLPipelineOption)options
                                                        reflection:(MTLAutoreleasedComputePipelineReflection*)reflection
                                                             error:(NSError**)error {
  return with_error(error, [&](NS::Error** found) {
    MTL::AutoreleasedComputePipelineReflection about = nullptr;
    id made =
        wrap(core<MTL::Device>(self)->newComputePipelineState(core<MTL::Function>(function), options, &about, found));
    if (reflection) *reflection = give(about);
    return made;
  });
}
- (id<MTLComputePipelineState>)newComputePipelineStateWithDescriptor:(MTLComputePipelineDescriptor*)descriptor
                                                             options:(MTLPipelineOption)options
                                                          reflection:
                                                              (MTLAutoreleasedComputePipelineReflection*)reflection
                                                               error:(NSError**)error {
  return with_error(error, [&](NS::Error** found) {
    MTL::AutoreleasedComputePipelineReflection about = nullptr;
    id made = wrap(core<MTL::Device>(self)->newComputePipelineState(core<MTL::ComputePipelineDescriptor>(descriptor),
                                                                    options, &about, found));
    if (reflection) *reflection = give(about);
    return made;
  });
}
- (void)newComputePipelineStateWithFunction:(id<MTLFunction>)function
                          completionHandler:(MTLNewComputePipelineStateCompletionHandler)handler {
  void (^copied)(MTL::ComputePipelineState*, NS::Error*) = ^(MTL::ComputePipelineState* state, NS::Error* found) {
    @autoreleasepool {
      handler(wrap(state), error(found));
    }
  };
  core<MTL::Device>(self)->newComputePipelineState(core<MTL::Function>(function),
                                                   MTL::NewComputePipelineStateCompletionHandler(copied));
}
static MTL::NewComputePipelineStateWithReflectionCompletionHandler with_reflection(
    MTLNewComputePipelineStateWithReflectionCompletionHandler handler) {
  void (^copied)(MTL::ComputePipelineState*, MTL::ComputePipelineReflection*, NS::Error*) =
      ^(MTL::ComputePipelineState* state, MTL::ComputePipelineReflection* reflection, NS::Error* found) {
        @autoreleasepool {
          handler(wrap(state), wrap(reflection), error(found));
        }
      };
  return copied;
}
- (void)newComputePipelineStateWithFunction:(id<MTLFunction>)function
                                    options:(MTLPipelineOption)options
                          completionHandler:(MTLNewComputePipelineStateWithReflectionCompletionHandler)handler {
  core<MTL::Device>(self)->newComputePipelineState(core<MTL::Function>(function), options, with_reflection(handler));
}
- (void)newComputePipelineStateWithDescriptor:(MTLComputePipelineDescriptor*)descriptor
                                      options:(MTLPipelineOption)options
                            completionHandler:(MTLNewComputePipelineStateWithReflectionCompletionHandler)handler {
  core<MTL::Device>(self)->newComputePipelineState(core<MTL::ComputePipelineDescriptor>(descriptor), options,
                                                   with_reflection(handler));
}

- (id<MTLArgumentEncoder>)newArgumentEncoderWithArguments:(NSArray*)arguments {
  Scope scope;
  return wrap(core<MTL::Device>(self)->newArgumentEncoder(array(arguments)));
}
- (id<MTLBinaryArchive>)newBinaryArchiveWithDescriptor:(MTLBinaryArchiveDescriptor*)descriptor error:(NSError**)error {
  return with_error(error, [&](NS::Error** found) {
    return wrap(core<MTL::Device>(self)->newBinaryArchive(core<MTL::BinaryArchiveDescriptor>(descriptor), found));
  });
}
- (id<MTLFence>)newFence {
  return wrap(core<MTL::Device>(self)->newFence());
}
- (id<MTLEvent>)newEvent {
  return wrap(core<MTL::Device>(self)->newEvent());
}
- (id<MTLSharedEvent>)newSharedEvent {
  return wrap(core<MTL::Device>(self)->newSharedEvent());
}
- (id<MTLSharedEvent>)newSharedEventWithHandle:(MTLSharedEventHandle*)handle {
  return wrap(core<MTL::Device>(self)->newSharedEvent(core<MTL::SharedEventHandle>(handle)));
}
- (void)sampleTimestamps:(MTLTimestamp*)cpu gpuTimestamp:(MTLTimestamp*)gpu {
  core<MTL::Device>(self)->sampleTimestamps(cpu, gpu);
}
- (NSArray*)counterSets {
  Scope scope;
  return array(core<MTL::Device>(self)->counterSets());
}
- (BOOL)supportsCounterSampling:(MTLCounterSamplingPoint)point {
  return core<MTL::Device>(self)->supportsCounterSampling(static_cast<MTL::CounterSamplingPoint>(point));
}
- (id<MTLCounterSampleBuffer>)newCounterSampleBufferWithDescriptor:(MTLCounterSampleBufferDescriptor*)descriptor
                                                             error:(NSError**)error {
  return with_error(error, [&](NS::Error** found) {
    return wrap(
        core<MTL::Device>(self)->newCounterSampleBuffer(core<MTL::CounterSampleBufferDescriptor>(descriptor), found));
  });
}
@end

id<MTLDevice> MTLCreateSystemDefaultDevice(void) {
  Scope scope;
  return wrap(MTL::CreateSystemDefaultDevice());
}
NSArray<id<MTLDevice>>* MTLCopyAllDevices(void) {
  Scope scope;
  NS::Array* all = MTL::CopyAllDevices();
  NSArray* made = [array(all) retain];
  all->release();
  return made;
}
