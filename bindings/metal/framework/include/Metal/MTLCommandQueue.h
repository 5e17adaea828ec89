/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Order. Command buffers of a queue start in the order of -enqueue or -commit. Passes (encoders) of a queue that touch
 * the same tracked resource, one of them writing, run one after the other; others may run at the same time, also those
 * of two command buffers. Resources that are not tracked, and addresses that a kernel finds in memory without
 * -useResource:usage:, need fences, barriers or events. Passes of different queues run in any order, unless an event
 * orders them, or a fence whose update was committed before the pass that waits for it. */
#pragma once

#import <Metal/MTLCommandBuffer.h>

@interface MTLCommandQueueDescriptor : SmeltMetalObject <NSCopying>
@property NSUInteger maxCommandBufferCount;
@end

/** Every method from any thread. */
@protocol MTLCommandQueue <NSObject>
@property(copy, atomic) NSString* label;
@property(readonly) id<MTLDevice> device;
/** Keeps what its commands use until it has completed. */
- (id<MTLCommandBuffer>)commandBuffer;
- (id<MTLCommandBuffer>)commandBufferWithDescriptor:(MTLCommandBufferDescriptor*)descriptor;
- (id<MTLCommandBuffer>)commandBufferWithUnretainedReferences;
- (void)insertDebugCaptureBoundary;
- (void)addResidencySet:(id<MTLResidencySet>)set;
- (void)addResidencySets:(const id<MTLResidencySet> __unsafe_unretained[])sets count:(NSUInteger)count;
- (void)removeResidencySet:(id<MTLResidencySet>)set;
- (void)removeResidencySets:(const id<MTLResidencySet> __unsafe_unretained[])sets count:(NSUInteger)count;
@end
