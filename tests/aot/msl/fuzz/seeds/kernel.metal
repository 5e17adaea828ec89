// Function constants, argument structs, threadgroup memory in both forms, positions, templates on a space.
#include <metal_stdlib>
using namespace metal;
constant int count [[function_constant(0)]];
constant bool many = is_function_constant_defined(count) ? count > 3 : false;
struct Args {
  int width;
  float scale[2];
};
template <typename T>
T twice(device const T* p, uint i) {
  return p[i] + p[i];
}
kernel void f(constant Args& args [[buffer(0)]], device const float4* x [[buffer(1)]], device float4* y,
              threadgroup float* shared [[threadgroup(0)]], uint3 at [[thread_position_in_grid]],
              uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float own[32];
  own[lane] = x[at.x].wzyx.x;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (int i = 0; i < args.width; ++i) shared[i] = many ? own[i] * 2.0h : args.scale[i & 1];
  y[at.x] = twice(x, at.x) + simd_sum(shared[0]);
}
