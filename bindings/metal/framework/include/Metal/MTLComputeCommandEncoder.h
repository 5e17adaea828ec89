/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Bindings stay until they are replaced. What a dispatch uses is taken down when it is encoded. */
#pragma once

#import <Metal/MTLCommandEncoder.h>
#import <Metal/MTLResource.h>

@protocol MTLComputeCommandEncoder <MTLCommandEncoder>
@property(readonly) MTLDispatchType dispatchType;
- (void)setComputePipelineState:(id<MTLComputePipelineState>)state;
/** Copied now; at most 4,096 bytes. */
- (void)setBytes:(const void*)bytes length:(NSUInteger)length atIndex:(NSUInteger)index;
/** nil is a null pointer to the kernel. */
- (void)setBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset atIndex:(NSUInteger)index;
- (void)setBufferOffset:(NSUInteger)offset atIndex:(NSUInteger)index;
- (void)setBuffers:(const id<MTLBuffer> __unsafe_unretained[])buffers
           offsets:(const NSUInteger[])offsets
         withRange:(NSRange)range;
- (void)setTexture:(id<MTLTexture>)texture atIndex:(NSUInteger)index;
- (void)setTextures:(const id<MTLTexture> __unsafe_unretained[])textures withRange:(NSRange)range;
- (void)setSamplerState:(id<MTLSamplerState>)sampler atIndex:(NSUInteger)index;
- (void)setSamplerStates:(const id<MTLSamplerState> __unsafe_unretained[])samplers withRange:(NSRange)range;
/** In the place of a buffer. nil is a table that is_null_visible_function_table says yes to. */
- (void)setVisibleFunctionTable:(id<MTLVisibleFunctionTable>)table atBufferIndex:(NSUInteger)index;
- (void)setVisibleFunctionTables:(const id<MTLVisibleFunctionTable> __unsafe_unretained[])tables
                 withBufferRange:(NSRange)range;
/** A multiple of 16. A threadgroup argument without a length has no memory to speak of. */
- (void)setThreadgroupMemoryLength:(NSUInteger)length atIndex:(NSUInteger)index;
/** Every thread of the grid once; groups at its edges are smaller. */
- (void)dispatchThreads:(MTLSize)threads threadsPerThreadgroup:(MTLSize)group;
- (void)dispatchThreadgroups:(MTLSize)groups threadsPerThreadgroup:(MTLSize)group;
/** MTLDispatchThreadgroupsIndirectArguments in the buffer, read when the dispatch runs. */
- (void)dispatchThreadgroupsWithIndirectBuffer:(id<MTLBuffer>)buffer
                          indirectBufferOffset:(NSUInteger)offset
                         threadsPerThreadgroup:(MTLSize)group;
/** The fence is updated when this pass ends. */
- (void)updateFence:(id<MTLFence>)fence;
/** This pass begins when the pass that updated the fence last has ended. */
- (void)waitForFence:(id<MTLFence>)fence;
/** For what kernels reach through addresses in memory: counts for hazards of the dispatches that follow. */
- (void)useResource:(id<MTLResource>)resource usage:(MTLResourceUsage)usage;
- (void)useResources:(const id<MTLResource> __unsafe_unretained[])resources
               count:(NSUInteger)count
               usage:(MTLResourceUsage)usage;
- (void)useHeap:(id<MTLHeap>)heap;
- (void)useHeaps:(const id<MTLHeap> __unsafe_unretained[])heaps count:(NSUInteger)count;
/** Of a concurrent encoder: what follows waits for what came before. */
- (void)memoryBarrierWithScope:(MTLBarrierScope)scope;
- (void)memoryBarrierWithResources:(const id<MTLResource> __unsafe_unretained[])resources count:(NSUInteger)count;
- (void)sampleCountersInBuffer:(id<MTLCounterSampleBuffer>)buffer
                 atSampleIndex:(NSUInteger)index
                   withBarrier:(BOOL)barrier;
@end
