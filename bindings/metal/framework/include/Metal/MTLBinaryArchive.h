/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Compiled kernels in a file: a package of smelt that any of its tools reads. */
#pragma once

#import <Metal/MTLComputePipeline.h>

typedef NS_ENUM(NSUInteger, MTLBinaryArchiveError) {
  MTLBinaryArchiveErrorNone = 0,
  MTLBinaryArchiveErrorInvalidFile = 1,
  MTLBinaryArchiveErrorUnexpectedElement = 2,
  MTLBinaryArchiveErrorCompilationFailure = 3,
  MTLBinaryArchiveErrorInternalError = 4,
};

MTL_EXPORT NSErrorDomain const MTLBinaryArchiveDomain;

@interface MTLBinaryArchiveDescriptor : SmeltMetalObject <NSCopying>
@property(copy) NSURL* url;
@end
@protocol MTLBinaryArchive <NSObject>
@property(copy) NSString* label;
@property(readonly) id<MTLDevice> device;
- (BOOL)addComputePipelineFunctionsWithDescriptor:(MTLComputePipelineDescriptor*)descriptor
                                            error:(NSError* __autoreleasing*)error;
- (BOOL)serializeToURL:(NSURL*)url error:(NSError* __autoreleasing*)error;
@end
