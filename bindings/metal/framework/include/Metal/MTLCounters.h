/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* There are no counters: asking for them says so. */
#pragma once

#import <Metal/MTLResource.h>

typedef NS_ENUM(NSUInteger, MTLCounterSamplingPoint) {
  MTLCounterSamplingPointAtStageBoundary = 0,
  MTLCounterSamplingPointAtDrawBoundary = 1,
  MTLCounterSamplingPointAtDispatchBoundary = 2,
  MTLCounterSamplingPointAtTileDispatchBoundary = 3,
  MTLCounterSamplingPointAtBlitBoundary = 4,
};
typedef NS_ENUM(NSInteger, MTLCounterSampleBufferError) {
  MTLCounterSampleBufferErrorOutOfMemory = 0,
  MTLCounterSampleBufferErrorInvalid = 1,
  MTLCounterSampleBufferErrorInternal = 2,
};

typedef NSString* MTLCommonCounter;
typedef NSString* MTLCommonCounterSet;
MTL_EXTERN MTLCommonCounter const MTLCommonCounterTimestamp;
MTL_EXTERN MTLCommonCounterSet const MTLCommonCounterSetTimestamp;
MTL_EXTERN MTLCommonCounterSet const MTLCommonCounterSetStageUtilization;
MTL_EXTERN MTLCommonCounterSet const MTLCommonCounterSetStatistic;
MTL_EXTERN NSErrorDomain const MTLCounterErrorDomain;
typedef struct {
  uint64_t timestamp;
} MTLCounterResultTimestamp;

@protocol MTLCounter <NSObject>
@property(readonly, copy) NSString* name;
@end
@protocol MTLCounterSet <NSObject>
@property(readonly, copy) NSString* name;
@property(readonly, copy) NSArray<id<MTLCounter>>* counters;
@end
@interface MTLCounterSampleBufferDescriptor : SmeltMetalObject <NSCopying>
@property(copy) NSString* label;
@property NSUInteger sampleCount;
@property MTLStorageMode storageMode;
@property(retain) id<MTLCounterSet> counterSet;
@end
@protocol MTLCounterSampleBuffer <NSObject>
@property(readonly, copy) NSString* label;
@property(readonly) NSUInteger sampleCount;
- (NSData*)resolveCounterRange:(NSRange)range;
@end
