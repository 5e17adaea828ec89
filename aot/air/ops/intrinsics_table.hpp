// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rows of ops.def, and the words that its columns are written in. How a row is read: intrinsics.cpp.
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
  scalar_u64,       ///< u.i64
  truth,            ///< v2i1 v3i1 v4i1
  lane_value,       ///< what lanes exchange: f16 f32, .s/.u i8 i16 i32, and vectors
  lane_integer,     ///< the integers among them
  texel,            ///< v4f32 v4f16 s.v4i32 ...
  texel_i32,        ///< s.v4i32 u.v4i32
  depth_texel,      ///< f32
  plane,            ///< of an imageblock: f16 f32 i8 i16 i32 and vectors, no signedness
  convert,          ///< <kind>.<type>.<kind>.<type>[.rounding][.sat]
  matrix_memory,    ///< v64T.p1T or v64T.p3T
  matrix_product,   ///< v64D.v64A.v64B.v64C
  matrix_fill,      ///< v64T.T
  async_copy,       ///< p3i8.p1i8 or p1i8.p3i8
  bytes,            ///< p1i8 or p2i8
  indices,          ///< p1i16 p1i32 p2i16 p2i32
  patches,          ///< p1i32.p1i8
  indexed_patches,  ///< p1i32.p1i8.p1i8
  any,              ///< whatever there is; T is the last type in it
};

/// Names that follow from a row's own, and what a row is.
enum Variant : unsigned {
  kPlain = 0,
  kFast = 1,    ///< air.fast_<name> too, for f32 and its vectors
  kQuad = 2,    ///< air.quad_... beside air.simd_...
  kGlobal = 4,  ///< "atomic.*.add" as atomic.global.add, pointers in space 1
  kLocal = 8,   ///< ... as atomic.local.add, pointers in space 3
  kOpen = 16,   ///< the signature is not judged and may leave things out: nobody declares it, and it passes as it came
  kForeign = 32,  ///< no operation of AIR that we know; see ops.def
};

/// AIR versions that have a row's form; 0.0 for "always" and "still".
struct Versions {
  Version since{};
  Version until{};
};
inline constexpr Versions kAlways{};
constexpr Versions from(uint16_t major, uint16_t minor) {
  return {.since = {major, minor}};
}
constexpr Versions until(uint16_t major, uint16_t minor) {
  return {.until = {major, minor}};
}
constexpr Versions between(uint16_t major, uint16_t minor, uint16_t last_major, uint16_t last_minor) {
  return {.since = {major, minor}, .until = {last_major, last_minor}};
}

/// A line of ops.def without its last column.
struct Row {
  std::string_view name;
  Suffix suffix = Suffix::none;
  std::string_view signature;
  Effect effect = Effect::unknown;
  Evidence evidence = Evidence::inferred;
  unsigned variants = 0;
  Version since{};
  Version until{};
  Stages stages = kEverywhere;
};

/// All rows, in the order of ops.def.
std::span<const Row> table();

/// A word by which texture, ray tracing, mesh and tile operations pass that have no row.
struct Family {
  std::string_view word;
  Stages stages = kEverywhere;
};
/// Null when no word is in the name.
const Family* family_of(std::string_view name_without_air);

}  // namespace smelt::aot::air
