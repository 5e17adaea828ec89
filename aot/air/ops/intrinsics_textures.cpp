// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// AIR's operations on textures (docs/formats/air.md 3.11). A kind's rows follow from its coordinates, so they are made
// by macros: of old forms those that some library has, of the others that of AIR 2.2 and what 2.8 changes.
#include "ops/intrinsics_table.hpp"

namespace smelt::aot::air {
namespace {

constexpr Evidence kSeen = Evidence::harvested;
constexpr Evidence kGuessed = Evidence::inferred;

// What stands in front of every texture's operands, and behind them.
#define SMELT_SAMPLED "(texture:r,sampler:r,"
#define SMELT_DEPTH "(texture:r,sampler:r,i32,"

// kind: "2d_array"; C: coordinate; A: ",i32" where there are elements; O: ",i1,v2i32" where there are offsets.
#define SMELT_SAMPLE(kind, C, A, O, evidence)                                                                    \
  {"sample_texture_" kind,                                                                                       \
   Suffix::texel,                                                                                                \
   "T" SMELT_SAMPLED C A O ",i1,f32)",                                                                           \
   Effect::texture_sample,                                                                                       \
   evidence,                                                                                                     \
   0,                                                                                                            \
   {},                                                                                                           \
   {1, 11}},                                                                                                     \
      {"sample_texture_" kind,                                                                                   \
       Suffix::texel,                                                                                            \
       "T" SMELT_SAMPLED C A O ",i1,f32,i32)",                                                                   \
       Effect::texture_sample,                                                                                   \
       evidence,                                                                                                 \
       0,                                                                                                        \
       {2, 0},                                                                                                   \
       {2, 1}},                                                                                                  \
  {                                                                                                              \
    "sample_texture_" kind, Suffix::texel, "{T}" SMELT_SAMPLED C A O ",i1,f32,f32,i32)", Effect::texture_sample, \
        evidence, 0, {2, 2}                                                                                      \
  }
#define SMELT_GRADIENT(kind, C, A, O, evidence)          \
  {"sample_texture_" kind "_grad",                       \
   Suffix::texel,                                        \
   "{T}" SMELT_SAMPLED C A "," C "," C ",f32" O ",i32)", \
   Effect::texture_read,                                 \
   evidence,                                             \
   0,                                                    \
   {2, 2}}
#define SMELT_GATHER(kind, C, A, O, evidence) \
  {"gather_texture_" kind,                    \
   Suffix::texel,                             \
   "{T}" SMELT_SAMPLED C A O ",i32,i32)",     \
   Effect::texture_read,                      \
   evidence,                                  \
   0,                                         \
   {2, 2}}
// P: the texel's place, with face and element; N: the offset of AIR 2.8, ",v2i32" or nothing.
#define SMELT_READ(kind, P, N, old, evidence)                                                                            \
  {"read_texture_" kind, Suffix::texel, "T(texture:r," P ",i32)", Effect::texture_read, old, 0, {}, {1, 11}},            \
      {"read_texture_" kind, Suffix::texel, "T(texture:r," P ",i32,i32)", Effect::texture_read, old, 0, {2, 0}, {2, 1}}, \
      {"read_texture_" kind,                                                                                             \
       Suffix::texel,                                                                                                    \
       "{T}(texture:r," P ",i32,i32)",                                                                                   \
       Effect::texture_read,                                                                                             \
       old,                                                                                                              \
       0,                                                                                                                \
       {2, 2},                                                                                                           \
       {2, 7}},                                                                                                          \
  {                                                                                                                      \
    "read_texture_" kind, Suffix::texel, "{T}(texture:r,sampler," P N ",i32,i32)", Effect::texture_read, evidence, 0,    \
        {2, 8}                                                                                                           \
  }
#define SMELT_WRITE(kind, P, evidence)                                                                                \
  {                                                                                                                   \
      "write_texture_" kind,                                                                                          \
      Suffix::texel,                                                                                                  \
      "void(texture," P ",T,i32)",                                                                                    \
      Effect::texture_write,                                                                                          \
      evidence,                                                                                                       \
      0,                                                                                                              \
      {},                                                                                                             \
      {1, 11}},                                                                                                       \
  {                                                                                                                   \
    "write_texture_" kind, Suffix::texel, "void(texture," P ",T,i32,i32)", Effect::texture_write, evidence, 0, {2, 0} \
  }
// A place of 16 bits, and the level with it.
#define SMELT_WRITE_SHORT(kind, P, evidence) \
  {"write_texture_" kind ".i16",             \
   Suffix::texel,                            \
   "void(texture," P ",T,i16,i32)",          \
   Effect::texture_write,                    \
   evidence,                                 \
   0,                                        \
   {2, 0}}
#define SMELT_ASK(what, operands, evidence) \
  {what, Suffix::none, "i32(texture:r" operands ")", Effect::texture_read, evidence}
#define SMELT_FENCE(kind) \
  {"fence_texture_" kind, Suffix::none, "void(texture)", Effect::texture_write, kGuessed, 0, {2, 0}}

#define SMELT_DEPTH_ROWS(kind, C, A, O, P, N)                  \
  {"sample_depth_" kind,                                       \
   Suffix::depth_texel,                                        \
   "{T}" SMELT_DEPTH C A O ",i1,f32,f32,i32)",                 \
   Effect::texture_sample,                                     \
   kGuessed,                                                   \
   0,                                                          \
   {2, 2}},                                                    \
      {"sample_depth_" kind "_grad",                           \
       Suffix::depth_texel,                                    \
       "{T}" SMELT_DEPTH C A "," C "," C ",f32" O ",i32)",     \
       Effect::texture_read,                                   \
       kGuessed,                                               \
       0,                                                      \
       {2, 2}},                                                \
      {"sample_compare_depth_" kind,                           \
       Suffix::depth_texel,                                    \
       "{T}" SMELT_DEPTH C A ",f32" O ",i1,f32,f32,i32)",      \
       Effect::texture_sample,                                 \
       kGuessed,                                               \
       0,                                                      \
       {2, 2}},                                                \
      {"sample_compare_depth_" kind "_grad",                   \
       Suffix::depth_texel,                                    \
       "{T}" SMELT_DEPTH C A ",f32," C "," C ",f32" O ",i32)", \
       Effect::texture_read,                                   \
       kGuessed,                                               \
       0,                                                      \
       {2, 2}},                                                \
      {"gather_depth_" kind,                                   \
       Suffix::real_v4,                                        \
       "{T}" SMELT_DEPTH C A O ",i32)",                        \
       Effect::texture_read,                                   \
       kGuessed,                                               \
       0,                                                      \
       {2, 2}},                                                \
      {"gather_compare_depth_" kind,                           \
       Suffix::depth_texel,                                    \
       "{v4f32}" SMELT_DEPTH C A ",f32" O ",i32)",             \
       Effect::texture_read,                                   \
       kGuessed,                                               \
       0,                                                      \
       {2, 2}},                                                \
      SMELT_DEPTH_READ(kind, P, N)
#define SMELT_DEPTH_READ(kind, P, N)                                                                             \
  {"read_depth_" kind,                                                                                           \
   Suffix::depth_texel,                                                                                          \
   "{T}(texture:r,i32," P ",i32,i32)",                                                                           \
   Effect::texture_read,                                                                                         \
   kGuessed,                                                                                                     \
   0,                                                                                                            \
   {2, 2},                                                                                                       \
   {2, 7}},                                                                                                      \
  {                                                                                                              \
    "read_depth_" kind, Suffix::depth_texel, "{T}(texture:r,sampler,i32," P N ",i32,i32)", Effect::texture_read, \
        kGuessed, 0, {2, 8}                                                                                      \
  }

constexpr Evidence kListed = Evidence::sourced;
// P: as of a read; O: an offset, ",v2i32" or nothing. From Metal 3.1 on.
#define SMELT_ATOMIC(verb, kind, operands) \
  {"atomic_" verb "_explicit_texture_" kind, Suffix::texel_i32, operands, Effect::texture_atomic, kListed, 0, {2, 6}}
#define SMELT_ATOMIC_ROWS(kind, P, O)                                  \
  SMELT_ATOMIC("load", kind, "T(texture," P O ",i32,i32)"),            \
      SMELT_ATOMIC("store", kind, "void(texture,T," P O ",i32,i32)"),  \
      SMELT_ATOMIC("exchange", kind, "T(texture," P O ",T,i32,i32)"),  \
      SMELT_ATOMIC("fetch_add", kind, "T(texture," P O ",T,i32,i32)"), \
      SMELT_ATOMIC("fetch_and", kind, "T(texture," P O ",T,i32,i32)"), \
      SMELT_ATOMIC("fetch_max", kind, "T(texture," P O ",T,i32,i32)"), \
      SMELT_ATOMIC("fetch_min", kind, "T(texture," P O ",T,i32,i32)"), \
      SMELT_ATOMIC("fetch_or", kind, "T(texture," P O ",T,i32,i32)"),  \
      SMELT_ATOMIC("fetch_sub", kind, "T(texture," P O ",T,i32,i32)"), \
      SMELT_ATOMIC("fetch_xor", kind, "T(texture," P O ",T,i32,i32)"), \
      SMELT_ATOMIC("compare_exchange_weak", kind, "i1(texture," P O ",p0T,T,i32,i32,i32)")
#define SMELT_LODS(kind, C)                                                                                      \
  {"calculate_clamped_lod_" kind, Suffix::none, "f32(texture:r,sampler:r," C ",i32)", Effect::texture_sample,    \
   kListed},                                                                                                     \
  {                                                                                                              \
    "calculate_unclamped_lod_" kind, Suffix::none, "f32(texture:r,sampler:r," C ",i32)", Effect::texture_sample, \
        kListed                                                                                                  \
  }
#define SMELT_IS_NULL(kind) {"is_null_" kind, Suffix::none, "i1(texture:r)", Effect::texture_read, kListed}
#define SMELT_INTERPOLATED(where, operands)                                                                           \
  {"interpolate_" where "_perspective", Suffix::real, "T(interpolant:r" operands ")", Effect::texture_read, kListed}, \
  {                                                                                                                   \
    "interpolate_" where "_no_perspective", Suffix::real, "T(interpolant:r" operands ")", Effect::texture_read,       \
        kListed                                                                                                       \
  }

// clang-format off
constexpr Row kTextureRows[] = {
    SMELT_SAMPLE("1d", "f32", "", ",i1,i32", kGuessed),
    SMELT_SAMPLE("1d_array", "f32", ",i32", ",i1,i32", kGuessed),
    SMELT_SAMPLE("2d", "v2f32", "", ",i1,v2i32", kSeen),
    SMELT_SAMPLE("2d_array", "v2f32", ",i32", ",i1,v2i32", kSeen),
    SMELT_SAMPLE("3d", "v3f32", "", ",i1,v3i32", kSeen),
    SMELT_SAMPLE("cube", "v3f32", "", "", kSeen),
    SMELT_SAMPLE("cube_array", "v3f32", ",i32", "", kSeen),
    {"sample_texture_2d_grad", Suffix::texel, "T" SMELT_SAMPLED "v2f32,v2f32,v2f32,i1,v2i32)", Effect::texture_read, kSeen, 0, {}, {1, 11}},
    {"sample_texture_2d_grad", Suffix::texel, "T" SMELT_SAMPLED "v2f32,v2f32,v2f32,i1,v2i32,i32)", Effect::texture_read, kGuessed, 0, {2, 0}, {2, 1}},
    SMELT_GRADIENT("2d", "v2f32", "", ",i1,v2i32", kSeen),
    SMELT_GRADIENT("2d_array", "v2f32", ",i32", ",i1,v2i32", kGuessed),
    SMELT_GRADIENT("3d", "v3f32", "", ",i1,v3i32", kGuessed),
    SMELT_GRADIENT("cube", "v3f32", "", "", kGuessed),
    SMELT_GRADIENT("cube_array", "v3f32", ",i32", "", kGuessed),
    SMELT_GATHER("2d", "v2f32", "", ",i1,v2i32", kGuessed),
    SMELT_GATHER("2d_array", "v2f32", ",i32", ",i1,v2i32", kGuessed),
    SMELT_GATHER("cube", "v3f32", "", "", kGuessed),
    SMELT_GATHER("cube_array", "v3f32", ",i32", "", kGuessed),
    SMELT_READ("1d", "i32", "", kGuessed, kGuessed),
    SMELT_READ("1d_array", "i32,i32", "", kGuessed, kGuessed),
    SMELT_READ("2d", "v2i32", ",v2i32", kSeen, kSeen),
    SMELT_READ("2d_array", "v2i32,i32", ",v2i32", kSeen, kGuessed),
    SMELT_READ("3d", "v3i32", ",v3i32", kSeen, kGuessed),
    SMELT_READ("cube", "v2i32,i32", "", kSeen, kGuessed),
    SMELT_READ("cube_array", "v2i32,i32,i32", "", kGuessed, kGuessed),
    SMELT_READ("2d_ms", "v2i32", "", kSeen, kGuessed),
    SMELT_READ("2d_ms_array", "v2i32,i32", "", kGuessed, kGuessed),
    {"read_texture_buffer_1d", Suffix::texel, "{T}(texture:r,i32,i32)", Effect::texture_read, kGuessed, 0, {2, 2}},
    SMELT_WRITE("1d", "i32", kGuessed),
    SMELT_WRITE("1d_array", "i32,i32", kGuessed),
    SMELT_WRITE("2d", "v2i32", kSeen),
    SMELT_WRITE("2d_array", "v2i32,i32", kSeen),
    SMELT_WRITE("3d", "v3i32", kSeen),
    SMELT_WRITE("cube", "v2i32,i32", kSeen),
    SMELT_WRITE("cube_array", "v2i32,i32,i32", kGuessed),
    {"write_texture_buffer_1d", Suffix::texel, "void(texture,i32,T,i32)", Effect::texture_write, kGuessed, 0, {2, 1}},
    SMELT_WRITE_SHORT("2d", "v2i16", kSeen),
    SMELT_WRITE_SHORT("2d_array", "v2i16,i16", kSeen),
    SMELT_WRITE_SHORT("3d", "v3i16", kSeen),
    SMELT_WRITE_SHORT("cube", "v2i16,i16", kSeen),
    SMELT_WRITE_SHORT("cube_array", "v2i16,i16,i16", kGuessed),
    SMELT_DEPTH_ROWS("2d", "v2f32", "", ",i1,v2i32", "v2i32", ",v2i32"),
    SMELT_DEPTH_ROWS("2d_array", "v2f32", ",i32", ",i1,v2i32", "v2i32,i32", ",v2i32"),
    SMELT_DEPTH_ROWS("cube", "v3f32", "", "", "v2i32,i32", ""),
    SMELT_DEPTH_ROWS("cube_array", "v3f32", ",i32", "", "v2i32,i32,i32", ""),
    SMELT_DEPTH_READ("2d_ms", "v2i32", ""),
    SMELT_DEPTH_READ("2d_ms_array", "v2i32,i32", ""),
    SMELT_ASK("get_width_texture_1d", ",i32", kGuessed),
    SMELT_ASK("get_width_texture_1d_array", ",i32", kGuessed),
    SMELT_ASK("get_width_texture_2d", ",i32", kSeen),
    SMELT_ASK("get_width_texture_2d_array", ",i32", kSeen),
    SMELT_ASK("get_width_texture_3d", ",i32", kSeen),
    SMELT_ASK("get_width_texture_cube", ",i32", kSeen),
    SMELT_ASK("get_width_texture_cube_array", ",i32", kGuessed),
    SMELT_ASK("get_width_texture_2d_ms", "", kSeen),
    SMELT_ASK("get_width_texture_2d_ms_array", "", kGuessed),
    SMELT_ASK("get_width_texture_buffer_1d", "", kGuessed),
    SMELT_ASK("get_height_texture_2d", ",i32", kSeen),
    SMELT_ASK("get_height_texture_2d_array", ",i32", kSeen),
    SMELT_ASK("get_height_texture_3d", ",i32", kSeen),
    SMELT_ASK("get_height_texture_cube", ",i32", kSeen),
    SMELT_ASK("get_height_texture_cube_array", ",i32", kGuessed),
    SMELT_ASK("get_height_texture_2d_ms", "", kSeen),
    SMELT_ASK("get_height_texture_2d_ms_array", "", kGuessed),
    SMELT_ASK("get_depth_texture_3d", ",i32", kSeen),
    SMELT_ASK("get_array_size_texture_1d_array", "", kGuessed),
    SMELT_ASK("get_array_size_texture_2d_array", "", kGuessed),
    SMELT_ASK("get_array_size_texture_2d_ms_array", "", kGuessed),
    SMELT_ASK("get_array_size_texture_cube_array", "", kGuessed),
    SMELT_ASK("get_num_mip_levels_texture_1d", "", kGuessed),
    SMELT_ASK("get_num_mip_levels_texture_1d_array", "", kGuessed),
    SMELT_ASK("get_num_mip_levels_texture_2d", "", kGuessed),
    SMELT_ASK("get_num_mip_levels_texture_2d_array", "", kGuessed),
    SMELT_ASK("get_num_mip_levels_texture_3d", "", kGuessed),
    SMELT_ASK("get_num_mip_levels_texture_cube", "", kGuessed),
    SMELT_ASK("get_num_mip_levels_texture_cube_array", "", kGuessed),
    SMELT_ASK("get_num_samples_texture_2d_ms", "", kSeen),
    SMELT_ASK("get_num_samples_texture_2d_ms_array", "", kGuessed),
    SMELT_ASK("get_width_depth_2d", ",i32", kGuessed),
    SMELT_ASK("get_width_depth_2d_array", ",i32", kGuessed),
    SMELT_ASK("get_width_depth_cube", ",i32", kGuessed),
    SMELT_ASK("get_width_depth_cube_array", ",i32", kGuessed),
    SMELT_ASK("get_width_depth_2d_ms", "", kGuessed),
    SMELT_ASK("get_width_depth_2d_ms_array", "", kGuessed),
    SMELT_ASK("get_height_depth_2d", ",i32", kGuessed),
    SMELT_ASK("get_height_depth_2d_array", ",i32", kGuessed),
    SMELT_ASK("get_height_depth_cube", ",i32", kGuessed),
    SMELT_ASK("get_height_depth_cube_array", ",i32", kGuessed),
    SMELT_ASK("get_height_depth_2d_ms", "", kGuessed),
    SMELT_ASK("get_height_depth_2d_ms_array", "", kGuessed),
    SMELT_ASK("get_array_size_depth_2d_array", "", kGuessed),
    SMELT_ASK("get_array_size_depth_2d_ms_array", "", kGuessed),
    SMELT_ASK("get_array_size_depth_cube_array", "", kGuessed),
    SMELT_ASK("get_num_mip_levels_depth_2d", "", kGuessed),
    SMELT_ASK("get_num_mip_levels_depth_2d_array", "", kGuessed),
    SMELT_ASK("get_num_mip_levels_depth_cube", "", kGuessed),
    SMELT_ASK("get_num_mip_levels_depth_cube_array", "", kGuessed),
    SMELT_ASK("get_num_samples_depth_2d_ms", "", kGuessed),
    SMELT_ASK("get_num_samples_depth_2d_ms_array", "", kGuessed),
    SMELT_FENCE("1d"), SMELT_FENCE("1d_array"), SMELT_FENCE("2d"), SMELT_FENCE("2d_array"), SMELT_FENCE("3d"),
    SMELT_FENCE("cube"), SMELT_FENCE("cube_array"), SMELT_FENCE("buffer_1d"),
    SMELT_ATOMIC_ROWS("1d", "i32", ""), SMELT_ATOMIC_ROWS("1d_array", "i32,i32", ""),
    SMELT_ATOMIC_ROWS("2d", "v2i32", ",v2i32"), SMELT_ATOMIC_ROWS("2d_array", "v2i32,i32", ",v2i32"),
    SMELT_ATOMIC_ROWS("3d", "v3i32", ",v3i32"), SMELT_ATOMIC_ROWS("cube", "v2i32,i32", ""),
    SMELT_ATOMIC_ROWS("cube_array", "v2i32,i32,i32", ""), SMELT_ATOMIC_ROWS("buffer_1d", "i32", ""),
    SMELT_LODS("texture_2d", "v2f32"), SMELT_LODS("texture_2d_array", "v2f32"), SMELT_LODS("texture_3d", "v3f32"),
    SMELT_LODS("texture_cube", "v3f32"), SMELT_LODS("texture_cube_array", "v3f32"), SMELT_LODS("depth_2d", "v2f32"),
    SMELT_LODS("depth_2d_array", "v2f32"), SMELT_LODS("depth_cube", "v3f32"), SMELT_LODS("depth_cube_array", "v3f32"),
    SMELT_IS_NULL("texture_1d"), SMELT_IS_NULL("texture_1d_array"), SMELT_IS_NULL("texture_2d"),
    SMELT_IS_NULL("texture_2d_array"), SMELT_IS_NULL("texture_2d_ms"), SMELT_IS_NULL("texture_2d_ms_array"),
    SMELT_IS_NULL("texture_3d"), SMELT_IS_NULL("texture_cube"), SMELT_IS_NULL("texture_cube_array"),
    SMELT_IS_NULL("texture_buffer_1d"), SMELT_IS_NULL("depth_2d"), SMELT_IS_NULL("depth_2d_array"),
    SMELT_IS_NULL("depth_2d_ms"), SMELT_IS_NULL("depth_2d_ms_array"), SMELT_IS_NULL("depth_cube"),
    SMELT_IS_NULL("depth_cube_array"),
    SMELT_INTERPOLATED("center", ""), SMELT_INTERPOLATED("centroid", ""), SMELT_INTERPOLATED("sample", ",i32"),
    SMELT_INTERPOLATED("offset", ",v2f32"),
    {"get_num_samples.i32", Suffix::none, "i32(i32)", Effect::pure, kListed},
    {"get_sample_position.v2f32", Suffix::none, "v2f32(i32,i32)", Effect::pure, kListed},
    {"get_read_sampler", Suffix::none, "sampler()", Effect::hidden_read, kSeen, 0, {2, 8}},
};
// clang-format on

}  // namespace

std::span<const Row> texture_rows() {
  return kTextureRows;
}

}  // namespace smelt::aot::air
