// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: structures of Metal's API that a kernel fills need no declaration
// run: 1
// in 1 uint: 0 0 0 0 0
// in 2 float: 1 2 3 4 5 6 7 8 9 10 11 12 0 0 0 0
// out float: 5 12 20 64
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out [[buffer(0)]], device MTLDrawIndexedPrimitivesIndirectArguments* draw [[buffer(1)]],
              constant MTLAccelerationStructureInstanceDescriptor* one [[buffer(2)]]) {
  draw->indexCount = 3;
  draw->baseVertex = 2;
  MTLDispatchThreadgroupsIndirectArguments groups;
  groups.threadgroupsPerGrid[2] = 7;
  out[0] = draw->indexCount + draw->baseVertex;
  out[1] = one->transformationMatrix[1][1] + groups.threadgroupsPerGrid[2];
  MTLAccelerationStructureInstanceDescriptor copy = *one;
  copy.transformationMatrix[3] = float3(1, 2, 3);
  copy.options = MTLAccelerationStructureInstanceOptionOpaque;
  out[2] = dot(float3(copy.transformationMatrix.columns[3]), float3(1)) + copy.options + 10;
  out[3] = sizeof(MTLAccelerationStructureInstanceDescriptor);
}
