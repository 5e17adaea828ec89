// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "msl/syntax/attributes.hpp"

#include "kernel_ir/builtins.hpp"

#include <vector>

namespace smelt::aot::msl {
namespace {

using enum AttributeKind;

/// But for the hardware values, which are kernel IR's.
constexpr AttributeRow kRows[] = {
    {"kernel", kernel},
    {"host_name", kernel},
    {"max_total_threads_per_threadgroup", kernel},
    {"required_threads_per_threadgroup", kernel},
    {"user_annotation", kernel},
    {"visible", kernel},
    {"stitchable", kernel},
    {"function_groups", kernel},
    {"buffer", resource},
    {"texture", resource},
    {"sampler", resource},
    {"threadgroup", resource},
    {"function_constant", constant, AttributeArguments::condition},
    {"id", argument_field},
    {"vertex", graphics},
    {"fragment", graphics},
    {"mesh", graphics},
    {"object", graphics},
    {"intersection", graphics, AttributeArguments::words},
    {"origin", graphics},
    {"direction", graphics},
    {"world_space_origin", graphics},
    {"world_space_direction", graphics},
    {"min_distance", graphics},
    {"max_distance", graphics},
    {"distance", graphics},
    {"geometry_id", graphics},
    {"user_instance_id", graphics},
    {"opaque_primitive", graphics},
    {"geometry_intersection_function_table_offset", graphics},
    {"instance_intersection_function_table_offset", graphics},
    {"accept_intersection", graphics},
    {"continue_search", graphics},
    {"stage_in", graphics},
    {"attribute", graphics},
    {"position", graphics},
    {"invariant", graphics},
    {"point_size", graphics},
    {"clip_distance", graphics},
    {"color", graphics},
    {"index", graphics},
    {"depth", graphics, AttributeArguments::word},
    {"stencil", graphics},
    {"vertex_id", graphics},
    {"instance_id", graphics},
    {"base_vertex", graphics},
    {"base_instance", graphics},
    {"primitive_id", graphics},
    {"front_facing", graphics},
    {"point_coord", graphics},
    {"sample_id", graphics},
    {"sample_mask", graphics},
    {"post_depth_coverage", graphics},
    {"amplification_id", graphics},
    {"amplification_count", graphics},
    {"patch_id", graphics},
    {"position_in_patch", graphics},
    {"primitive_culled", graphics},
    {"barycentric_coord", graphics},
    {"render_target_array_index", graphics},
    {"viewport_array_index", graphics},
    {"early_fragment_tests", graphics},
    {"patch", graphics, AttributeArguments::word_first},
    {"payload", graphics},
    {"imageblock_data", graphics, AttributeArguments::word},
    {"alias_implicit_imageblock", graphics},
    {"flat", graphics},
    {"center_perspective", graphics},
    {"center_no_perspective", graphics},
    {"centroid_perspective", graphics},
    {"centroid_no_perspective", graphics},
    {"sample_perspective", graphics},
    {"sample_no_perspective", graphics},
    {"user", graphics, AttributeArguments::word},
    {"raster_order_group", graphics},
    {"primitive", ignored, AttributeArguments::ignored},
    {"attribute_name", ignored, AttributeArguments::ignored},
};

std::vector<AttributeRow> all_rows() {
  std::vector<AttributeRow> rows(std::begin(kRows), std::end(kRows));
  for (const kernel_ir::BuiltinRow& builtin : kernel_ir::builtin_rows())
    rows.push_back({builtin.attribute, builtin.is_vector ? position : index});
  return rows;
}

}  // namespace

std::span<const std::string_view> attribute_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all;
    for (const AttributeRow& row : all_rows()) all.push_back(row.name);
    return all;
  }();
  return names;
}

const AttributeRow* find_attribute(std::string_view name) {
  // Threads may read it while statics go.
  static const auto& rows = *new std::vector<AttributeRow>(all_rows());
  for (const AttributeRow& row : rows)
    if (row.name == name) return &row;
  return nullptr;
}

}  // namespace smelt::aot::msl
