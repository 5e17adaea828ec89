#include "msl/syntax/attributes.hpp"

namespace smelt::aot::msl {
namespace {

using enum AttributeKind;

constexpr AttributeRow kRows[] = {
    {"kernel", kernel},
    {"host_name", kernel},
    {"max_total_threads_per_threadgroup", kernel},
    {"required_threads_per_threadgroup", kernel},
    {"user_annotation", kernel},
    {"visible", kernel},
    {"stitchable", kernel},
    {"function_groups", kernel},
    {"buffer", resource, AttributeArguments::condition},
    {"texture", resource, AttributeArguments::condition},
    {"sampler", resource, AttributeArguments::condition},
    {"threadgroup", resource, AttributeArguments::condition},
    {"function_constant", constant, AttributeArguments::condition},
    {"id", argument_field},
    {"thread_position_in_grid", position},
    {"threads_per_grid", position},
    {"thread_position_in_threadgroup", position},
    {"threads_per_threadgroup", position},
    {"dispatch_threads_per_threadgroup", position},
    {"threadgroup_position_in_grid", position},
    {"threadgroups_per_grid", position},
    {"grid_origin", position},
    {"grid_size", position},
    {"thread_index_in_threadgroup", index},
    {"thread_execution_width", index},
    {"threads_per_simdgroup", index},
    {"thread_index_in_simdgroup", index},
    {"simdgroup_index_in_threadgroup", index},
    {"simdgroups_per_threadgroup", index},
    {"dispatch_simdgroups_per_threadgroup", index},
    {"thread_index_in_quadgroup", index},
    {"quadgroup_index_in_threadgroup", index},
    {"quadgroups_per_threadgroup", index},
    {"dispatch_quadgroups_per_threadgroup", index},
    {"vertex", graphics},
    {"fragment", graphics},
    {"mesh", graphics},
    {"object", graphics},
    {"intersection", graphics, AttributeArguments::ignored},
    {"stage_in", graphics},
    {"attribute", graphics},
    {"position", graphics},
    {"point_size", graphics},
    {"clip_distance", graphics},
    {"color", graphics},
    {"depth", graphics, AttributeArguments::ignored},
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
    {"barycentric_coord", graphics},
    {"render_target_array_index", graphics},
    {"viewport_array_index", graphics},
    {"early_fragment_tests", graphics},
    {"patch", graphics, AttributeArguments::ignored},
    {"payload", graphics},
    {"flat", graphics},
    {"center_perspective", graphics},
    {"center_no_perspective", graphics},
    {"centroid_perspective", graphics},
    {"user", ignored, AttributeArguments::ignored},
    {"raster_order_group", ignored},
    {"primitive", ignored, AttributeArguments::ignored},
    {"attribute_name", ignored, AttributeArguments::ignored},
};

}  // namespace

std::span<const AttributeRow> attribute_rows() {
  return kRows;
}

const AttributeRow* find_attribute(std::string_view name) {
  for (const AttributeRow& row : kRows)
    if (row.name == name) return &row;
  return nullptr;
}

}  // namespace smelt::aot::msl
