/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// Structures of Metal's API that Metal's compiler knows by name, at global scope: what a kernel writes for indirect
// draws and dispatches, and what describes the instances of an acceleration structure. Members, their order and sizes
// are the API's (MTLRenderCommandEncoder, MTLComputeCommandEncoder, MTLAccelerationStructure).
#ifndef __SMELT_API_STRUCTURES_H
#define __SMELT_API_STRUCTURES_H

#include <metal_types>

// ---- Indirect draws and dispatches

struct MTLDrawPrimitivesIndirectArguments {
  uint32_t vertexCount, instanceCount, vertexStart, baseInstance;
};
struct MTLDrawIndexedPrimitivesIndirectArguments {
  uint32_t indexCount, instanceCount, indexStart;
  int32_t baseVertex;
  uint32_t baseInstance;
};
struct MTLDrawPatchIndirectArguments {
  uint32_t patchCount, instanceCount, patchStart, baseInstance;
};
struct MTLDispatchThreadgroupsIndirectArguments {
  uint32_t threadgroupsPerGrid[3];
};
struct MTLDispatchThreadsIndirectArguments {
  uint32_t threadsPerGrid[3];
  uint32_t threadsPerThreadgroup[3];
};
struct MTLStageInRegionIndirectArguments {
  uint32_t stageInOrigin[3];
  uint32_t stageInSize[3];
};
struct MTLIndirectCommandBufferExecutionRange {
  uint32_t location, length;
};

// ---- Acceleration structures

typedef packed_float3 MTLPackedFloat3;
struct MTLPackedFloat4x3 {
  MTLPackedFloat3 columns[4];
  __SMELT_ELEMENT(MTLPackedFloat4x3, MTLPackedFloat3, int column, self.columns[column])
  __SMELT_ELEMENT(const MTLPackedFloat4x3, const MTLPackedFloat3, int column, self.columns[column])
  __SMELT_ELEMENTS(MTLPackedFloat4x3, MTLPackedFloat3, int column, self.columns[column])
};
struct MTLAxisAlignedBoundingBox {
  MTLPackedFloat3 min, max;
};
struct __smelt_resource_id {
  uint64_t _impl;
};

typedef uint32_t MTLAccelerationStructureInstanceOptions;
enum : uint32_t {
  MTLAccelerationStructureInstanceOptionNone = 0,
  MTLAccelerationStructureInstanceOptionDisableTriangleCulling = 1,
  MTLAccelerationStructureInstanceOptionTriangleFrontFacingWindingCounterClockwise = 2,
  MTLAccelerationStructureInstanceOptionOpaque = 4,
  MTLAccelerationStructureInstanceOptionNonOpaque = 8
};
typedef uint32_t MTLMotionBorderMode;
enum : uint32_t { MTLMotionBorderModeClamp = 0, MTLMotionBorderModeVanish = 1 };

struct MTLAccelerationStructureInstanceDescriptor {
  MTLPackedFloat4x3 transformationMatrix;
  MTLAccelerationStructureInstanceOptions options;
  uint32_t mask, intersectionFunctionTableOffset, accelerationStructureIndex;
};
struct MTLAccelerationStructureUserIDInstanceDescriptor {
  MTLPackedFloat4x3 transformationMatrix;
  MTLAccelerationStructureInstanceOptions options;
  uint32_t mask, intersectionFunctionTableOffset, accelerationStructureIndex, userID;
};
struct MTLAccelerationStructureMotionInstanceDescriptor {
  MTLAccelerationStructureInstanceOptions options;
  uint32_t mask, intersectionFunctionTableOffset, accelerationStructureIndex, userID;
  uint32_t motionTransformsStartIndex, motionTransformsCount;
  MTLMotionBorderMode motionStartBorderMode, motionEndBorderMode;
  float motionStartTime, motionEndTime;
};
struct MTLIndirectAccelerationStructureInstanceDescriptor {
  MTLPackedFloat4x3 transformationMatrix;
  MTLAccelerationStructureInstanceOptions options;
  uint32_t mask, intersectionFunctionTableOffset, userID;
  __smelt_resource_id accelerationStructureID;
};
struct MTLIndirectAccelerationStructureMotionInstanceDescriptor {
  MTLAccelerationStructureInstanceOptions options;
  uint32_t mask, intersectionFunctionTableOffset, userID;
  __smelt_resource_id accelerationStructureID;
  uint32_t motionTransformsStartIndex, motionTransformsCount;
  MTLMotionBorderMode motionStartBorderMode, motionEndBorderMode;
  float motionStartTime, motionEndTime;
};

static_assert(sizeof(MTLDrawIndexedPrimitivesIndirectArguments) == 20 && sizeof(MTLPackedFloat4x3) == 48 &&
              sizeof(MTLAccelerationStructureInstanceDescriptor) == 64 &&
              sizeof(MTLAccelerationStructureUserIDInstanceDescriptor) == 68 &&
              sizeof(MTLAccelerationStructureMotionInstanceDescriptor) == 44 &&
              sizeof(MTLIndirectAccelerationStructureInstanceDescriptor) == 72 &&
              sizeof(MTLIndirectAccelerationStructureMotionInstanceDescriptor) == 48);

#endif
