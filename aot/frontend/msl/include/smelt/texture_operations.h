/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// What AIR does with textures, as Clang's functions. Their AIR form changes with its version
// (docs/formats/air.md 3.11), so a call here is of the neutral form: "smelt.air." and the operation's name, with the
// operands of AIR 2.7 and the bare texel as the result. The legaliser gives it the form of its target
// (legalise/texture_forms).
#ifndef __SMELT_TEXTURE_OPERATIONS_H
#define __SMELT_TEXTURE_OPERATIONS_H

#include <metal_types>

namespace metal {

enum class access { sample, read, write, read_write };
/// Among whom what is written to a texture is seen. AIR's form of it is not known: it has no effect.
enum memory_coherence { memory_coherence_threadgroup, memory_coherence_device };
enum class component { x, y, z, w };

namespace __air {

struct _sampler_t;
using __sampler = const __attribute__((opencl_global_host)) _sampler_t*;

/// The texture is read, or only what is known of it; calls without use may go.
#define __SMELT_TEXTURE_READS __attribute__((pure, nothrow))
#define __SMELT_TEXTURE_WRITES __attribute__((nothrow))

#define __SMELT_UNWRAP(...) __VA_ARGS__
#define __SMELT_EACH_TEXEL(M, ...) \
  M(float, "v4f32", __VA_ARGS__)   \
  M(half, "v4f16", __VA_ARGS__)    \
  M(int, "s.v4i32", __VA_ARGS__)   \
  M(uint, "u.v4i32", __VA_ARGS__) M(short, "s.v4i16", __VA_ARGS__) M(ushort, "u.v4i16", __VA_ARGS__)

// kind: of the name, "2d_array"; S: where to sample; D: a gradient; OFFSET: "(, bool, offset)" or "()".
#define __SMELT_SAMPLES(T, label, kind, S, D, ARRAY, OFFSET)                                                           \
  static __native<T, 4> sample(__texture_##kind, __sampler, S __SMELT_UNWRAP ARRAY __SMELT_UNWRAP OFFSET, bool, float, \
                               float, uint) __asm("smelt.air.sample_texture_" #kind "." label) __SMELT_TEXTURE_READS;  \
  static __native<T, 4> sample_grad(                                                                                   \
      __texture_##kind, __sampler, S __SMELT_UNWRAP ARRAY, D, D, float __SMELT_UNWRAP OFFSET,                          \
      uint) __asm("smelt.air.sample_texture_" #kind "_grad." label) __SMELT_TEXTURE_READS;                             \
  static __native<T, 4> gather(__texture_##kind, __sampler, S __SMELT_UNWRAP ARRAY __SMELT_UNWRAP OFFSET, uint,        \
                               uint) __asm("smelt.air.gather_texture_" #kind "." label) __SMELT_TEXTURE_READS;
// R: which texel; PLACE: face and element behind it, "(, uint)" or "()".
#define __SMELT_READS(T, label, kind, R, PLACE)                              \
  static __native<T, 4> read(__texture_##kind, R __SMELT_UNWRAP PLACE, uint, \
                             uint) __asm("smelt.air.read_texture_" #kind "." label) __SMELT_TEXTURE_READS;
#define __SMELT_WRITES(T, label, kind, R, PLACE)                                    \
  static void write(__texture_##kind, R __SMELT_UNWRAP PLACE, __native<T, 4>, uint, \
                    uint) __asm("smelt.air.write_texture_" #kind "." label) __SMELT_TEXTURE_WRITES;

#define __SMELT_TEXTURE_OPERATIONS(T, label, kind, S, D, ARRAY, OFFSET, R, PLACE) \
  template <>                                                                     \
  struct __operations_##kind<T> {                                                 \
    __SMELT_SAMPLES(T, label, kind, S, D, ARRAY, OFFSET)                          \
    __SMELT_READS(T, label, kind, R, PLACE)                                       \
    __SMELT_WRITES(T, label, kind, R, PLACE)                                      \
  };
#define __SMELT_TEXTURE(kind, ...)                                                     \
  struct _texture_##kind##_t;                                                          \
  using __texture_##kind = __attribute__((opencl_global_device)) _texture_##kind##_t*; \
  template <class T>                                                                   \
  struct __operations_##kind;                                                          \
  __SMELT_EACH_TEXEL(__SMELT_TEXTURE_OPERATIONS, kind, __VA_ARGS__)

using __float2 = __native<float, 2>;
using __float3 = __native<float, 3>;
using __int2 = __native<int, 2>;
using __int3 = __native<int, 3>;
using __uint2 = __native<uint, 2>;
using __uint3 = __native<uint, 3>;
__SMELT_TEXTURE(1d, float, float, (), (, bool, int), uint, ())
__SMELT_TEXTURE(1d_array, float, float, (, uint), (, bool, int), uint, (, uint))
__SMELT_TEXTURE(2d, __float2, __float2, (), (, bool, __int2), __uint2, ())
__SMELT_TEXTURE(2d_array, __float2, __float2, (, uint), (, bool, __int2), __uint2, (, uint))
__SMELT_TEXTURE(3d, __float3, __float3, (), (, bool, __int3), __uint3, ())
__SMELT_TEXTURE(cube, __float3, __float3, (), (), __uint2, (, uint))
__SMELT_TEXTURE(cube_array, __float3, __float3, (, uint), (), __uint2, (, uint, uint))

// A sample's index stands where a level does elsewhere.
#define __SMELT_MS_OPERATIONS(T, label, kind, PLACE) \
  template <>                                        \
  struct __operations_##kind<T> {                    \
    __SMELT_READS(T, label, kind, __uint2, PLACE)    \
  };
#define __SMELT_TEXTURE_MS(kind, PLACE)                                                \
  struct _texture_##kind##_t;                                                          \
  using __texture_##kind = __attribute__((opencl_global_device)) _texture_##kind##_t*; \
  template <class T>                                                                   \
  struct __operations_##kind;                                                          \
  __SMELT_EACH_TEXEL(__SMELT_MS_OPERATIONS, kind, PLACE)
__SMELT_TEXTURE_MS(2d_ms, ())
__SMELT_TEXTURE_MS(2d_ms_array, (, uint))
template <class T>
struct __atomics_2d_ms;
template <class T>
struct __atomics_2d_ms_array;

struct _texture_buffer_1d_t;
using __texture_buffer_1d = __attribute__((opencl_global_device)) _texture_buffer_1d_t*;
template <class T>
struct __operations_buffer_1d;
#define __SMELT_BUFFER_OPERATIONS(T, label, kind)                                                            \
  template <>                                                                                                \
  struct __operations_buffer_1d<T> {                                                                         \
    static __native<T, 4> read(__texture_buffer_1d, uint,                                                    \
                               uint) __asm("smelt.air.read_texture_buffer_1d." label) __SMELT_TEXTURE_READS; \
    static void write(__texture_buffer_1d, uint, __native<T, 4>,                                             \
                      uint) __asm("smelt.air.write_texture_buffer_1d." label) __SMELT_TEXTURE_WRITES;        \
  };
__SMELT_EACH_TEXEL(__SMELT_BUFFER_OPERATIONS, buffer_1d)

// Atomics: their form is AIR's own, the same in all versions that have them. O: the offset, of 2D and 3D.
#define __SMELT_TEXTURE_ATOMIC(T, label, kind, P, O, verb)                                                           \
  static __native<T, 4> verb(__texture_##kind, __SMELT_UNWRAP P __SMELT_UNWRAP O, __native<T, 4>, uint, uint) __asm( \
      "air.atomic_" #verb "_explicit_texture_" #kind "." label) __SMELT_TEXTURE_WRITES;
#define __SMELT_TEXTURE_ATOMICS_OF(T, label, kind, P, O)                                                        \
  template <>                                                                                                   \
  struct __atomics_##kind<T> {                                                                                  \
    static __native<T, 4> load(__texture_##kind, __SMELT_UNWRAP P __SMELT_UNWRAP O, uint,                       \
                               uint) __asm("air.atomic_load_explicit_texture_" #kind                            \
                                           "." label) __SMELT_TEXTURE_WRITES;                                   \
    static void store(__texture_##kind, __native<T, 4>, __SMELT_UNWRAP P __SMELT_UNWRAP O, uint,                \
                      uint) __asm("air.atomic_store_explicit_texture_" #kind "." label) __SMELT_TEXTURE_WRITES; \
    static bool compare_exchange_weak(__texture_##kind, __SMELT_UNWRAP P __SMELT_UNWRAP O, __native<T, 4>*,     \
                                      __native<T, 4>, uint, uint,                                               \
                                      uint) __asm("air.atomic_compare_exchange_weak_explicit_texture_" #kind    \
                                                  "." label) __SMELT_TEXTURE_WRITES;                            \
    __SMELT_TEXTURE_ATOMIC(T, label, kind, P, O, exchange)                                                      \
    __SMELT_TEXTURE_ATOMIC(T, label, kind, P, O, fetch_add)                                                     \
    __SMELT_TEXTURE_ATOMIC(T, label, kind, P, O, fetch_and)                                                     \
    __SMELT_TEXTURE_ATOMIC(T, label, kind, P, O, fetch_max)                                                     \
    __SMELT_TEXTURE_ATOMIC(T, label, kind, P, O, fetch_min)                                                     \
    __SMELT_TEXTURE_ATOMIC(T, label, kind, P, O, fetch_or)                                                      \
    __SMELT_TEXTURE_ATOMIC(T, label, kind, P, O, fetch_sub)                                                     \
    __SMELT_TEXTURE_ATOMIC(T, label, kind, P, O, fetch_xor)                                                     \
  };
#define __SMELT_TEXTURE_ATOMICS(kind, P, O)              \
  template <class T>                                     \
  struct __atomics_##kind;                               \
  __SMELT_TEXTURE_ATOMICS_OF(int, "s.v4i32", kind, P, O) \
  __SMELT_TEXTURE_ATOMICS_OF(uint, "u.v4i32", kind, P, O)
__SMELT_TEXTURE_ATOMICS(1d, (uint), ())
__SMELT_TEXTURE_ATOMICS(1d_array, (uint, uint), ())
__SMELT_TEXTURE_ATOMICS(2d, (__uint2), (, __int2))
__SMELT_TEXTURE_ATOMICS(2d_array, (__uint2, uint), (, __int2))
__SMELT_TEXTURE_ATOMICS(3d, (__uint3), (, __int3))
__SMELT_TEXTURE_ATOMICS(cube, (__uint2, uint), ())
__SMELT_TEXTURE_ATOMICS(cube_array, (__uint2, uint, uint), ())
__SMELT_TEXTURE_ATOMICS(buffer_1d, (uint), ())

// Depth: one float, and a word behind the sampler that is always 1.
#define __SMELT_DEPTH_HANDLE(kind) \
  struct _depth_##kind##_t;        \
  using __depth_##kind = __attribute__((opencl_global_device)) _depth_##kind##_t*;
#define __SMELT_DEPTH(kind, S, ARRAY, OFFSET, PLACE)                                                                  \
  __SMELT_DEPTH_HANDLE(kind)                                                                                          \
  struct __depth_operations_##kind {                                                                                  \
    static float sample(__depth_##kind, __sampler, uint, S __SMELT_UNWRAP ARRAY __SMELT_UNWRAP OFFSET, bool, float,   \
                        float, uint) __asm("smelt.air.sample_depth_" #kind ".f32") __SMELT_TEXTURE_READS;             \
    static float sample_grad(__depth_##kind, __sampler, uint, S __SMELT_UNWRAP ARRAY, S, S,                           \
                             float __SMELT_UNWRAP OFFSET,                                                             \
                             uint) __asm("smelt.air.sample_depth_" #kind "_grad.f32") __SMELT_TEXTURE_READS;          \
    static float compare(__depth_##kind, __sampler, uint, S __SMELT_UNWRAP ARRAY, float __SMELT_UNWRAP OFFSET, bool,  \
                         float, float,                                                                                \
                         uint) __asm("smelt.air.sample_compare_depth_" #kind ".f32") __SMELT_TEXTURE_READS;           \
    static float compare_grad(__depth_##kind, __sampler, uint, S __SMELT_UNWRAP ARRAY, float, S, S,                   \
                              float __SMELT_UNWRAP OFFSET,                                                            \
                              uint) __asm("smelt.air.sample_compare_depth_" #kind "_grad.f32") __SMELT_TEXTURE_READS; \
    static __native<float, 4> gather(__depth_##kind, __sampler, uint, S __SMELT_UNWRAP ARRAY __SMELT_UNWRAP OFFSET,   \
                                     uint) __asm("smelt.air.gather_depth_" #kind ".v4f32") __SMELT_TEXTURE_READS;     \
    static __native<float, 4> gather_compare(__depth_##kind, __sampler, uint, S __SMELT_UNWRAP ARRAY,                 \
                                             float __SMELT_UNWRAP OFFSET,                                             \
                                             uint) __asm("smelt.air.gather_compare_depth_" #kind                      \
                                                         ".f32") __SMELT_TEXTURE_READS;                               \
    static float read(__depth_##kind, uint, __uint2 __SMELT_UNWRAP PLACE, uint,                                       \
                      uint) __asm("smelt.air.read_depth_" #kind ".f32") __SMELT_TEXTURE_READS;                        \
  };
__SMELT_DEPTH(2d, __float2, (), (, bool, __int2), ())
__SMELT_DEPTH(2d_array, __float2, (, uint), (, bool, __int2), (, uint))
__SMELT_DEPTH(cube, __float3, (), (), (, uint))
__SMELT_DEPTH(cube_array, __float3, (, uint), (), (, uint, uint))
#define __SMELT_DEPTH_MS(kind, PLACE)                                                          \
  __SMELT_DEPTH_HANDLE(kind)                                                                   \
  struct __depth_operations_##kind {                                                           \
    static float read(__depth_##kind, uint, __uint2 __SMELT_UNWRAP PLACE, uint,                \
                      uint) __asm("smelt.air.read_depth_" #kind ".f32") __SMELT_TEXTURE_READS; \
  };
__SMELT_DEPTH_MS(2d_ms, ())
__SMELT_DEPTH_MS(2d_ms_array, (, uint))

// clang-format off
// What is known of a texture. `level`: "(, uint)" where there are several.
#define __SMELT_QUERY(family, kind, name, level)                                                      \
  uint name(__##family##_##kind __SMELT_UNWRAP level) __asm("smelt.air." #name "_" #family "_" #kind) \
      __SMELT_TEXTURE_READS;
#define __SMELT_AREA(family, kind, level) \
  __SMELT_QUERY(family, kind, get_width, level) __SMELT_QUERY(family, kind, get_height, level)
#define __SMELT_LEVELS(family, kind) __SMELT_QUERY(family, kind, get_num_mip_levels, ())
#define __SMELT_SAMPLES_OF(family, kind) __SMELT_QUERY(family, kind, get_num_samples, ())
#define __SMELT_ELEMENTS_OF(family, kind) __SMELT_QUERY(family, kind, get_array_size, ())
__SMELT_QUERY(texture, 1d, get_width, (, uint))
__SMELT_LEVELS(texture, 1d)
__SMELT_QUERY(texture, 1d_array, get_width, (, uint))
__SMELT_LEVELS(texture, 1d_array)
__SMELT_QUERY(texture, buffer_1d, get_width, ()) __SMELT_QUERY(texture, 3d, get_depth, (, uint))
#define __SMELT_MIPPED_AREA(family, kind) __SMELT_AREA(family, kind, (, uint)) __SMELT_LEVELS(family, kind)
#define __SMELT_MS_AREA(family, kind) __SMELT_AREA(family, kind, ()) __SMELT_SAMPLES_OF(family, kind)
    __SMELT_MIPPED_AREA(texture, 2d) __SMELT_MIPPED_AREA(texture, 2d_array) __SMELT_MIPPED_AREA(texture, 3d)
        __SMELT_MIPPED_AREA(texture, cube) __SMELT_MIPPED_AREA(texture, cube_array) __SMELT_MIPPED_AREA(depth, 2d)
            __SMELT_MIPPED_AREA(depth, 2d_array) __SMELT_MIPPED_AREA(depth, cube) __SMELT_MIPPED_AREA(depth, cube_array)
                __SMELT_MS_AREA(texture, 2d_ms) __SMELT_MS_AREA(texture, 2d_ms_array) __SMELT_MS_AREA(depth, 2d_ms)
                    __SMELT_MS_AREA(depth, 2d_ms_array) __SMELT_ELEMENTS_OF(texture, 1d_array)
                        __SMELT_ELEMENTS_OF(texture, 2d_array) __SMELT_ELEMENTS_OF(texture, cube_array)
                            __SMELT_ELEMENTS_OF(texture, 2d_ms_array) __SMELT_ELEMENTS_OF(depth, 2d_array)
                                __SMELT_ELEMENTS_OF(depth, cube_array) __SMELT_ELEMENTS_OF(depth, 2d_ms_array)

// The level that a sample would take, in fragments; whether there is a texture at all.
#define __SMELT_LOD(family, kind, S)                                                                         \
  float calculate_clamped_lod(__##family##_##kind, __sampler, S,                                             \
                              uint) __asm("air.calculate_clamped_lod_" #family "_" #kind)                    \
      __SMELT_TEXTURE_READS;                                                                                 \
  float calculate_unclamped_lod(__##family##_##kind, __sampler, S,                                           \
                                uint) __asm("air.calculate_unclamped_lod_" #family "_" #kind)                \
      __SMELT_TEXTURE_READS;
#define __SMELT_IS_NULL(family, kind) \
  bool is_null(__##family##_##kind) __asm("air.is_null_" #family "_" #kind) __SMELT_TEXTURE_READS;
__SMELT_LOD(texture, 2d, __float2) __SMELT_LOD(texture, 2d_array, __float2) __SMELT_LOD(texture, 3d, __float3)
__SMELT_LOD(texture, cube, __float3) __SMELT_LOD(texture, cube_array, __float3) __SMELT_LOD(depth, 2d, __float2)
__SMELT_LOD(depth, 2d_array, __float2) __SMELT_LOD(depth, cube, __float3) __SMELT_LOD(depth, cube_array, __float3)
__SMELT_IS_NULL(texture, 1d) __SMELT_IS_NULL(texture, 1d_array) __SMELT_IS_NULL(texture, 2d)
__SMELT_IS_NULL(texture, 2d_array) __SMELT_IS_NULL(texture, 2d_ms) __SMELT_IS_NULL(texture, 2d_ms_array)
__SMELT_IS_NULL(texture, 3d) __SMELT_IS_NULL(texture, cube) __SMELT_IS_NULL(texture, cube_array)
__SMELT_IS_NULL(texture, buffer_1d) __SMELT_IS_NULL(depth, 2d) __SMELT_IS_NULL(depth, 2d_array)
__SMELT_IS_NULL(depth, 2d_ms) __SMELT_IS_NULL(depth, 2d_ms_array) __SMELT_IS_NULL(depth, cube)
__SMELT_IS_NULL(depth, cube_array)

// One member of an imageblock into the texture. The front end names the operation (msl/kernel/imageblocks.cpp): behind
// the access stand components, their bits, and whether they are floats.
template <class E>
using __slice_element = typename __shape<E>::element;
template <class E>
inline constexpr uint __slice_lanes = __shape<E>::count;
template <class E>
inline constexpr bool __is_float_slice = __is_same(__slice_element<E>, float) || __is_same(__slice_element<E>, half);
#define __SMELT_SLICE_OF(kind, C, I, PLACE)                                                                     \
  void write_slice(__texture_##kind, SMELT_IMAGEBLOCK void*, bool, __native<ushort, 2>, C __SMELT_UNWRAP PLACE, \
                   I, bool, uint, uint, uint, bool) __asm("smelt.air.write_slice_texture_" #kind "." #I)        \
      __SMELT_TEXTURE_WRITES;
#define __SMELT_SLICE(kind, C32, C16, PLACE32, PLACE16) \
  __SMELT_SLICE_OF(kind, C32, uint, PLACE32) __SMELT_SLICE_OF(kind, C16, ushort, PLACE16)
using __ushort2 = __native<ushort, 2>;
using __ushort3 = __native<ushort, 3>;
__SMELT_SLICE(1d, uint, ushort, (), ()) __SMELT_SLICE(1d_array, uint, ushort, (, uint), (, ushort))
__SMELT_SLICE(2d, __uint2, __ushort2, (), ()) __SMELT_SLICE(2d_array, __uint2, __ushort2, (, uint), (, ushort))
__SMELT_SLICE(3d, __uint3, __ushort3, (), ()) __SMELT_SLICE(cube, __uint2, __ushort2, (, uint), (, ushort))
__SMELT_SLICE(cube_array, __uint2, __ushort2, (, uint, uint), (, ushort, ushort))

#define __SMELT_FENCE(kind) void fence(__texture_##kind) __asm("smelt.air.fence_texture_" #kind) __SMELT_TEXTURE_WRITES;
                                    __SMELT_FENCE(1d) __SMELT_FENCE(1d_array) __SMELT_FENCE(2d) __SMELT_FENCE(2d_array)
                                        __SMELT_FENCE(3d) __SMELT_FENCE(cube) __SMELT_FENCE(cube_array)
                                            __SMELT_FENCE(buffer_1d)
// clang-format on

}  // namespace __air

}  // namespace metal

#endif
