// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// This file has what mirror.py does not write: constants, functions, and methods that do more than call the C++ function.
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

id<MTLDevice> MTLCreateSystemDefaultDevice(void) {
  Scope scope;
  return wrap(MTL::CreateSystemDefaultDevice());
}
NSArray<id<MTLDevice>>* MTLCopyAllDevices(void) {
  Scope scope;
  NS::Array* all = MTL::CopyAllDevices();
  NSArray* made = [out(all) retain];
  all->release();
  return made;
}

// No header of Apple's declares it; programs that keep libraries declare it themselves.
@interface SmeltMTLLibrary : SmeltMetalObject <MTLLibrary>
@end
@implementation SmeltMTLLibrary (Data)
- (dispatch_data_t)libraryDataContents {
  Scope scope;
  const NS::Data* data = core<MTL::Library>(self)->libraryDataContents();
  if (data == nullptr) return nil;
  return [dispatch_data_create(data->bytes(), data->length(), nil, DISPATCH_DATA_DESTRUCTOR_DEFAULT) autorelease];
}
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

MTL::SharedEventNotificationBlock smelt::framework::notification(MTLSharedEventListener* listener,
                                                                 MTLSharedEventNotificationBlock block) {
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
  return copied;
}
