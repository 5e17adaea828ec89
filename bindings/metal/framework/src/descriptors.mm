// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The classes that programs make themselves, and those that only say something.
#include "bridge.hpp"

using namespace smelt::framework;

@implementation MTLArchitecture
SMELT_GET_TEXT(MTL::Architecture, name)
- (id)copyWithZone:(NSZone*)zone {
  return [self retain];
}
@end

@implementation MTLCommandQueueDescriptor
SMELT_MAKE(MTL::CommandQueueDescriptor)
SMELT_GET_SET(MTL::CommandQueueDescriptor, NSUInteger, maxCommandBufferCount, setMaxCommandBufferCount, NSUInteger)
@end

@implementation MTLCommandBufferDescriptor
SMELT_MAKE(MTL::CommandBufferDescriptor)
SMELT_GET_SET(MTL::CommandBufferDescriptor, BOOL, retainedReferences, setRetainedReferences, bool)
SMELT_GET_SET(MTL::CommandBufferDescriptor, MTLCommandBufferErrorOption, errorOptions, setErrorOptions,
              MTL::CommandBufferErrorOption)
@end

@implementation MTLComputePassDescriptor
SMELT_MAKE(MTL::ComputePassDescriptor)
+ (MTLComputePassDescriptor*)computePassDescriptor {
  return [[self new] autorelease];
}
SMELT_GET_SET(MTL::ComputePassDescriptor, MTLDispatchType, dispatchType, setDispatchType, MTL::DispatchType)
@end
@implementation MTLBlitPassDescriptor
SMELT_MAKE(MTL::BlitPassDescriptor)
+ (MTLBlitPassDescriptor*)blitPassDescriptor {
  return [[self new] autorelease];
}
@end

@implementation MTLHeapDescriptor
SMELT_MAKE(MTL::HeapDescriptor)
SMELT_GET_SET(MTL::HeapDescriptor, NSUInteger, size, setSize, NSUInteger)
SMELT_GET_SET(MTL::HeapDescriptor, MTLStorageMode, storageMode, setStorageMode, MTL::StorageMode)
SMELT_GET_SET(MTL::HeapDescriptor, MTLCPUCacheMode, cpuCacheMode, setCpuCacheMode, MTL::CPUCacheMode)
SMELT_GET_SET(MTL::HeapDescriptor, MTLHazardTrackingMode, hazardTrackingMode, setHazardTrackingMode,
              MTL::HazardTrackingMode)
SMELT_GET_SET(MTL::HeapDescriptor, MTLResourceOptions, resourceOptions, setResourceOptions, MTL::ResourceOptions)
SMELT_GET_SET(MTL::HeapDescriptor, MTLHeapType, type, setType, MTL::HeapType)
@end

@implementation MTLTextureDescriptor
SMELT_MAKE(MTL::TextureDescriptor)
+ (MTLTextureDescriptor*)texture2DDescriptorWithPixelFormat:(MTLPixelFormat)format
                                                      width:(NSUInteger)width
                                                     height:(NSUInteger)height
                                                  mipmapped:(BOOL)mipmapped {
  Scope scope;
  return give(
      MTL::TextureDescriptor::texture2DDescriptor(static_cast<MTL::PixelFormat>(format), width, height, mipmapped));
}
+ (MTLTextureDescriptor*)textureCubeDescriptorWithPixelFormat:(MTLPixelFormat)format
                                                         size:(NSUInteger)size
                                                    mipmapped:(BOOL)mipmapped {
  Scope scope;
  return give(MTL::TextureDescriptor::textureCubeDescriptor(static_cast<MTL::PixelFormat>(format), size, mipmapped));
}
+ (MTLTextureDescriptor*)textureBufferDescriptorWithPixelFormat:(MTLPixelFormat)format
                                                          width:(NSUInteger)width
                                                resourceOptions:(MTLResourceOptions)options
                                                          usage:(MTLTextureUsage)usage {
  Scope scope;
  return give(
      MTL::TextureDescriptor::textureBufferDescriptor(static_cast<MTL::PixelFormat>(format), width, options, usage));
}
SMELT_GET_SET(MTL::TextureDescriptor, MTLTextureType, textureType, setTextureType, MTL::TextureType)
SMELT_GET_SET(MTL::TextureDescriptor, MTLPixelFormat, pixelFormat, setPixelFormat, MTL::PixelFormat)
SMELT_GET_SET(MTL::TextureDescriptor, NSUInteger, width, setWidth, NSUInteger)
SMELT_GET_SET(MTL::TextureDescriptor, NSUInteger, height, setHeight, NSUInteger)
SMELT_GET_SET(MTL::TextureDescriptor, NSUInteger, depth, setDepth, NSUInteger)
SMELT_GET_SET(MTL::TextureDescriptor, NSUInteger, mipmapLevelCount, setMipmapLevelCount, NSUInteger)
SMELT_GET_SET(MTL::TextureDescriptor, NSUInteger, sampleCount, setSampleCount, NSUInteger)
SMELT_GET_SET(MTL::TextureDescriptor, NSUInteger, arrayLength, setArrayLength, NSUInteger)
SMELT_GET_SET(MTL::TextureDescriptor, MTLResourceOptions, resourceOptions, setResourceOptions, MTL::ResourceOptions)
SMELT_GET_SET(MTL::TextureDescriptor, MTLCPUCacheMode, cpuCacheMode, setCpuCacheMode, MTL::CPUCacheMode)
SMELT_GET_SET(MTL::TextureDescriptor, MTLStorageMode, storageMode, setStorageMode, MTL::StorageMode)
SMELT_GET_SET(MTL::TextureDescriptor, MTLHazardTrackingMode, hazardTrackingMode, setHazardTrackingMode,
              MTL::HazardTrackingMode)
SMELT_GET_SET(MTL::TextureDescriptor, MTLTextureUsage, usage, setUsage, MTL::TextureUsage)
SMELT_GET_SET(MTL::TextureDescriptor, BOOL, allowGPUOptimizedContents, setAllowGPUOptimizedContents, bool)
@end

@implementation MTLSamplerDescriptor
SMELT_MAKE(MTL::SamplerDescriptor)
SMELT_LABEL(MTL::SamplerDescriptor)
SMELT_GET_SET(MTL::SamplerDescriptor, MTLSamplerMinMagFilter, minFilter, setMinFilter, MTL::SamplerMinMagFilter)
SMELT_GET_SET(MTL::SamplerDescriptor, MTLSamplerMinMagFilter, magFilter, setMagFilter, MTL::SamplerMinMagFilter)
SMELT_GET_SET(MTL::SamplerDescriptor, MTLSamplerMipFilter, mipFilter, setMipFilter, MTL::SamplerMipFilter)
SMELT_GET_SET(MTL::SamplerDescriptor, NSUInteger, maxAnisotropy, setMaxAnisotropy, NSUInteger)
SMELT_GET_SET(MTL::SamplerDescriptor, MTLSamplerAddressMode, sAddressMode, setSAddressMode, MTL::SamplerAddressMode)
SMELT_GET_SET(MTL::SamplerDescriptor, MTLSamplerAddressMode, tAddressMode, setTAddressMode, MTL::SamplerAddressMode)
SMELT_GET_SET(MTL::SamplerDescriptor, MTLSamplerAddressMode, rAddressMode, setRAddressMode, MTL::SamplerAddressMode)
SMELT_GET_SET(MTL::SamplerDescriptor, MTLSamplerBorderColor, borderColor, setBorderColor, MTL::SamplerBorderColor)
SMELT_GET_SET(MTL::SamplerDescriptor, BOOL, normalizedCoordinates, setNormalizedCoordinates, bool)
SMELT_GET_SET(MTL::SamplerDescriptor, float, lodMinClamp, setLodMinClamp, float)
SMELT_GET_SET(MTL::SamplerDescriptor, float, lodMaxClamp, setLodMaxClamp, float)
SMELT_GET_SET(MTL::SamplerDescriptor, BOOL, lodAverage, setLodAverage, bool)
SMELT_GET_SET(MTL::SamplerDescriptor, MTLCompareFunction, compareFunction, setCompareFunction, MTL::CompareFunction)
SMELT_GET_SET(MTL::SamplerDescriptor, BOOL, supportArgumentBuffers, setSupportArgumentBuffers, bool)
@end

@implementation MTLResidencySetDescriptor
SMELT_MAKE(MTL::ResidencySetDescriptor)
SMELT_LABEL(MTL::ResidencySetDescriptor)
SMELT_GET_SET(MTL::ResidencySetDescriptor, NSUInteger, initialCapacity, setInitialCapacity, NSUInteger)
@end

@implementation MTLCompileOptions
SMELT_MAKE(MTL::CompileOptions)
- (NSDictionary*)preprocessorMacros {
  Scope scope;
  return dictionary(core<MTL::CompileOptions>(self)->preprocessorMacros());
}
- (void)setPreprocessorMacros:(NSDictionary*)macros {
  Scope scope;
  core<MTL::CompileOptions>(self)->setPreprocessorMacros(dictionary(macros));
}
SMELT_GET_SET(MTL::CompileOptions, BOOL, fastMathEnabled, setFastMathEnabled, bool)
SMELT_GET_SET(MTL::CompileOptions, MTLMathMode, mathMode, setMathMode, MTL::MathMode)
SMELT_GET_SET(MTL::CompileOptions, MTLMathFloatingPointFunctions, mathFloatingPointFunctions,
              setMathFloatingPointFunctions, MTL::MathFloatingPointFunctions)
SMELT_GET_SET(MTL::CompileOptions, MTLLanguageVersion, languageVersion, setLanguageVersion, MTL::LanguageVersion)
SMELT_GET_SET(MTL::CompileOptions, MTLLibraryType, libraryType, setLibraryType, MTL::LibraryType)
SMELT_GET_SET(MTL::CompileOptions, MTLLibraryOptimizationLevel, optimizationLevel, setOptimizationLevel,
              MTL::LibraryOptimizationLevel)
SMELT_GET_SET(MTL::CompileOptions, BOOL, preserveInvariance, setPreserveInvariance, bool)
SMELT_GET_SET(MTL::CompileOptions, BOOL, enableLogging, setEnableLogging, bool)
SMELT_GET_SET(MTL::CompileOptions, NSUInteger, maxTotalThreadsPerThreadgroup, setMaxTotalThreadsPerThreadgroup,
              NSUInteger)
@end

@implementation MTLFunctionConstant
SMELT_GET_TEXT(MTL::FunctionConstant, name)
SMELT_GET(MTL::FunctionConstant, MTLDataType, type)
SMELT_GET(MTL::FunctionConstant, NSUInteger, index)
SMELT_GET(MTL::FunctionConstant, BOOL, required)
@end

@implementation MTLFunctionConstantValues
SMELT_MAKE(MTL::FunctionConstantValues)
- (void)setConstantValue:(const void*)bytes type:(MTLDataType)type atIndex:(NSUInteger)index {
  core<MTL::FunctionConstantValues>(self)->setConstantValue(bytes, static_cast<MTL::DataType>(type), index);
}
- (void)setConstantValue:(const void*)bytes type:(MTLDataType)type withName:(NSString*)name {
  Scope scope;
  core<MTL::FunctionConstantValues>(self)->setConstantValue(bytes, static_cast<MTL::DataType>(type), text(name));
}
- (void)setConstantValues:(const void*)bytes type:(MTLDataType)type withRange:(NSRange)span {
  core<MTL::FunctionConstantValues>(self)->setConstantValues(bytes, static_cast<MTL::DataType>(type), range(span));
}
- (void)reset {
  core<MTL::FunctionConstantValues>(self)->reset();
}
@end

@implementation MTLFunctionDescriptor
SMELT_MAKE(MTL::FunctionDescriptor)
+ (MTLFunctionDescriptor*)functionDescriptor {
  return [[self new] autorelease];
}
SMELT_GET_SET_TEXT(MTL::FunctionDescriptor, name, setName)
SMELT_GET_SET_TEXT(MTL::FunctionDescriptor, specializedName, setSpecializedName)
SMELT_GET_SET(MTL::FunctionDescriptor, MTLFunctionOptions, options, setOptions, MTL::FunctionOptions)
- (MTLFunctionConstantValues*)constantValues {
  Scope scope;
  return give(core<MTL::FunctionDescriptor>(self)->constantValues());
}
- (void)setConstantValues:(MTLFunctionConstantValues*)values {
  core<MTL::FunctionDescriptor>(self)->setConstantValues(core<MTL::FunctionConstantValues>(values));
}
- (NSArray*)binaryArchives {
  Scope scope;
  return array(core<MTL::FunctionDescriptor>(self)->binaryArchives());
}
- (void)setBinaryArchives:(NSArray*)archives {
  Scope scope;
  core<MTL::FunctionDescriptor>(self)->setBinaryArchives(array(archives));
}
@end

@implementation MTLLinkedFunctions
SMELT_MAKE(MTL::LinkedFunctions)
+ (MTLLinkedFunctions*)linkedFunctions {
  return [[self new] autorelease];
}
#define SMELT_LIST(Class, name, Setter)      \
  -(NSArray*)name {                          \
    Scope scope;                             \
    return array(core<Class>(self)->name()); \
  }                                          \
  -(void)Setter : (NSArray*)list {           \
    Scope scope;                             \
    core<Class>(self)->Setter(array(list));  \
  }
SMELT_LIST(MTL::LinkedFunctions, functions, setFunctions)
SMELT_LIST(MTL::LinkedFunctions, binaryFunctions, setBinaryFunctions)
SMELT_LIST(MTL::LinkedFunctions, privateFunctions, setPrivateFunctions)
- (NSDictionary*)groups {
  Scope scope;
  return dictionary(core<MTL::LinkedFunctions>(self)->groups());
}
- (void)setGroups:(NSDictionary*)groups {
  Scope scope;
  core<MTL::LinkedFunctions>(self)->setGroups(dictionary(groups));
}
@end

@implementation MTLVisibleFunctionTableDescriptor
SMELT_MAKE(MTL::VisibleFunctionTableDescriptor)
+ (MTLVisibleFunctionTableDescriptor*)visibleFunctionTableDescriptor {
  return [[self new] autorelease];
}
SMELT_GET_SET(MTL::VisibleFunctionTableDescriptor, NSUInteger, functionCount, setFunctionCount, NSUInteger)
@end

@implementation MTLComputePipelineReflection
- (NSArray*)bindings {
  Scope scope;
  return array(core<MTL::ComputePipelineReflection>(self)->bindings());
}
- (NSArray*)arguments {
  Scope scope;
  return array(core<MTL::ComputePipelineReflection>(self)->arguments());
}
@end

@implementation MTLArgument
SMELT_GET_TEXT(MTL::Argument, name)
SMELT_GET(MTL::Argument, MTLArgumentType, type)
SMELT_GET(MTL::Argument, MTLBindingAccess, access)
SMELT_GET(MTL::Argument, NSUInteger, index)
SMELT_GET(MTL::Argument, BOOL, isActive)
SMELT_GET(MTL::Argument, NSUInteger, bufferAlignment)
SMELT_GET(MTL::Argument, NSUInteger, bufferDataSize)
SMELT_GET(MTL::Argument, MTLDataType, bufferDataType)
SMELT_GET(MTL::Argument, NSUInteger, threadgroupMemoryAlignment)
SMELT_GET(MTL::Argument, NSUInteger, threadgroupMemoryDataSize)
SMELT_GET(MTL::Argument, NSUInteger, arrayLength)
@end

@implementation MTLComputePipelineDescriptor
SMELT_MAKE(MTL::ComputePipelineDescriptor)
SMELT_LABEL(MTL::ComputePipelineDescriptor)
- (id<MTLFunction>)computeFunction {
  Scope scope;
  return give(core<MTL::ComputePipelineDescriptor>(self)->computeFunction());
}
- (void)setComputeFunction:(id<MTLFunction>)function {
  core<MTL::ComputePipelineDescriptor>(self)->setComputeFunction(core<MTL::Function>(function));
}
SMELT_GET_SET(MTL::ComputePipelineDescriptor, BOOL, threadGroupSizeIsMultipleOfThreadExecutionWidth,
              setThreadGroupSizeIsMultipleOfThreadExecutionWidth, bool)
SMELT_GET_SET(MTL::ComputePipelineDescriptor, NSUInteger, maxTotalThreadsPerThreadgroup,
              setMaxTotalThreadsPerThreadgroup, NSUInteger)
SMELT_GET_SET(MTL::ComputePipelineDescriptor, NSUInteger, maxCallStackDepth, setMaxCallStackDepth, NSUInteger)
SMELT_GET_SET(MTL::ComputePipelineDescriptor, BOOL, supportIndirectCommandBuffers, setSupportIndirectCommandBuffers,
              bool)
SMELT_LIST(MTL::ComputePipelineDescriptor, binaryArchives, setBinaryArchives)
- (MTLLinkedFunctions*)linkedFunctions {
  Scope scope;
  return give(core<MTL::ComputePipelineDescriptor>(self)->linkedFunctions());
}
- (void)setLinkedFunctions:(MTLLinkedFunctions*)functions {
  core<MTL::ComputePipelineDescriptor>(self)->setLinkedFunctions(core<MTL::LinkedFunctions>(functions));
}
- (void)reset {
  core<MTL::ComputePipelineDescriptor>(self)->reset();
}
@end

@implementation MTLBinaryArchiveDescriptor
SMELT_MAKE(MTL::BinaryArchiveDescriptor)
- (NSURL*)url {
  Scope scope;
  return url(core<MTL::BinaryArchiveDescriptor>(self)->url());
}
- (void)setUrl:(NSURL*)to {
  Scope scope;
  core<MTL::BinaryArchiveDescriptor>(self)->setUrl(url(to));
}
@end

@implementation MTLArgumentDescriptor
SMELT_MAKE(MTL::ArgumentDescriptor)
+ (MTLArgumentDescriptor*)argumentDescriptor {
  return [[self new] autorelease];
}
SMELT_GET_SET(MTL::ArgumentDescriptor, MTLDataType, dataType, setDataType, MTL::DataType)
SMELT_GET_SET(MTL::ArgumentDescriptor, NSUInteger, index, setIndex, NSUInteger)
SMELT_GET_SET(MTL::ArgumentDescriptor, NSUInteger, arrayLength, setArrayLength, NSUInteger)
SMELT_GET_SET(MTL::ArgumentDescriptor, MTLBindingAccess, access, setAccess, MTL::BindingAccess)
SMELT_GET_SET(MTL::ArgumentDescriptor, NSUInteger, constantBlockAlignment, setConstantBlockAlignment, NSUInteger)
@end

@implementation MTLSharedEventHandle
SMELT_GET_TEXT(MTL::SharedEventHandle, label)
@end

namespace {
// An ivar that releases what it holds: the object goes with its C++ object, without a -dealloc.
struct Held {
  id object = nil;
  ~Held() { [object release]; }
};
}  // namespace
@implementation MTLSharedEventListener {
  Held queue_;
}
+ (instancetype)alloc {
  return wrap(MTL::SharedEventListener::alloc()->init());
}
+ (MTLSharedEventListener*)sharedListener {
  Scope scope;
  return give(MTL::SharedEventListener::sharedListener());
}
- (instancetype)initWithDispatchQueue:(dispatch_queue_t)queue {
  queue_.object = [queue retain];
  return self;
}
- (dispatch_queue_t)dispatchQueue {
  return queue_.object;
}
@end

@implementation MTLCounterSampleBufferDescriptor
SMELT_MAKE(MTL::CounterSampleBufferDescriptor)
SMELT_LABEL(MTL::CounterSampleBufferDescriptor)
SMELT_GET_SET(MTL::CounterSampleBufferDescriptor, NSUInteger, sampleCount, setSampleCount, NSUInteger)
SMELT_GET_SET(MTL::CounterSampleBufferDescriptor, MTLStorageMode, storageMode, setStorageMode, MTL::StorageMode)
- (id<MTLCounterSet>)counterSet {
  return give(core<MTL::CounterSampleBufferDescriptor>(self)->counterSet());
}
- (void)setCounterSet:(id<MTLCounterSet>)set {
  core<MTL::CounterSampleBufferDescriptor>(self)->setCounterSet(core<MTL::CounterSet>(set));
}
@end

@implementation MTLCaptureDescriptor
SMELT_MAKE(MTL::CaptureDescriptor)
- (id)captureObject {
  Scope scope;
  return give(core<MTL::CaptureDescriptor>(self)->captureObject());
}
- (void)setCaptureObject:(id)object {
  core<MTL::CaptureDescriptor>(self)->setCaptureObject(core<NS::Object>(object));
}
SMELT_GET_SET(MTL::CaptureDescriptor, MTLCaptureDestination, destination, setDestination, MTL::CaptureDestination)
- (NSURL*)outputURL {
  Scope scope;
  return url(core<MTL::CaptureDescriptor>(self)->outputURL());
}
- (void)setOutputURL:(NSURL*)to {
  Scope scope;
  core<MTL::CaptureDescriptor>(self)->setOutputURL(url(to));
}
@end

@implementation MTLCaptureManager
+ (MTLCaptureManager*)sharedCaptureManager {
  Scope scope;
  return give(MTL::CaptureManager::sharedCaptureManager());
}
- (id<MTLCaptureScope>)newCaptureScopeWithDevice:(id<MTLDevice>)device {
  return wrap(core<MTL::CaptureManager>(self)->newCaptureScope(core<MTL::Device>(device)));
}
- (id<MTLCaptureScope>)newCaptureScopeWithCommandQueue:(id<MTLCommandQueue>)queue {
  return wrap(core<MTL::CaptureManager>(self)->newCaptureScope(core<MTL::CommandQueue>(queue)));
}
- (BOOL)supportsDestination:(MTLCaptureDestination)destination {
  return core<MTL::CaptureManager>(self)->supportsDestination(static_cast<MTL::CaptureDestination>(destination));
}
- (BOOL)startCaptureWithDescriptor:(MTLCaptureDescriptor*)descriptor error:(NSError**)error {
  return with_error(error, [&](NS::Error** found) {
    return core<MTL::CaptureManager>(self)->startCapture(core<MTL::CaptureDescriptor>(descriptor), found);
  });
}
- (void)stopCapture {
  core<MTL::CaptureManager>(self)->stopCapture();
}
- (BOOL)isCapturing {
  return core<MTL::CaptureManager>(self)->isCapturing();
}
- (id<MTLCaptureScope>)defaultCaptureScope {
  Scope scope;
  return give(core<MTL::CaptureManager>(self)->defaultCaptureScope());
}
- (void)setDefaultCaptureScope:(id<MTLCaptureScope>)scope {
  core<MTL::CaptureManager>(self)->setDefaultCaptureScope(core<MTL::CaptureScope>(scope));
}
@end
