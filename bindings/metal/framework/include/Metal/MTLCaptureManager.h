/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Captures, which there are none of: starting one gives MTLCaptureErrorNotSupported. SMELT_TRACE writes what ran. */
#pragma once

#import <Metal/MTLCaptureScope.h>

typedef NS_ENUM(NSInteger, MTLCaptureError) {
  MTLCaptureErrorNotSupported = 1,
  MTLCaptureErrorAlreadyCapturing = 2,
  MTLCaptureErrorInvalidDescriptor = 3,
};
typedef NS_ENUM(NSInteger, MTLCaptureDestination) {
  MTLCaptureDestinationDeveloperTools = 1,
  MTLCaptureDestinationGPUTraceDocument = 2,
};

MTL_EXPORT NSErrorDomain const MTLCaptureErrorDomain;

@interface MTLCaptureDescriptor : SmeltMetalObject <NSCopying>
@property(strong) id captureObject;
@property MTLCaptureDestination destination;
@property(copy) NSURL* outputURL;
@end

@interface MTLCaptureManager : SmeltMetalObject
+ (MTLCaptureManager*)sharedCaptureManager;
- (id<MTLCaptureScope>)newCaptureScopeWithDevice:(id<MTLDevice>)device;
- (id<MTLCaptureScope>)newCaptureScopeWithCommandQueue:(id<MTLCommandQueue>)queue;
- (BOOL)supportsDestination:(MTLCaptureDestination)destination;
/** NO, with MTLCaptureErrorNotSupported. */
- (BOOL)startCaptureWithDescriptor:(MTLCaptureDescriptor*)descriptor error:(NSError* __autoreleasing*)error;
- (void)stopCapture;
@property(strong) id<MTLCaptureScope> defaultCaptureScope;
@property(readonly) BOOL isCapturing;
@end
