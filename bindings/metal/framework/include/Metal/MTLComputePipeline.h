/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Compute pipelines: a function with its constants, ready to run. */
#pragma once

#import <Metal/MTLLibrary.h>
#import <Metal/MTLLinkedFunctions.h>
#import <Metal/MTLPipeline.h>
#import <Metal/MTLVisibleFunctionTable.h>

@interface MTLComputePipelineReflection : SmeltMetalObject
/** MTLBufferBinding and MTLThreadgroupBinding. */
@property(readonly) NSArray<id<MTLBinding>>* bindings;
/** The same as MTLArgument. */
@property(readonly) NSArray<MTLArgument*>* arguments;
@end
typedef MTLComputePipelineReflection* __autoreleasing MTLAutoreleasedComputePipelineReflection;

@interface MTLComputePipelineDescriptor : SmeltMetalObject <NSCopying>
@property(copy, atomic) NSString* label;
@property(strong, nonatomic) id<MTLFunction> computeFunction;
@property BOOL threadGroupSizeIsMultipleOfThreadExecutionWidth;
/** 0: the function's own. */
@property NSUInteger maxTotalThreadsPerThreadgroup;
@property NSUInteger maxCallStackDepth;
/** YES is an error when the pipeline is made: there are no indirect command buffers. */
@property BOOL supportIndirectCommandBuffers;
@property(copy) NSArray<id<MTLBinaryArchive>>* binaryArchives;
@property(copy) MTLLinkedFunctions* linkedFunctions;
- (void)reset;
@end

/** Immutable, for any thread. */
@protocol MTLComputePipelineState <NSObject>
@property(readonly) NSString* label;
@property(readonly) id<MTLDevice> device;
@property(readonly) NSUInteger maxTotalThreadsPerThreadgroup;
@property(readonly) NSUInteger threadExecutionWidth;
@property(readonly) NSUInteger staticThreadgroupMemoryLength;
- (NSUInteger)imageblockMemoryLengthForDimensions:(MTLSize)dimensions;
@property(readonly) BOOL supportIndirectCommandBuffers;
@property(readonly) MTLComputePipelineReflection* reflection;
/** Of one of the descriptor's linked functions; nil for any other. It belongs to the innermost pool. */
- (id<MTLFunctionHandle>)functionHandleWithFunction:(id<MTLFunction>)function;
- (id<MTLVisibleFunctionTable>)newVisibleFunctionTableWithDescriptor:(MTLVisibleFunctionTableDescriptor*)descriptor;
@end
