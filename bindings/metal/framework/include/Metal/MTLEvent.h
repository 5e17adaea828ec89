/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Events order work between queues; shared events also between queues and threads. */
#pragma once

#import <Metal/MTLTypes.h>

/** A number that only grows. */
@protocol MTLEvent <NSObject>
/** nil for a shared event of no device. */
@property(readonly) id<MTLDevice> device;
@property(copy) NSString* label;
@end

@interface MTLSharedEventHandle : SmeltMetalObject
@property(readonly) NSString* label;
@end
/** Where the blocks that wait for shared events are called: on its queue, else on a thread of its own. */
@interface MTLSharedEventListener : SmeltMetalObject
+ (MTLSharedEventListener*)sharedListener;
- (instancetype)initWithDispatchQueue:(dispatch_queue_t)queue;
@property(readonly) dispatch_queue_t dispatchQueue;
@end
typedef void (^MTLSharedEventNotificationBlock)(id<MTLSharedEvent> event, uint64_t value);

/** Every method from any thread. */
@protocol MTLSharedEvent <MTLEvent>
@property(readwrite) uint64_t signaledValue;
/** Called once, when the value is at least `value`. */
- (void)notifyListener:(MTLSharedEventListener*)listener
               atValue:(uint64_t)value
                 block:(MTLSharedEventNotificationBlock)block;
/** NO: it took longer. */
- (BOOL)waitUntilSignaledValue:(uint64_t)value timeoutMS:(uint64_t)milliseconds;
/** For -newSharedEventWithHandle:, in this process. */
- (MTLSharedEventHandle*)newSharedEventHandle;
@end
