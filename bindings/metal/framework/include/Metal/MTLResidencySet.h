/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Memory is always resident: a list that keeps its allocations. */
#pragma once

#import <Metal/MTLAllocation.h>

@interface MTLResidencySetDescriptor : SmeltMetalObject <NSCopying>
@property(copy) NSString* label;
@property NSUInteger initialCapacity;
@end

@protocol MTLResidencySet <NSObject>
@property(readonly) id<MTLDevice> device;
@property(readonly) NSString* label;
@property(readonly) uint64_t allocatedSize;
@property(readonly, copy) NSArray<id<MTLAllocation>>* allAllocations;
@property(readonly) NSUInteger allocationCount;
- (void)requestResidency;
- (void)endResidency;
- (void)addAllocation:(id<MTLAllocation>)allocation;
- (void)addAllocations:(const id<MTLAllocation> __unsafe_unretained[])allocations count:(NSUInteger)count;
- (void)removeAllocation:(id<MTLAllocation>)allocation;
- (void)removeAllocations:(const id<MTLAllocation> __unsafe_unretained[])allocations count:(NSUInteger)count;
- (void)removeAllAllocations;
- (BOOL)containsAllocation:(id<MTLAllocation>)allocation;
/** Additions and removals count from here on, as in Metal. */
- (void)commit;
@end
