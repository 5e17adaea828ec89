/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Plain values. */
#pragma once

#import <Foundation/Foundation.h>

#define MTL_EXPORT FOUNDATION_EXPORT
#define MTL_EXTERN FOUNDATION_EXPORT

typedef struct {
  NSUInteger width, height, depth;
} MTLSize;
typedef struct {
  NSUInteger x, y, z;
} MTLOrigin;
typedef struct {
  MTLOrigin origin;
  MTLSize size;
} MTLRegion;
typedef struct {
  NSUInteger size, align;
} MTLSizeAndAlign;
typedef struct {
  uint32_t threadgroupsPerGrid[3];
} MTLDispatchThreadgroupsIndirectArguments;
typedef uint64_t MTLTimestamp;
typedef uint64_t MTLGPUAddress;

NS_INLINE MTLSize MTLSizeMake(NSUInteger width, NSUInteger height, NSUInteger depth) {
  MTLSize size = {width, height, depth};
  return size;
}
NS_INLINE MTLOrigin MTLOriginMake(NSUInteger x, NSUInteger y, NSUInteger z) {
  MTLOrigin origin = {x, y, z};
  return origin;
}

NS_INLINE MTLRegion MTLRegionMake1D(NSUInteger x, NSUInteger width) {
  MTLRegion region = {{x, 0, 0}, {width, 1, 1}};
  return region;
}
NS_INLINE MTLRegion MTLRegionMake2D(NSUInteger x, NSUInteger y, NSUInteger width, NSUInteger height) {
  MTLRegion region = {{x, y, 0}, {width, height, 1}};
  return region;
}
NS_INLINE MTLRegion MTLRegionMake3D(NSUInteger x, NSUInteger y, NSUInteger z, NSUInteger width, NSUInteger height,
                                    NSUInteger depth) {
  MTLRegion region = {{x, y, z}, {width, height, depth}};
  return region;
}

/** What all classes here are made of: a name for an object of libsmelt-metal, which counts the references. */
@interface SmeltMetalObject : NSObject
@end

@protocol MTLDevice
, MTLLibrary, MTLFunction, MTLBuffer, MTLHeap, MTLCommandQueue, MTLCommandBuffer, MTLCommandEncoder,
    MTLComputeCommandEncoder, MTLBlitCommandEncoder, MTLComputePipelineState, MTLEvent, MTLSharedEvent, MTLFence,
    MTLResidencySet, MTLArgumentEncoder, MTLBinaryArchive, MTLCaptureScope, MTLCounterSampleBuffer, MTLTexture,
    MTLSamplerState, MTLFunctionHandle, MTLVisibleFunctionTable;
