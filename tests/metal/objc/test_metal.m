// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Metal as Objective-C programs use it, with ARC: source to numbers, handlers, events, weak references, errors.
#import <Metal/Metal.h>

#import "check.h"

static NSString* const source =
    @"#include <metal_stdlib>\n"
     "using namespace metal;\n"
     "constant int kAdd [[function_constant(0)]];\n"
     "kernel void saxpy(device const float* x [[buffer(0)]], device float* y [[buffer(1)]], constant float& a [[buffer(2)]],\n"
     "                  uint i [[thread_position_in_grid]]) { y[i] += a * x[i] + WEIGHT; }\n"
     "kernel void add(device int* x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] += kAdd; }\n";

static id<MTLLibrary> library_of(id<MTLDevice> device) {
  MTLCompileOptions* options = [MTLCompileOptions new];
  options.preprocessorMacros = @{@"WEIGHT" : @"0.5f"};
  CHECK([options.preprocessorMacros[@"WEIGHT"] isEqual:@"0.5f"] && options.fastMathEnabled);
  NSError* error = nil;
  id<MTLLibrary> library = [device newLibraryWithSource:source options:options error:&error];
  if (!library) fprintf(stderr, "%s\n", error.description.UTF8String);
  CHECK(library && !error);
  return library;
}

@protocol LibraryContents
- (dispatch_data_t)libraryDataContents;
@end

static void test_contents(id<MTLDevice> device, id<MTLLibrary> library) {
  dispatch_data_t bytes = [(id<LibraryContents>)library libraryDataContents];
  NSUInteger size = [(NSData*)bytes length];
  CHECK(bytes && size > 4 && dispatch_data_get_size(bytes) == size && memcmp([(NSData*)bytes bytes], "MTLB", 4) == 0);
  NSError* error = nil;
  id<MTLLibrary> again = [device newLibraryWithData:bytes error:&error];
  CHECK(again && [[NSSet setWithArray:again.functionNames] isEqual:[NSSet setWithArray:library.functionNames]]);
  dispatch_data_t same = [(id<LibraryContents>)again libraryDataContents];
  CHECK([(NSData*)same length] == size && memcmp([(NSData*)same bytes], [(NSData*)bytes bytes], size) == 0);
}

static void test_argument_buffer(id<MTLDevice> device) {
  NSString* text = @"struct Scale { float by; float to; };\n"
                    "struct Table { device float* x; Scale scale [[id(4)]]; };\n"
                    "kernel void scale(constant Table& t [[buffer(2)]], uint i [[thread_position_in_grid]])\n"
                    "{ t.x[i] = t.x[i] * t.scale.by + t.scale.to; }\n";
  NSError* error = nil;
  id<MTLFunction> function = [[device newLibraryWithSource:text options:nil error:&error] newFunctionWithName:@"scale"];
  CHECK(function && !error);
  MTLAutoreleasedArgument about = nil;
  id<MTLArgumentEncoder> encoder = [function newArgumentEncoderWithBufferIndex:2 reflection:&about];
  CHECK(encoder.encodedLength == 16 && [about.name isEqual:@"t"] && about.index == 2 && about.isActive &&
        about.type == MTLArgumentTypeBuffer && about.bufferDataType == MTLDataTypeStruct);
  float numbers[] = {1, 2, 3};
  id<MTLBuffer> x = [device newBufferWithBytes:numbers length:sizeof numbers options:MTLResourceStorageModeShared];
  id<MTLBuffer> table = [device newBufferWithLength:encoder.encodedLength options:MTLResourceStorageModeShared];
  [encoder setArgumentBuffer:table offset:0];
  [encoder setBuffer:x offset:0 atIndex:0];
  *(float*)[encoder constantDataAtIndex:4] = 10;
  *(float*)[encoder constantDataAtIndex:5] = 0.5f;
  id<MTLCommandBuffer> buffer = [[device newCommandQueue] commandBuffer];
  id<MTLComputeCommandEncoder> compute = [buffer computeCommandEncoder];
  [compute setComputePipelineState:[device newComputePipelineStateWithFunction:function error:&error]];
  [compute setBuffer:table offset:0 atIndex:2];
  [compute useResource:x usage:MTLResourceUsageRead | MTLResourceUsageWrite];
  [compute dispatchThreads:MTLSizeMake(3, 1, 1) threadsPerThreadgroup:MTLSizeMake(3, 1, 1)];
  [compute endEncoding];
  [buffer commit];
  [buffer waitUntilCompleted];
  float* y = x.contents;
  CHECK(y[0] == 10.5f && y[1] == 20.5f && y[2] == 30.5f);
}

static void test_function_tables(id<MTLDevice> device) {
  NSString* text = @"#include <metal_stdlib>\nusing namespace metal;\n"
                    "[[visible]] float half_of(float x) { return x / 2; }\n"
                    "[[visible]] float square(float x) { return x * x; }\n"
                    "kernel void apply(device float* x [[buffer(0)]], visible_function_table<float(float)> table\n"
                    "  [[buffer(1)]], uint i [[thread_position_in_grid]]) { x[i] = table[i % 2](x[i]); }\n";
  NSError* error = nil;
  id<MTLLibrary> library = [device newLibraryWithSource:text options:nil error:&error];
  id<MTLFunction> half = [library newFunctionWithName:@"half_of"], square = [library newFunctionWithName:@"square"];
  CHECK(library && half && square && half.functionType == MTLFunctionTypeVisible && device.supportsFunctionPointers);
  MTLComputePipelineDescriptor* descriptor = [MTLComputePipelineDescriptor new];
  descriptor.computeFunction = [library newFunctionWithName:@"apply"];
  descriptor.linkedFunctions = [MTLLinkedFunctions linkedFunctions];
  MTLLinkedFunctions* linked = [MTLLinkedFunctions new];
  linked.functions = @[ half, square ];
  linked.groups = @{@"all" : @[ half, square ]};
  CHECK(linked.groups.count == 1 && linked.functions.count == 2);
  descriptor.linkedFunctions = linked;
  id<MTLComputePipelineState> pipeline = [device newComputePipelineStateWithDescriptor:descriptor
                                                                               options:MTLPipelineOptionNone
                                                                            reflection:NULL
                                                                                 error:&error];
  CHECK(pipeline && !error);
  CHECK(![pipeline functionHandleWithFunction:descriptor.computeFunction]);
  MTLVisibleFunctionTableDescriptor* size = [MTLVisibleFunctionTableDescriptor visibleFunctionTableDescriptor];
  size.functionCount = 2;
  id<MTLVisibleFunctionTable> table = [pipeline newVisibleFunctionTableWithDescriptor:size];
  table.label = @"steps";
  CHECK([table.label isEqual:@"steps"] && table.allocatedSize == 16 && !table.heap);
  id<MTLFunctionHandle> handle = [pipeline functionHandleWithFunction:half];
  CHECK([handle.name isEqual:@"half_of"] && handle.functionType == MTLFunctionTypeVisible);
  [table setFunction:handle atIndex:0];
  id<MTLFunctionHandle> handles[] = {[pipeline functionHandleWithFunction:square]};
  [table setFunctions:handles withRange:NSMakeRange(1, 1)];
  float numbers[] = {3, 5};
  id<MTLBuffer> x = [device newBufferWithBytes:numbers length:sizeof numbers options:MTLResourceStorageModeShared];
  id<MTLCommandBuffer> buffer = [[device newCommandQueue] commandBuffer];
  id<MTLComputeCommandEncoder> compute = [buffer computeCommandEncoder];
  [compute setComputePipelineState:pipeline];
  [compute setBuffer:x offset:0 atIndex:0];
  [compute setVisibleFunctionTable:table atBufferIndex:1];
  [compute dispatchThreads:MTLSizeMake(2, 1, 1) threadsPerThreadgroup:MTLSizeMake(2, 1, 1)];
  [compute endEncoding];
  [buffer commit];
  [buffer waitUntilCompleted];
  const float* y = x.contents;
  CHECK(!buffer.error && y[0] == 1.5f && y[1] == 25);
}

static void test_textures(id<MTLDevice> device) {
  NSString* text =
      @"#include <metal_stdlib>\nusing namespace metal;\n"
       "kernel void halve(texture2d<float> from [[texture(0)]], sampler by [[sampler(0)]],\n"
       "                  texture2d<float, access::write> to [[texture(1)]], uint2 at [[thread_position_in_grid]]) {\n"
       "  to.write(from.sample(by, (float2(at) + 0.5f) / float2(to.get_width(), to.get_height())), at); }\n";
  NSError* error = nil;
  id<MTLFunction> function = [[device newLibraryWithSource:text options:nil error:&error] newFunctionWithName:@"halve"];
  CHECK(function && !error);
  MTLTextureDescriptor* about = [MTLTextureDescriptor texture2DDescriptorWithPixelFormat:MTLPixelFormatR8Unorm
                                                                                   width:4
                                                                                  height:1
                                                                               mipmapped:NO];
  about.usage = MTLTextureUsageShaderRead;
  about.storageMode = MTLStorageModeShared;
  id<MTLTexture> from = [device newTextureWithDescriptor:about];
  about.width = 2;
  id<MTLTexture> to = [device newTextureWithDescriptor:about];
  CHECK(from.width == 4 && to.width == 2 && from.pixelFormat == MTLPixelFormatR8Unorm && from.mipmapLevelCount == 1);
  CHECK(from.textureType == MTLTextureType2D && !from.parentTexture && !from.buffer && from.device == device);
  MTLSamplerDescriptor* states = [MTLSamplerDescriptor new];
  states.minFilter = states.magFilter = MTLSamplerMinMagFilterLinear;
  states.sAddressMode = MTLSamplerAddressModeClampToEdge;
  states.label = @"soft";
  id<MTLSamplerState> by = [device newSamplerStateWithDescriptor:states];
  CHECK([by.label isEqual:@"soft"] && by.device == device);
  const uint8_t texels[] = {0, 100, 200, 220, 0};
  id<MTLBuffer> bytes = [device newBufferWithBytes:texels length:sizeof texels options:MTLResourceStorageModeShared];
  id<MTLCommandBuffer> buffer = [[device newCommandQueue] commandBuffer];
  id<MTLBlitCommandEncoder> blit = [buffer blitCommandEncoder];
  [blit copyFromBuffer:bytes
             sourceOffset:0
        sourceBytesPerRow:4
      sourceBytesPerImage:4
               sourceSize:MTLSizeMake(4, 1, 1)
                toTexture:from
         destinationSlice:0
         destinationLevel:0
        destinationOrigin:MTLOriginMake(0, 0, 0)];
  [blit endEncoding];
  id<MTLComputeCommandEncoder> compute = [buffer computeCommandEncoder];
  [compute setComputePipelineState:[device newComputePipelineStateWithFunction:function error:&error]];
  [compute setTexture:from atIndex:0];
  [compute setTexture:to atIndex:1];
  [compute setSamplerState:by atIndex:0];
  [compute dispatchThreads:MTLSizeMake(2, 1, 1) threadsPerThreadgroup:MTLSizeMake(2, 1, 1)];
  [compute endEncoding];
  [buffer commit];
  [buffer waitUntilCompleted];
  uint8_t halves[2] = {0};
  [to getBytes:halves bytesPerRow:2 fromRegion:MTLRegionMake2D(0, 0, 2, 1) mipmapLevel:0];
  CHECK(!buffer.error && halves[0] == 50 && halves[1] == 210);
  [to replaceRegion:MTLRegionMake2D(1, 0, 1, 1) mipmapLevel:0 withBytes:texels bytesPerRow:1];
  id<MTLTexture> view = [to newTextureViewWithPixelFormat:MTLPixelFormatR8Uint];
  [view getBytes:halves bytesPerRow:2 fromRegion:MTLRegionMake2D(0, 0, 2, 1) mipmapLevel:0];
  CHECK(view.parentTexture == to && halves[0] == 50 && halves[1] == 0);
  id<MTLTexture> inside = [bytes newTextureWithDescriptor:about offset:1 bytesPerRow:2];
  [inside getBytes:halves bytesPerRow:2 fromRegion:MTLRegionMake2D(0, 0, 2, 1) mipmapLevel:0];
  CHECK(inside.buffer == bytes && inside.bufferOffset == 1 && halves[0] == 100 && halves[1] == 200);
}

static void test_numbers(id<MTLDevice> device, id<MTLCommandQueue> queue, id<MTLLibrary> library) {
  CHECK([[NSSet setWithArray:library.functionNames] isEqual:[NSSet setWithArray:@[ @"saxpy", @"add" ]]]);
  CHECK([library newFunctionWithName:@"nothing"] == nil);
  NSError* error = nil;
  id<MTLFunction> function = [library newFunctionWithName:@"saxpy"];
  CHECK([function.name isEqual:@"saxpy"] && function.functionType == MTLFunctionTypeKernel && function.device == device);
  id<MTLComputePipelineState> pipeline = [device newComputePipelineStateWithFunction:function error:&error];
  CHECK(pipeline && !error && pipeline.threadExecutionWidth == 32 && pipeline.maxTotalThreadsPerThreadgroup >= 32);
  float x[100], a = 2;
  for (int i = 0; i < 100; ++i) x[i] = (float)i;
  id<MTLBuffer> bx = [device newBufferWithBytes:x length:sizeof x options:MTLResourceStorageModeShared];
  id<MTLBuffer> by = [device newBufferWithLength:sizeof x options:MTLResourceStorageModeShared];
  bx.label = @"x";
  CHECK([bx.label isEqual:@"x"] && by.length == sizeof x && bx.device == device);
  id<MTLCommandBuffer> buffer = [queue commandBuffer];
  id<MTLComputeCommandEncoder> encoder = [buffer computeCommandEncoder];
  [encoder setComputePipelineState:pipeline];
  [encoder setBuffer:bx offset:0 atIndex:0];
  [encoder setBuffer:by offset:0 atIndex:1];
  [encoder setBytes:&a length:sizeof a atIndex:2];
  [encoder dispatchThreads:MTLSizeMake(100, 1, 1) threadsPerThreadgroup:MTLSizeMake(32, 1, 1)];
  [encoder endEncoding];
  __block int called = 0;
  [buffer addCompletedHandler:^(id<MTLCommandBuffer> done) {
    called += done == buffer && done.status == MTLCommandBufferStatusCompleted;
  }];
  [buffer commit];
  [buffer waitUntilCompleted];
  CHECK(buffer.status == MTLCommandBufferStatusCompleted && !buffer.error && buffer.GPUEndTime >= buffer.GPUStartTime && called == 1);
  float* y = by.contents;
  int right = 0;
  for (int i = 0; i < 100; ++i) right += y[i] == 2 * x[i] + 0.5f;
  CHECK(right == 100);
}

static void test_constants(id<MTLDevice> device, id<MTLCommandQueue> queue, id<MTLLibrary> library) {
  MTLFunctionConstantValues* values = [MTLFunctionConstantValues new];
  int add = 41;
  [values setConstantValue:&add type:MTLDataTypeInt atIndex:0];
  NSError* error = nil;
  id<MTLFunction> function = [library newFunctionWithName:@"add" constantValues:values error:&error];
  CHECK(function && [function.functionConstantsDictionary[@"kAdd"] type] == MTLDataTypeInt);
  MTLComputePipelineDescriptor* descriptor = [MTLComputePipelineDescriptor new];
  descriptor.computeFunction = function;
  descriptor.label = @"adding";
  CHECK(descriptor.computeFunction == function && [[descriptor copy] computeFunction] == function);
  MTLAutoreleasedComputePipelineReflection reflection = nil;
  id<MTLComputePipelineState> pipeline = [device newComputePipelineStateWithDescriptor:descriptor
                                                                               options:MTLPipelineOptionBindingInfo
                                                                            reflection:&reflection
                                                                                 error:&error];
  CHECK(pipeline && [pipeline.label isEqual:@"adding"]);
  id<MTLBufferBinding> binding = (id<MTLBufferBinding>)reflection.bindings.firstObject;
  CHECK(reflection.bindings.count == 1 && binding.type == MTLBindingTypeBuffer && binding.index == 0 && [binding.name isEqual:@"x"]);
  CHECK([binding conformsToProtocol:@protocol(MTLBufferBinding)] && [device conformsToProtocol:@protocol(MTLDevice)]);
  id<MTLBuffer> data = [device newBufferWithLength:64 options:MTLResourceStorageModeShared];
  id<MTLSharedEvent> event = [device newSharedEvent];
  id<MTLCommandBuffer> buffer = [queue commandBuffer];
  id<MTLBlitCommandEncoder> blit = [buffer blitCommandEncoder];
  [blit fillBuffer:data range:NSMakeRange(0, 64) value:1];
  [blit endEncoding];
  [buffer encodeWaitForEvent:event value:1];
  id<MTLComputeCommandEncoder> encoder = [buffer computeCommandEncoderWithDispatchType:MTLDispatchTypeConcurrent];
  [encoder setComputePipelineState:pipeline];
  [encoder setBuffer:data offset:0 atIndex:0];
  [encoder dispatchThreadgroups:MTLSizeMake(4, 1, 1) threadsPerThreadgroup:MTLSizeMake(4, 1, 1)];
  [encoder memoryBarrierWithScope:MTLBarrierScopeBuffers];
  [encoder endEncoding];
  [buffer encodeSignalEvent:event value:2];
  dispatch_semaphore_t told = dispatch_semaphore_create(0);
  dispatch_queue_t calls = dispatch_queue_create("calls", NULL);
  [event notifyListener:[[MTLSharedEventListener alloc] initWithDispatchQueue:calls]
                atValue:2
                  block:^(id<MTLSharedEvent> reached, uint64_t value) {
                    if (reached == event && value >= 2) dispatch_semaphore_signal(told);
                  }];
  [buffer commit];
  CHECK(event.signaledValue == 0 && ![event waitUntilSignaledValue:2 timeoutMS:5]);
  event.signaledValue = 1;
  CHECK([event waitUntilSignaledValue:2 timeoutMS:60000]);
  CHECK(dispatch_semaphore_wait(told, dispatch_time(DISPATCH_TIME_NOW, 60 * NSEC_PER_SEC)) == 0);
  [buffer waitUntilCompleted];
  const int* x = data.contents;
  CHECK(x[0] == 0x01010101 + 41 && x[15] == 0x01010101 + 41);
}

static void test_lifetimes(id<MTLDevice> device, id<MTLCommandQueue> queue) {
  __weak id<MTLBuffer> weak = nil;
  __block int freed = 0;
  // Memory that begins or ends inside a page is no buffer, and nobody is ended.
  static char bytes[40000];
  char* page = (char*)(((uintptr_t)bytes + 16383) & ~(uintptr_t)16383);
  CHECK([device newBufferWithBytesNoCopy:page + 64 length:16384 options:0 deallocator:nil] == nil);
  CHECK([device newBufferWithBytesNoCopy:page length:100 options:0 deallocator:nil] == nil);
  MTLCounterSampleBufferDescriptor* counters = [[MTLCounterSampleBufferDescriptor alloc] init];
  for (id<MTLCounterSet> set in device.counterSets)
    if ([set.name isEqualToString:MTLCommonCounterSetTimestamp]) counters.counterSet = set;
  NSError* none = nil;
  CHECK(counters.counterSet == nil && [device newCounterSampleBufferWithDescriptor:counters error:&none] == nil && none);
  void* pages = mmap(NULL, 16384, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  @autoreleasepool {
    id<MTLBuffer> mine = [device newBufferWithBytesNoCopy:pages length:16384 options:0 deallocator:^(void* at, NSUInteger length) {
      freed += at == pages && length == 16384;
    }];
    weak = mine;
    CHECK(mine.contents == pages && weak == mine);
    id<MTLCommandBuffer> buffer = [queue commandBuffer];
    id<MTLBlitCommandEncoder> blit = [buffer blitCommandEncoder];
    [blit fillBuffer:mine range:NSMakeRange(0, 16384) value:7];
    [blit endEncoding];
    mine = nil;  // the command buffer keeps it
    [buffer commit];
    [buffer waitUntilCompleted];
    CHECK(((char*)pages)[16383] == 7);
  }
  for (int i = 0; i < 1000 && !freed; ++i) usleep(1000);  // the queue's thread lets go of the command buffer
  CHECK(freed == 1 && weak == nil);
  NSMutableSet* set = [NSMutableSet set];
  for (int i = 0; i < 10; ++i) [set addObject:queue];
  CHECK(set.count == 1);
}

static void test_errors(id<MTLDevice> device) {
  NSError* error = nil;
  CHECK([device newLibraryWithSource:@"kernel void broken( {" options:nil error:&error] == nil);
  CHECK([error.domain isEqual:MTLLibraryErrorDomain] && error.code == MTLLibraryErrorCompileFailure && error.localizedDescription.length > 10);
  error = nil;
  CHECK([device newLibraryWithURL:[NSURL fileURLWithPath:@"/nowhere/x.metallib"] error:&error] == nil && error);
  MTLCaptureDescriptor* capture = [MTLCaptureDescriptor new];
  capture.captureObject = device;
  CHECK(capture.captureObject == device && ![[MTLCaptureManager sharedCaptureManager] startCaptureWithDescriptor:capture error:&error]);
  CHECK([device supportsFamily:MTLGPUFamilyApple7] && device.name.length > 0 && device.hasUnifiedMemory);
}

static void test_asynchronous(id<MTLDevice> device) {
  dispatch_semaphore_t done = dispatch_semaphore_create(0);
  __block id<MTLComputePipelineState> made = nil;
  [device newLibraryWithSource:source
                       options:({ MTLCompileOptions* o = [MTLCompileOptions new]; o.preprocessorMacros = @{@"WEIGHT" : @0}; o; })
             completionHandler:^(id<MTLLibrary> library, NSError* error) {
               [device newComputePipelineStateWithFunction:[library newFunctionWithName:@"saxpy"]
                                         completionHandler:^(id<MTLComputePipelineState> state, NSError* trouble) {
                                           made = state;
                                           dispatch_semaphore_signal(done);
                                         }];
             }];
  CHECK(dispatch_semaphore_wait(done, dispatch_time(DISPATCH_TIME_NOW, 90 * NSEC_PER_SEC)) == 0 && made);
}

int main(void) {
  @autoreleasepool {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    CHECK(device && [MTLCopyAllDevices() containsObject:device]);
    id<MTLCommandQueue> queue = [device newCommandQueue];
    id<MTLLibrary> library = library_of(device);
    test_numbers(device, queue, library);
    test_contents(device, library);
    test_argument_buffer(device);
    test_textures(device);
    test_function_tables(device);
    test_constants(device, queue, library);
    test_lifetimes(device, queue);
    test_errors(device);
    test_asynchronous(device);
  }
  return outcome();
}
