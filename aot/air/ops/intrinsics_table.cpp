// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// AIR's operations, one line each; docs/formats/air.md 3 holds the prose and the sources.
#include "ops/intrinsics_table.hpp"

#include <array>
#include <vector>

namespace smelt::aot::air {
namespace {

constexpr Evidence H = Evidence::harvested;
constexpr Evidence S = Evidence::sourced;

// clang-format off
constexpr Row kRows[] = {
    // Math, docs/formats/air.md 3.2. Apple uses fast_ for f32 alone; half always takes the plain name.
    {"sqrt", Suffix::real, "T(T)", Effect::pure, H, kFast},
    {"rsqrt", Suffix::real, "T(T)", Effect::pure, H, kFast},
    {"sin", Suffix::real, "T(T)", Effect::pure, H, kFast},
    {"cos", Suffix::real, "T(T)", Effect::pure, H, kFast},
    {"tan", Suffix::real, "T(T)", Effect::pure, S, kFast},
    {"asin", Suffix::real, "T(T)", Effect::pure, S, kFast},
    {"acos", Suffix::real, "T(T)", Effect::pure, S, kFast},
    {"atan", Suffix::real, "T(T)", Effect::pure, S, kFast},
    {"sinh", Suffix::real, "T(T)", Effect::pure, S, kFast},
    {"cosh", Suffix::real, "T(T)", Effect::pure, S, kFast},
    {"tanh", Suffix::real, "T(T)", Effect::pure, H, kFast},
    {"asinh", Suffix::real, "T(T)", Effect::pure, S, kFast},
    {"acosh", Suffix::real, "T(T)", Effect::pure, S, kFast},
    {"atanh", Suffix::real, "T(T)", Effect::pure, S, kFast},
    {"exp", Suffix::real, "T(T)", Effect::pure, H, kFast},
    {"exp2", Suffix::real, "T(T)", Effect::pure, H, kFast},
    {"exp10", Suffix::real, "T(T)", Effect::pure, S, kFast},
    {"log", Suffix::real, "T(T)", Effect::pure, H, kFast},
    {"log2", Suffix::real, "T(T)", Effect::pure, S, kFast},
    {"log10", Suffix::real, "T(T)", Effect::pure, S, kFast},
    {"sinpi", Suffix::real, "T(T)", Effect::pure, S, kFast},
    {"cospi", Suffix::real, "T(T)", Effect::pure, S, kFast},
    {"tanpi", Suffix::real, "T(T)", Effect::pure, S, kFast},
    {"ceil", Suffix::real, "T(T)", Effect::pure, H, kFast},
    {"floor", Suffix::real, "T(T)", Effect::pure, H, kFast},
    {"trunc", Suffix::real, "T(T)", Effect::pure, S, kFast},
    {"rint", Suffix::real, "T(T)", Effect::pure, S, kFast},
    {"round", Suffix::real, "T(T)", Effect::pure, H, kFast},
    {"fract", Suffix::real, "T(T)", Effect::pure, H, kFast},
    {"fabs", Suffix::real, "T(T)", Effect::pure, H, kFast},
    {"saturate", Suffix::real, "T(T)", Effect::pure, H, kFast},
    {"sign", Suffix::real, "T(T)", Effect::pure, H},
    {"fmin", Suffix::real, "T(T,T)", Effect::pure, H, kFast},
    {"fmax", Suffix::real, "T(T,T)", Effect::pure, H, kFast},
    {"pow", Suffix::real, "T(T,T)", Effect::pure, H, kFast},
    {"powr", Suffix::real, "T(T,T)", Effect::pure, S, kFast},
    {"atan2", Suffix::real, "T(T,T)", Effect::pure, S, kFast},
    {"fmod", Suffix::real, "T(T,T)", Effect::pure, S, kFast},
    {"nextafter", Suffix::real, "T(T,T)", Effect::pure, S, 0, {2, 6}},
    {"ldexp", Suffix::real, "T(T,K)", Effect::pure, S, kFast},
    {"fma", Suffix::real, "T(T,T,T)", Effect::pure, H},
    {"clamp", Suffix::real, "T(T,T,T)", Effect::pure, H, kFast},
    {"fmin3", Suffix::real, "T(T,T,T)", Effect::pure, H, kFast},
    {"fmax3", Suffix::real, "T(T,T,T)", Effect::pure, H, kFast},
    {"fmedian3", Suffix::real, "T(T,T,T)", Effect::pure, S, kFast},
    {"mix", Suffix::real, "T(T,T,T)", Effect::pure, H},
    {"dot", Suffix::real_vector, "E(T,T)", Effect::pure, H},
    {"sincos", Suffix::real, "T(T,p0T:w)", Effect::out_argument, S, kFast},
    {"dfdx", Suffix::real, "T(T)", Effect::lanes, H},
    {"dfdy", Suffix::real, "T(T)", Effect::lanes, H},
    {"fwidth", Suffix::real, "T(T)", Effect::lanes, H},
    {"discard_fragment", Suffix::none, "void()", Effect::unknown, H},
    // Conversions, 3.3. The one form for every integer <-> float; vectors of floats among themselves too.
    {"convert", Suffix::convert, "D(A)", Effect::pure, H},
    // Integers, 3.4.
    {"min", Suffix::sign_integer, "T(T,T)", Effect::pure, H},
    {"max", Suffix::sign_integer, "T(T,T)", Effect::pure, H},
    {"clamp", Suffix::sign_integer, "T(T,T,T)", Effect::pure, S},
    {"min3", Suffix::sign_integer, "T(T,T,T)", Effect::pure, S},
    {"max3", Suffix::sign_integer, "T(T,T,T)", Effect::pure, S},
    {"median3", Suffix::sign_integer, "T(T,T,T)", Effect::pure, S},
    {"abs", Suffix::signed_integer, "T(T)", Effect::pure, S},
    {"abs_diff", Suffix::sign_integer, "T(T,T)", Effect::pure, S},
    {"add_sat", Suffix::sign_integer, "T(T,T)", Effect::pure, S},
    {"sub_sat", Suffix::sign_integer, "T(T,T)", Effect::pure, S},
    {"mul_hi", Suffix::sign_integer, "T(T,T)", Effect::pure, S},
    {"hadd", Suffix::sign_integer, "T(T,T)", Effect::pure, S},
    {"rhadd", Suffix::sign_integer, "T(T,T)", Effect::pure, S},
    {"mad_hi", Suffix::sign_integer, "T(T,T,T)", Effect::pure, S},
    {"mad_sat", Suffix::sign_integer, "T(T,T,T)", Effect::pure, S},
    {"mul24", Suffix::sign_i32, "T(T,T)", Effect::pure, S},
    {"mad24", Suffix::sign_i32, "T(T,T,T)", Effect::pure, S},
    {"clz", Suffix::integer, "T(T,i1)", Effect::pure, S},
    {"ctz", Suffix::integer, "T(T,i1)", Effect::pure, S},
    {"popcount", Suffix::integer, "T(T)", Effect::pure, S},
    {"reverse_bits", Suffix::integer, "T(T)", Effect::pure, S},
    {"rotate", Suffix::integer, "T(T,T)", Effect::pure, S},
    {"extract_bits", Suffix::sign_integer, "T(T,i32,i32)", Effect::pure, S},
    {"insert_bits", Suffix::sign_integer, "T(T,T,i32,i32)", Effect::pure, S},
    {"all", Suffix::truth, "i1(T)", Effect::pure, H},
    {"any", Suffix::truth, "i1(T)", Effect::pure, S},
    // Atomics, 3.6: order, scope, volatile at the end. AIR 2.9 inserts memory flags, so these forms end at 2.8.
    {"atomic.*.add", Suffix::scalar_sign_i32, "T(pT,T,i32,i32,i1)", Effect::atomic, S, kGlobal | kLocal, {}, {2, 8}},
    {"atomic.*.sub", Suffix::scalar_sign_i32, "T(pT,T,i32,i32,i1)", Effect::atomic, S, kGlobal | kLocal, {}, {2, 8}},
    {"atomic.*.min", Suffix::scalar_sign_i32, "T(pT,T,i32,i32,i1)", Effect::atomic, S, kGlobal | kLocal, {}, {2, 8}},
    {"atomic.*.max", Suffix::scalar_sign_i32, "T(pT,T,i32,i32,i1)", Effect::atomic, S, kGlobal | kLocal, {}, {2, 8}},
    {"atomic.*.and", Suffix::scalar_sign_i32, "T(pT,T,i32,i32,i1)", Effect::atomic, S, kGlobal | kLocal, {}, {2, 8}},
    {"atomic.*.or", Suffix::scalar_sign_i32, "T(pT,T,i32,i32,i1)", Effect::atomic, S, kGlobal | kLocal, {}, {2, 8}},
    {"atomic.*.xor", Suffix::scalar_sign_i32, "T(pT,T,i32,i32,i1)", Effect::atomic, S, kGlobal | kLocal, {}, {2, 8}},
    {"atomic.*.xchg", Suffix::scalar_i32, "T(pT,T,i32,i32,i1)", Effect::atomic, S, kGlobal | kLocal, {}, {2, 8}},
    {"atomic.*.load", Suffix::scalar_i32, "T(pT,i32,i32,i1)", Effect::atomic, H, kGlobal | kLocal, {}, {2, 8}},
    {"atomic.*.store", Suffix::scalar_i32, "void(pT,T,i32,i32,i1)", Effect::atomic, H, kGlobal | kLocal, {}, {2, 8}},
    {"atomic.*.cmpxchg.weak", Suffix::scalar_i32, "T(pT,p0T,T,i32,i32,i32,i1)", Effect::atomic, H, kGlobal | kLocal, {}, {2, 8}},
    {"atomic.*.add", Suffix::scalar_f32, "T(pT,T,i32,i32,i1)", Effect::atomic, S, kGlobal, {2, 5}, {2, 8}},
    {"atomic.*.sub", Suffix::scalar_f32, "T(pT,T,i32,i32,i1)", Effect::atomic, S, kGlobal, {2, 5}, {2, 8}},
    {"atomic.*.xchg", Suffix::scalar_f32, "T(pT,T,i32,i32,i1)", Effect::atomic, S, kGlobal, {2, 5}, {2, 8}},
    {"atomic.*.load", Suffix::scalar_f32, "T(pT,i32,i32,i1)", Effect::atomic, S, kGlobal, {2, 5}, {2, 8}},
    {"atomic.*.store", Suffix::scalar_f32, "void(pT,T,i32,i32,i1)", Effect::atomic, S, kGlobal, {2, 5}, {2, 8}},
    {"atomic.*.cmpxchg.weak", Suffix::scalar_f32, "T(pT,p0T,T,i32,i32,i32,i1)", Effect::atomic, S, kGlobal, {2, 5}, {2, 8}},
    {"atomic.*.min", Suffix::scalar_u64, "void(pT,T,i32,i32,i1)", Effect::atomic, S, kGlobal, {2, 4}, {2, 8}},
    {"atomic.*.max", Suffix::scalar_u64, "void(pT,T,i32,i32,i1)", Effect::atomic, S, kGlobal, {2, 4}, {2, 8}},
    {"atomic.fence", Suffix::none, "void(i32,i32,i32)", Effect::atomic, S, 0, {2, 7}},
    // Barriers, 3.7: flags, scope. Three operands at AIR 2.9.
    {"wg.barrier", Suffix::none, "void(i32,i32)", Effect::lanes, H, 0, {}, {2, 8}},
    {"simdgroup.barrier", Suffix::none, "void(i32,i32)", Effect::lanes, H, 0, {}, {2, 8}},
    // Lanes of a SIMD-group or quad, 3.8. The lane operand is i16.
    {"simd_shuffle", Suffix::lane_value, "T(T,i16)", Effect::lanes, H, kQuad},
    {"simd_shuffle_xor", Suffix::lane_value, "T(T,i16)", Effect::lanes, H, kQuad},
    {"simd_shuffle_down", Suffix::lane_value, "T(T,i16)", Effect::lanes, H, kQuad},
    {"simd_shuffle_up", Suffix::lane_value, "T(T,i16)", Effect::lanes, S, kQuad},
    {"simd_shuffle_rotate_up", Suffix::lane_value, "T(T,i16)", Effect::lanes, S, kQuad},
    {"simd_shuffle_rotate_down", Suffix::lane_value, "T(T,i16)", Effect::lanes, S, kQuad},
    {"simd_broadcast", Suffix::lane_value, "T(T,i16)", Effect::lanes, S, kQuad},
    {"simd_shuffle_and_fill_up", Suffix::lane_value, "T(T,T,i16,i16)", Effect::lanes, S, kQuad, {2, 4}},
    {"simd_shuffle_and_fill_down", Suffix::lane_value, "T(T,T,i16,i16)", Effect::lanes, S, kQuad, {2, 4}},
    {"simd_broadcast_first", Suffix::lane_value, "T(T)", Effect::lanes, H, kQuad},
    {"simd_sum", Suffix::lane_value, "T(T)", Effect::lanes, H, kQuad},
    {"simd_max", Suffix::lane_value, "T(T)", Effect::lanes, H, kQuad},
    {"simd_min", Suffix::lane_value, "T(T)", Effect::lanes, S, kQuad},
    {"simd_product", Suffix::lane_value, "T(T)", Effect::lanes, S, kQuad},
    {"simd_prefix_inclusive_sum", Suffix::lane_value, "T(T)", Effect::lanes, S, kQuad},
    {"simd_prefix_inclusive_product", Suffix::lane_value, "T(T)", Effect::lanes, S, kQuad},
    {"simd_prefix_exclusive_sum", Suffix::lane_value, "T(T)", Effect::lanes, S, kQuad},
    {"simd_prefix_exclusive_product", Suffix::lane_value, "T(T)", Effect::lanes, S, kQuad},
    {"simd_and", Suffix::lane_integer, "T(T)", Effect::lanes, S, kQuad},
    {"simd_or", Suffix::lane_integer, "T(T)", Effect::lanes, S, kQuad},
    {"simd_xor", Suffix::lane_integer, "T(T)", Effect::lanes, S, kQuad},
    {"simd_ballot.i64", Suffix::none, "i64(i1)", Effect::lanes, H},
    {"simd_vote_all.i64", Suffix::none, "i1(i64)", Effect::lanes, H},
    {"simd_vote_any.i64", Suffix::none, "i1(i64)", Effect::lanes, S},
    {"simd_all", Suffix::none, "i1(i1)", Effect::lanes, S, kQuad},
    {"simd_any", Suffix::none, "i1(i1)", Effect::lanes, S, kQuad},
    {"simd_is_first", Suffix::none, "i1()", Effect::lanes, S, kQuad},
    {"simd_is_helper_thread", Suffix::none, "i1()", Effect::lanes, S, kQuad},
    {"simd_active_threads_mask.i64", Suffix::none, "i64()", Effect::lanes, S},
    {"get_simdgroup_size.i16", Suffix::none, "i16()", Effect::pure, S},
    {"get_simdgroup_size.i32", Suffix::none, "i32()", Effect::pure, H, 0, {2, 8}},
    {"quad_ballot", Suffix::none, "i16(i1)", Effect::lanes, S},
    {"quad_active_threads_mask", Suffix::none, "i16()", Effect::lanes, S},
    // 8x8 matrices of a whole SIMD-group, 3.9. Memory forms change at AIR 2.8.
    {"simdgroup_matrix_8x8_load", Suffix::matrix_memory, "T(pE:r,i64,v2i64,i1)", Effect::matrix_load, H, 0, {2, 3}, {2, 7}},
    {"simdgroup_matrix_8x8_load", Suffix::matrix_memory, "T(pE:r,v2i64,v2i64,v2i64)", Effect::matrix_load, S, 0, {2, 8}},
    {"simdgroup_matrix_8x8_store", Suffix::matrix_memory, "void(T,pE:w,i64,v2i64,i1)", Effect::matrix_store, H, 0, {2, 3}, {2, 7}},
    {"simdgroup_matrix_8x8_store", Suffix::matrix_memory, "void(T,pE:w,v2i64,v2i64,v2i64)", Effect::matrix_store, S, 0, {2, 8}},
    {"simdgroup_matrix_8x8_multiply_accumulate", Suffix::matrix_product, "D(A,B,C)", Effect::lanes, H, 0, {2, 3}},
    {"simdgroup_matrix_8x8_init_filled", Suffix::matrix_fill, "T(E)", Effect::lanes, H, 0, {2, 3}},
    {"simdgroup_matrix_8x8_init_diag", Suffix::matrix_fill, "T(E)", Effect::lanes, H, 0, {2, 3}},
    // Tensors that a kernel makes, 3.14: bytes of a descriptor, its extents and strides, and a part of one.
    {"get_descriptor_size_tensor", Suffix::none, "i16(i16,i16)", Effect::pure, H, 0, {2, 8}},
    {"init_strided_private_tensor.i32.global", Suffix::none, "void(tensor:w,i16,p1i8,p0i8:r,p0i8:r,i8)", Effect::out_argument, H, 0, {2, 8}},
    {"init_strided_private_tensor.i32.local", Suffix::none, "void(tensor:w,i16,p3i8,p0i8:r,p0i8:r,i8)", Effect::out_argument, S, 0, {2, 8}},
    {"get_extent_private_tensor.i32", Suffix::none, "i32(tensor:r,i16,i16)", Effect::out_argument, H, 0, {2, 8}},
    {"slice_private_tensor_private_tensor.s.i32", Suffix::none, "void(tensor:w,tensor:r,i16,p0i8:r,p0i8:r)", Effect::out_argument, H, 0, {2, 8}},
    // Asynchronous copies, 3.10: fragile, known so that existing libraries pass.
    {"simdgroup_async_copy_1d", Suffix::async_copy, "event(i64,i64,A:w,B:r,i64)", Effect::lanes, H, 0, {2, 3}},
    {"simdgroup_async_copy_2d", Suffix::async_copy, "event(i64,i64,A:w,i64,i64,v2i64,B:r,i64,i64,v2i64,v2i64,i32)", Effect::lanes, H, 0, {2, 3}},
    {"wait_simdgroup_events", Suffix::none, "void(i32,events)", Effect::lanes, H, 0, {2, 3}},
    // Packing, 3.11.
    {"pack.unorm4x8", Suffix::real_v4, "i32(T)", Effect::pure, S},
    {"unpack.unorm4x8", Suffix::real_v4, "T(i32)", Effect::pure, S},
    {"pack.unorm2x16", Suffix::real_v2, "i32(T)", Effect::pure, S},
    {"unpack.unorm2x16", Suffix::real_v2, "T(i32)", Effect::pure, S},
    {"pack.unorm4x16", Suffix::real_v4, "i64(T)", Effect::pure, S},
    {"unpack.unorm4x16", Suffix::real_v4, "T(i64)", Effect::pure, S},
    {"pack.snorm4x8", Suffix::real_v4, "i32(T)", Effect::pure, S},
    {"unpack.snorm4x8", Suffix::real_v4, "T(i32)", Effect::pure, S},
    {"pack.snorm2x16", Suffix::real_v2, "i32(T)", Effect::pure, S},
    {"unpack.snorm2x16", Suffix::real_v2, "T(i32)", Effect::pure, S},
    {"pack.snorm4x16", Suffix::real_v4, "i64(T)", Effect::pure, S},
    {"unpack.snorm4x16", Suffix::real_v4, "T(i64)", Effect::pure, S},
    {"pack.unorm4x8.srgb", Suffix::real_v4, "i32(T)", Effect::pure, S},
    {"unpack.unorm4x8.srgb", Suffix::real_v4, "T(i32)", Effect::pure, S},
    {"pack.unorm.rgb10a2", Suffix::real_v4, "i32(T)", Effect::pure, S},
    {"unpack.unorm.rgb10a2", Suffix::real_v4, "T(i32)", Effect::pure, S},
    {"pack.snorm.rgb10a2", Suffix::real_v4, "i32(T)", Effect::pure, S, 0, {2, 8}},
    {"unpack.snorm.rgb10a2", Suffix::real_v4, "T(i32)", Effect::pure, S, 0, {2, 8}},
    {"pack.unorm.rgb565", Suffix::real_v3, "i16(T)", Effect::pure, S},
    {"unpack.unorm.rgb565", Suffix::real_v3, "T(i16)", Effect::pure, S},
    {"pack.unorm.rg11b10f", Suffix::real_v3, "i32(T)", Effect::pure, S},
    {"unpack.unorm.rg11b10f", Suffix::real_v3, "T(i32)", Effect::pure, S},
    {"pack.unorm.rgb9e5", Suffix::real_v3, "i32(T)", Effect::pure, S},
    {"unpack.unorm.rgb9e5", Suffix::real_v3, "T(i32)", Effect::pure, S},
    // Imageblocks, 1.15.
    {"get_imageblock_width", Suffix::none, "i16()", Effect::pure, S},
    {"get_imageblock_height", Suffix::none, "i16()", Effect::pure, S},
    {"get_imageblock_samples", Suffix::none, "i16()", Effect::pure, S},
    {"get_imageblock_num_colors", Suffix::none, "i16(v2i16)", Effect::pure, S},
    {"get_color_coverage_mask", Suffix::none, "i16(v2i16,i16)", Effect::pure, S},
    {"imageblock_data", Suffix::none, "p4i8(v2i16,i32,i16)", Effect::tile_read, S},
    {"implicit_imageblock_data", Suffix::none, "p4i8(i32,v2i16,i32,i16)", Effect::tile_read, S},
    {"load.implicit_imageblock", Suffix::plane, "T(i32,v2i16,i32,i16)", Effect::tile_read, S},
    {"store.implicit_imageblock", Suffix::plane, "void(T,i32,v2i16,i32,i16)", Effect::tile_write, S},
    {"store.implicit_imageblock.mask", Suffix::plane, "void(T,i32,v2i16,i16)", Effect::tile_write, S},
    {"store.imageblock.mask", Suffix::plane, "void(T,p4T,i16,i32,i1)", Effect::tile_write, S},
    // Logging, function constants, function tables, 3.11 and 1.7.
    {"os_log", Suffix::none, "void(p2i8,p2i8,i32,p2i8,p0i8,i64)", Effect::unknown, S, 0, {2, 7}},
    {"is_function_constant_defined", Suffix::none, "i1(p2i8)", Effect::pure, H},
    {"normalize_function_constant_predicate.i8", Suffix::none, "i8(i8)", Effect::pure, H},
    {"get_size_visible_function_table", Suffix::none, "i32(table:r)", Effect::texture_read, S, 0, {2, 3}},
    {"is_null_visible_function_table", Suffix::none, "i1(table:r)", Effect::texture_read, S, 0, {2, 3}},
    {"get_function_pointer_visible_function_table", Suffix::none, "p0i8(table:r,i32)", Effect::texture_read, H, 0, {2, 3}},
};
// clang-format on

// What graphics, ray tracing and tile code calls. We do not make such code; we only let it through.
constexpr std::array<std::string_view, 30> kFamilies = {
    "texture",          "depth_",    "imageblock",      "_mesh",       "render_command",   "compute_command",
    "command_buffer",   "intersect", "acceleration",    "ray_",        "function_table",   "function_handle",
    "function_pointer", "discard",   "sample_position", "num_samples", "color_attachment", "patch",
    "tensor",           "visible_",  "argument_buffer", "sampler",     "barycentric",      "interpolat",
    "post_depth",       "vertex_",   "primitive_",      "curve",       "system_coherent",  "unique_identifier"};

}  // namespace

std::span<const Row> table() {
  // Threads may read it while statics go.
  static const auto& all = *new std::vector<Row>([] {
    std::vector<Row> rows(std::begin(kRows), std::end(kRows));
    const std::span<const Row> textures = texture_rows();
    rows.insert(rows.end(), textures.begin(), textures.end());
    return rows;
  }());
  return all;
}

bool is_known_family(std::string_view name) {
  for (const std::string_view family : kFamilies)
    if (name.find(family) != std::string_view::npos) return true;
  return false;
}

}  // namespace smelt::aot::air
