// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: graphics functions
// gap: graphics stages are not supported
#include <metal_stdlib>
using namespace metal;
vertex float4 corner(uint i [[vertex_id]]) { return float4(0); }
