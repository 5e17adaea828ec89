// Matrices of the thread and of the SIMD group, packed vectors, geometry, lambdas, pointers to functions.
#include <metal_stdlib>
#include <metal_simdgroup_matrix>
using namespace metal;
typedef packed_float3 Point;
struct Body {
  Point at;
  half4 colour;
  float3x3 turn;
  bool fixed_;
};
template <typename T, typename F>
inline T fold(thread const array<T, 4>& values, F f) {
  T result = values[0];
  for (size_t i = 1; i < values.size(); ++i) result = f(result, values[i]);
  return result;
}
kernel void product(device const half* a [[buffer(0)]], device const half* b [[buffer(1)]], device float* c [[buffer(2)]],
                    constant uint& stride [[buffer(3)]], uint2 group [[threadgroup_position_in_grid]]) {
  simdgroup_half8x8 left, right;
  simdgroup_float8x8 sum = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  #pragma unroll
  for (uint k = 0; k < 32; k += 8) {
    simdgroup_load(left, a + group.y * 8 * stride + k, stride);
    simdgroup_load(right, b + k * stride + group.x * 8, stride, ulong2(0, 0), false);
    simdgroup_multiply_accumulate(sum, left, right, sum);
  }
  sum.thread_elements()[0] += 1.0f;
  simdgroup_store(sum, c + group.y * 8 * stride + group.x * 8, stride);
}
kernel void move(device Body* bodies [[buffer(0)]], constant float4x4& view [[buffer(1)]], ushort i [[thread_position_in_grid]]) {
  device Body& body = bodies[i];
  if (body.fixed_) return;
  float3 p = body.turn * float3(body.at);
  float4 q = view * float4(p, 1.0);
  array<float, 4> all = {{q.x, q.y, q.z, q.w}};
  const float largest = fold(all, [](float x, float y) { return max(x, y); });
  body.at = Point(normalize(cross(q.xyz, p)) * largest);
  body.colour.rgb = mix(body.colour.bgr, half3(dot(p, p)), select(half3(0), half3(1), bool3(true, false, p.x > 0)));
  body.colour.a = half(precise::exp(-length(p))) + fast::tanh(0.5h) + fma(1.0f, p.y, p.z);
}
