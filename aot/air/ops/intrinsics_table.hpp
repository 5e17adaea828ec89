// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rows of the intrinsic table. How a row is read: intrinsics.cpp.
#pragma once

#include "ops/intrinsics.hpp"

#include <span>

namespace smelt::aot::air {

/// The type suffix that a name carries after its operation, and which types may stand there.
enum class Suffix : uint8_t {
  none,
  real,         ///< f16 f32 and their vectors of 2 to 4
  real_vector,  ///< the vectors alone
  real_v2,      ///< v2f16 v2f32
  real_v3,
  real_v4,
  integer,          ///< i8 ... i64 and vectors, no signedness
  signed_integer,   ///< .s only
  sign_integer,     ///< .s or .u
  sign_i32,         ///< .s or .u, i32 and vectors
  scalar_sign_i32,  ///< .s or .u, i32
  scalar_i32,
  scalar_f32,
  scalar_u64,      ///< u.i64
  truth,           ///< v2i1 v3i1 v4i1
  lane_value,      ///< what lanes exchange: f16 f32, .s/.u i8 i16 i32, and vectors
  lane_integer,    ///< the integers among them
  texel,           ///< v4f32 v4f16 s.v4i32 ...
  texel_i32,       ///< s.v4i32 u.v4i32
  depth_texel,     ///< f32
  plane,           ///< of an imageblock: f16 f32 i8 i16 i32 and vectors, no signedness
  convert,         ///< <kind>.<type>.<kind>.<type>[.rounding][.sat]
  matrix_memory,   ///< v64T.p1T or v64T.p3T
  matrix_product,  ///< v64D.v64A.v64B.v64C
  matrix_fill,     ///< v64T.T
  async_copy,      ///< p3i8.p1i8 or p1i8.p3i8
};

/// Names that follow from a row's own.
enum Variant : unsigned {
  kFast = 1,    ///< air.fast_<name> too, for f32 and its vectors
  kQuad = 2,    ///< air.quad_... beside air.simd_...
  kGlobal = 4,  ///< "atomic.*.add" as atomic.global.add, pointers in space 1
  kLocal = 8,   ///< ... as atomic.local.add, pointers in space 3
};

/// Signature notation: types as in names, and T (the suffix type), E (one lane of T), K (i32 with T's lanes), pT
/// (pointer to T in the space of the name), D A B C (the four types of a matrix product), texture, sampler, table,
/// event, interpolant.
/// ":r" reads only, ":w" writes only. "{T}" is T with its residency byte, "{v4f32}" that vector.
struct Row {
  std::string_view name;
  Suffix suffix = Suffix::none;
  std::string_view signature;
  Effect effect = Effect::unknown;
  Evidence evidence = Evidence::inferred;
  unsigned variants = 0;
  Version since{};
  Version until{};
};

/// All rows: those of intrinsics_table.cpp, then the textures'.
std::span<const Row> table();
/// intrinsics_textures.cpp.
std::span<const Row> texture_rows();

/// Texture, ray tracing, mesh and tile operations that we pass through by the look of their name.
bool is_known_family(std::string_view name_without_air);

}  // namespace smelt::aot::air
