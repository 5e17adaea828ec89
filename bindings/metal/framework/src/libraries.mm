// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Libraries, functions, pipelines, archives, captures.
#include "bridge.hpp"

using namespace smelt::framework;

NSErrorDomain const MTLLibraryErrorDomain = @"MTLLibraryErrorDomain";
NSErrorDomain const MTLCommandBufferErrorDomain = @"MTLCommandBufferErrorDomain";
NSErrorDomain const MTLBinaryArchiveDomain = @"MTLBinaryArchiveDomain";
NSErrorDomain const MTLCounterErrorDomain = @"MTLCounterErrorDomain";
MTLCommonCounter const MTLCommonCounterTimestamp = @"GPUTimestamp";
MTLCommonCounterSet const MTLCommonCounterSetTimestamp = @"timestamp";
MTLCommonCounterSet const MTLCommonCounterSetStageUtilization = @"stageutilization";
MTLCommonCounterSet const MTLCommonCounterSetStatistic = @"statistic";
NSErrorDomain const MTLCaptureErrorDomain = @"MTLCaptureError";

@interface SmeltMTLLibrary : SmeltMetalObject <MTLLibrary>
@end
@implementation SmeltMTLLibrary
SMELT_LABEL(MTL::Library)
SMELT_DEVICE(MTL::Library)
SMELT_GET(MTL::Library, MTLLibraryType, type)
SMELT_GET_TEXT(MTL::Library, installName)
- (NSArray*)functionNames {
  Scope scope;
  return array(core<MTL::Library>(self)->functionNames());
}
// No header of Apple's declares it; programs that keep libraries declare it themselves.
- (dispatch_data_t)libraryDataContents {
  Scope scope;
  const NS::Data* data = core<MTL::Library>(self)->libraryDataContents();
  if (data == nullptr) return nil;
  return [dispatch_data_create(data->bytes(), data->length(), nil, DISPATCH_DATA_DESTRUCTOR_DEFAULT) autorelease];
}
- (id<MTLFunction>)newFunctionWithName:(NSString*)name {
  Scope scope;
  return wrap(core<MTL::Library>(self)->newFunction(text(name)));
}
- (id<MTLFunction>)newFunctionWithName:(NSString*)name
                        constantValues:(MTLFunctionConstantValues*)values
                                 error:(NSError**)error {
  return with_error(error, [&](NS::Error** found) {
    return wrap(core<MTL::Library>(self)->newFunction(text(name), core<MTL::FunctionConstantValues>(values), found));
  });
}
- (id<MTLFunction>)newFunctionWithDescriptor:(MTLFunctionDescriptor*)descriptor error:(NSError**)error {
  return with_error(error, [&](NS::Error** found) {
    return wrap(core<MTL::Library>(self)->newFunction(core<MTL::FunctionDescriptor>(descriptor), found));
  });
}
static MTL::NewFunctionCompletionHandler from_block(void (^handler)(id<MTLFunction>, NSError*)) {
  void (^copied)(MTL::Function*, NS::Error*) = ^(MTL::Function* function, NS::Error* found) {
    @autoreleasepool {
      handler(wrap(function), error(found));
    }
  };
  return copied;
}
- (void)newFunctionWithName:(NSString*)name
             constantValues:(MTLFunctionConstantValues*)values
          completionHandler:(void (^)(id<MTLFunction>, NSError*))handler {
  Scope scope;
  core<MTL::Library>(self)->newFunction(text(name), core<MTL::FunctionConstantValues>(values), from_block(handler));
}
- (void)newFunctionWithDescriptor:(MTLFunctionDescriptor*)descriptor
                completionHandler:(void (^)(id<MTLFunction>, NSError*))handler {
  core<MTL::Library>(self)->newFunction(core<MTL::FunctionDescriptor>(descriptor), from_block(handler));
}
@end

@interface SmeltMTLFunction : SmeltMetalObject <MTLFunction>
@end
@implementation SmeltMTLFunction
SMELT_LABEL(MTL::Function)
SMELT_DEVICE(MTL::Function)
SMELT_GET_TEXT(MTL::Function, name)
SMELT_GET(MTL::Function, MTLFunctionType, functionType)
SMELT_GET(MTL::Function, MTLFunctionOptions, options)
- (NSDictionary*)functionConstantsDictionary {
  Scope scope;
  return dictionary(core<MTL::Function>(self)->functionConstantsDictionary());
}
- (id<MTLArgumentEncoder>)newArgumentEncoderWithBufferIndex:(NSUInteger)index {
  return wrap(core<MTL::Function>(self)->newArgumentEncoder(index));
}
- (id<MTLArgumentEncoder>)newArgumentEncoderWithBufferIndex:(NSUInteger)index
                                                 reflection:(MTLAutoreleasedArgument*)reflection {
  Scope scope;
  MTL::AutoreleasedArgument about = nullptr;
  id made = wrap(core<MTL::Function>(self)->newArgumentEncoder(index, &about));
  if (reflection) *reflection = give(about);
  return made;
}
@end

@interface SmeltMTLComputePipelineState : SmeltMetalObject <MTLComputePipelineState>
@end
@implementation SmeltMTLComputePipelineState
SMELT_GET_TEXT(MTL::ComputePipelineState, label)
SMELT_DEVICE(MTL::ComputePipelineState)
SMELT_GET(MTL::ComputePipelineState, NSUInteger, maxTotalThreadsPerThreadgroup)
SMELT_GET(MTL::ComputePipelineState, NSUInteger, threadExecutionWidth)
SMELT_GET(MTL::ComputePipelineState, NSUInteger, staticThreadgroupMemoryLength)
SMELT_GET(MTL::ComputePipelineState, BOOL, supportIndirectCommandBuffers)
- (NSUInteger)imageblockMemoryLengthForDimensions:(MTLSize)dimensions {
  return core<MTL::ComputePipelineState>(self)->imageblockMemoryLength(size(dimensions));
}
- (MTLComputePipelineReflection*)reflection {
  Scope scope;
  return give(core<MTL::ComputePipelineState>(self)->reflection());
}
- (id<MTLFunctionHandle>)functionHandleWithFunction:(id<MTLFunction>)function {
  Scope scope;
  return give(core<MTL::ComputePipelineState>(self)->functionHandle(core<MTL::Function>(function)));
}
- (id<MTLVisibleFunctionTable>)newVisibleFunctionTableWithDescriptor:(MTLVisibleFunctionTableDescriptor*)descriptor {
  return wrap(core<MTL::ComputePipelineState>(self)->newVisibleFunctionTable(
      core<MTL::VisibleFunctionTableDescriptor>(descriptor)));
}
@end

@interface SmeltMTLFunctionHandle : SmeltMetalObject <MTLFunctionHandle>
@end
@implementation SmeltMTLFunctionHandle
SMELT_GET(MTL::FunctionHandle, MTLFunctionType, functionType)
SMELT_GET_TEXT(MTL::FunctionHandle, name)
SMELT_DEVICE(MTL::FunctionHandle)
@end

@interface SmeltMTLBinaryArchive : SmeltMetalObject <MTLBinaryArchive>
@end
@implementation SmeltMTLBinaryArchive
SMELT_LABEL(MTL::BinaryArchive)
SMELT_DEVICE(MTL::BinaryArchive)
- (BOOL)addComputePipelineFunctionsWithDescriptor:(MTLComputePipelineDescriptor*)descriptor error:(NSError**)error {
  return with_error(error, [&](NS::Error** found) {
    return core<MTL::BinaryArchive>(self)->addComputePipelineFunctions(core<MTL::ComputePipelineDescriptor>(descriptor),
                                                                       found);
  });
}
- (BOOL)serializeToURL:(NSURL*)to error:(NSError**)error {
  return with_error(error, [&](NS::Error** found) { return core<MTL::BinaryArchive>(self)->serializeToURL(url(to), found); });
}
@end

@interface SmeltMTLCaptureScope : SmeltMetalObject <MTLCaptureScope>
@end
@implementation SmeltMTLCaptureScope
SMELT_LABEL(MTL::CaptureScope)
SMELT_DEVICE(MTL::CaptureScope)
- (void)beginScope {
  core<MTL::CaptureScope>(self)->beginScope();
}
- (void)endScope {
  core<MTL::CaptureScope>(self)->endScope();
}
@end
