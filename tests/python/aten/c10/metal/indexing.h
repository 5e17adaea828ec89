// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stands in for PyTorch's header of this name: the same macros, names of kernels and arguments, written anew for the
// tests of smelt.compat.aten.
#pragma once
#include <metal_stdlib>

namespace c10 {
namespace metal {

enum class ScalarType {
  Byte = 0,
  Char = 1,
  Short = 2,
  Int = 3,
  Long = 4,
  Half = 5,
  Float = 6,
  Bool = 11,
  BFloat16 = 15
};

template <typename T>
T element(constant void* from, ScalarType type) {
  switch (type) {
    case ScalarType::Byte:
      return T(*static_cast<constant uchar*>(from));
    case ScalarType::Char:
      return T(*static_cast<constant char*>(from));
    case ScalarType::Short:
      return T(*static_cast<constant short*>(from));
    case ScalarType::Int:
      return T(*static_cast<constant int*>(from));
    case ScalarType::Long:
      return T(*static_cast<constant long*>(from));
    case ScalarType::Half:
      return T(*static_cast<constant half*>(from));
    case ScalarType::Float:
      return T(*static_cast<constant float*>(from));
    case ScalarType::Bool:
      return T(*static_cast<constant bool*>(from));
    case ScalarType::BFloat16:
      return T(*static_cast<constant bfloat*>(from));
  }
  return T(0);
}

inline long place(uint index, constant long* sizes, constant long* strides, uint ndim) {
  long at = 0;
  for (uint i = 0; i < ndim; ++i) {
    at += index % sizes[i] * strides[i];
    index /= sizes[i];
  }
  return at;
}

template <typename R, typename T, typename F>
kernel void unary_dense(device R* output [[buffer(0)]], constant T* input [[buffer(1)]],
                        uint index [[thread_position_in_grid]]) {
  output[index] = F()(input[index]);
}

template <typename R, typename T, typename F>
kernel void unary_strided(device R* output [[buffer(0)]], constant T* input [[buffer(1)]],
                          constant long* sizes [[buffer(2)]], constant long* input_strides [[buffer(3)]],
                          constant long* output_strides [[buffer(4)]], constant uint& ndim [[buffer(5)]],
                          uint index [[thread_position_in_grid]]) {
  output[place(index, sizes, output_strides, ndim)] = F()(input[place(index, sizes, input_strides, ndim)]);
}

template <typename T>
void put(device void* to, ScalarType type, T value) {
  if (type == ScalarType::Float) *static_cast<device float*>(to) = float(value);
  if (type == ScalarType::Int) *static_cast<device int*>(to) = int(value);
}

template <typename T, typename F>
kernel void unary_inner_contiguous_castout(device void* output [[buffer(0)]], constant void* input [[buffer(1)]],
                                           constant long* outer_sizes [[buffer(2)]],
                                           constant long* input_outer_strides [[buffer(3)]],
                                           constant long* output_outer_strides [[buffer(4)]],
                                           constant uint4& ndimO_inner_elem_outtype [[buffer(5)]],
                                           uint2 thread_pos [[thread_position_in_grid]]) {
  const uint ndim = ndimO_inner_elem_outtype.x;
  if (thread_pos.x >= ndimO_inner_elem_outtype.y) return;
  const T x = reinterpret_cast<constant T*>(static_cast<constant char*>(input) +
                                            place(thread_pos.y, outer_sizes, input_outer_strides, ndim))[thread_pos.x];
  device char* row = static_cast<device char*>(output) + place(thread_pos.y, outer_sizes, output_outer_strides, ndim);
  put(row + thread_pos.x * ndimO_inner_elem_outtype.z, static_cast<ScalarType>(ndimO_inner_elem_outtype.w), F()(x));
}

template <typename R, typename T, typename F>
kernel void binary_dense(device R* out [[buffer(0)]], constant T* input [[buffer(1)]], constant T* other [[buffer(2)]],
                         uint tid [[thread_position_in_grid]]) {
  out[tid] = F()(input[tid], other[tid]);
}

template <typename R, typename T, typename F>
kernel void binary_dense_scalar(device R* out [[buffer(0)]], constant T* input [[buffer(1)]],
                                constant T* other [[buffer(2)]], uint tid [[thread_position_in_grid]]) {
  out[tid] = F()(input[tid], other[0]);
}

template <typename R, typename T, typename F>
kernel void binary_dense_broadcast(device R* out [[buffer(0)]], constant T* input [[buffer(1)]],
                                   constant T* other [[buffer(2)]], constant long& broadcast_numel [[buffer(3)]],
                                   uint tid [[thread_position_in_grid]]) {
  out[tid] = F()(input[tid], other[tid % broadcast_numel]);
}

template <typename R, typename T, typename F>
kernel void binary_strided(device void* output [[buffer(0)]], constant void* input [[buffer(1)]],
                           constant void* other [[buffer(2)]], constant long* sizes [[buffer(3)]],
                           constant long* output_strides [[buffer(4)]], constant long* input_strides [[buffer(5)]],
                           constant long* other_strides [[buffer(6)]], constant uint4& ndim_types [[buffer(7)]],
                           uint index [[thread_position_in_grid]]) {
  const uint ndim = ndim_types.x;
  const T a =
      *reinterpret_cast<constant T*>(static_cast<constant char*>(input) + place(index, sizes, input_strides, ndim));
  const T b =
      *reinterpret_cast<constant T*>(static_cast<constant char*>(other) + place(index, sizes, other_strides, ndim));
  *reinterpret_cast<device R*>(static_cast<device char*>(output) + place(index, sizes, output_strides, ndim)) =
      F()(a, b);
}

template <typename R, typename T, typename F>
kernel void binary_dense_cast(device R* out [[buffer(0)]], constant void* input [[buffer(1)]],
                              constant void* other [[buffer(2)]], constant uint4& sizes_types [[buffer(3)]],
                              uint tid [[thread_position_in_grid]]) {
  const T a =
      element<T>(static_cast<constant char*>(input) + tid * sizes_types.x, static_cast<ScalarType>(sizes_types.z));
  const T b =
      element<T>(static_cast<constant char*>(other) + tid * sizes_types.y, static_cast<ScalarType>(sizes_types.w));
  out[tid] = F()(a, b);
}

template <typename T, typename F>
kernel void binary_alpha_dense(device T* out [[buffer(0)]], constant T* input [[buffer(1)]],
                               constant T* other [[buffer(2)]], constant T& alpha [[buffer(3)]],
                               uint tid [[thread_position_in_grid]]) {
  out[tid] = F()(input[tid], other[tid], alpha);
}

template <typename T, typename F>
kernel void ternary_dense(device T* output [[buffer(0)]], constant T* input [[buffer(1)]],
                          constant T* other1 [[buffer(2)]], constant T* other2 [[buffer(3)]],
                          uint tid [[thread_position_in_grid]]) {
  output[tid] = F()(input[tid], other1[tid], other2[tid]);
}

}  // namespace metal
}  // namespace c10

#define REGISTER_UNARY_OP(NAME, T, R)                                                                              \
  template [[host_name(#NAME "_dense_" #R "_" #T)]] kernel void c10::metal::unary_dense<R, T, NAME##_functor>(     \
      device R*, constant T*, uint);                                                                               \
  template [[host_name(#NAME "_strided_" #R "_" #T)]] kernel void c10::metal::unary_strided<R, T, NAME##_functor>( \
      device R*, constant T*, constant long*, constant long*, constant long*, constant uint&, uint)

#define REGISTER_UNARY_CASTOUT_OP(NAME, T)                                  \
  template [[host_name(#NAME "_inner_contiguous_castout_" #T)]] kernel void \
  c10::metal::unary_inner_contiguous_castout<T, NAME##_functor>(            \
      device void*, constant void*, constant long*, constant long*, constant long*, constant uint4&, uint2)

#define REGISTER_BINARY_OP(NAME, T, R)                                                                                 \
  template [[host_name(#NAME "_dense_" #R "_" #T)]] kernel void c10::metal::binary_dense<R, T, NAME##_functor>(        \
      device R*, constant T*, constant T*, uint);                                                                      \
  template [[host_name(#NAME "_dense_scalar_" #R "_" #T)]] kernel void                                                 \
  c10::metal::binary_dense_scalar<R, T, NAME##_functor>(device R*, constant T*, constant T*, uint);                    \
  template [[host_name(#NAME "_dense_broadcast_" #R "_" #T)]] kernel void                                              \
  c10::metal::binary_dense_broadcast<R, T, NAME##_functor>(device R*, constant T*, constant T*, constant long&, uint); \
  template [[host_name(#NAME "_dense_cast_" #R)]] kernel void c10::metal::binary_dense_cast<R, T, NAME##_functor>(     \
      device R*, constant void*, constant void*, constant uint4&, uint);                                               \
  template [[host_name(#NAME "_strided_" #R "_" #T)]] kernel void c10::metal::binary_strided<R, T, NAME##_functor>(    \
      device void*, constant void*, constant void*, constant long*, constant long*, constant long*, constant long*,    \
      constant uint4&, uint)

#define REGISTER_BINARY_ALPHA_OP(NAME, T)                              \
  template [[host_name(#NAME "_dense_" #T "_" #T "_" #T)]] kernel void \
  c10::metal::binary_alpha_dense<T, NAME##_functor>(device T*, constant T*, constant T*, constant T&, uint)

#define REGISTER_TERNARY_OP(NAME, T)                                                                          \
  template [[host_name(#NAME "_dense_" #T "_" #T)]] kernel void c10::metal::ternary_dense<T, NAME##_functor>( \
      device T*, constant T*, constant T*, constant T*, uint)
