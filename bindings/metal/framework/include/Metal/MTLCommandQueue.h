/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef SMELT_METAL_MTLCOMMANDQUEUE_H
#define SMELT_METAL_MTLCOMMANDQUEUE_H

#import <Metal/MTLCommandBuffer.h>

@interface MTLCommandQueueDescriptor : SmeltMetalObject <NSCopying>
@property NSUInteger maxCommandBufferCount;
@end

/** Every method from any thread. */
@protocol MTLCommandQueue <NSObject>
@property(copy, atomic) NSString* label;
@property(readonly) id<MTLDevice> device;
- (id<MTLCommandBuffer>)commandBuffer;
- (id<MTLCommandBuffer>)commandBufferWithDescriptor:(MTLCommandBufferDescriptor*)descriptor;
- (id<MTLCommandBuffer>)commandBufferWithUnretainedReferences;
- (void)insertDebugCaptureBoundary;
- (void)addResidencySet:(id<MTLResidencySet>)set;
- (void)addResidencySets:(const id<MTLResidencySet> __unsafe_unretained[])sets count:(NSUInteger)count;
- (void)removeResidencySet:(id<MTLResidencySet>)set;
- (void)removeResidencySets:(const id<MTLResidencySet> __unsafe_unretained[])sets count:(NSUInteger)count;
@end

#endif
