// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "msl/facts/missing_features.hpp"

#include "msl/facts/annotations.hpp"

namespace smelt::aot::msl {
namespace {

struct NameRow {
  llvm::StringLiteral name;
  std::string_view feature;
  bool is_template = false;  ///< with arguments only
};

constexpr std::string_view kPixels = "pixel data types", kRays = "intersection functions",
                           kTensors = "tensors without <metal_tensor>", kCommands = "indirect command buffers";

constexpr NameRow kNames[] = {
    {"r8unorm", kPixels},
    {"r8snorm", kPixels},
    {"r16unorm", kPixels},
    {"r16snorm", kPixels},
    {"rg8unorm", kPixels},
    {"rg8snorm", kPixels},
    {"rg16unorm", kPixels},
    {"rg16snorm", kPixels},
    {"rgba8unorm", kPixels},
    {"rgba8snorm", kPixels},
    {"rgba16unorm", kPixels},
    {"rgba16snorm", kPixels},
    {"srgba8unorm", kPixels},
    {"rgb10a2", kPixels},
    {"rg11b10f", kPixels},
    {"rgb9e5", kPixels},
    {"intersection_function_table", kRays, true},
    {"intersection_result_ref", kRays, true},
    {"intersection_function_buffer", kRays},
    {"ray_data", kRays},
    {"max_levels", "acceleration structures of many levels", true},
    {"rasterization_rate_map_data", "rasterization rate maps"},
    {"rasterization_rate_map_decoder", "rasterization rate maps"},
    {"command_buffer", kCommands},
    {"render_command", kCommands},
    {"compute_command", kCommands},
    {"render_pipeline_state", kCommands},
    {"compute_pipeline_state", kCommands},
    {"tensor", kTensors, true},
    {"cooperative_tensor", kTensors, true},
    {"tensor_handle", kTensors},
    {"tensor_inline", kTensors},
    {"convolution2d", "convolutions of tensors"},
    {"convolution2d_descriptor", "convolutions of tensors"},
};

constexpr StageRow kStages[] = {
    {"intersection", "an intersection function", "intersection functions"},
};

}  // namespace

std::string_view feature_of_name(llvm::StringRef name, bool has_arguments) {
  for (const NameRow& row : kNames)
    if (name == row.name && (has_arguments || !row.is_template)) return row.feature;
  return {};
}

std::optional<Version> version_of_name(llvm::StringRef name) {
  struct Row {
    llvm::StringLiteral name;
    Version since;
  };
  // What our headers have from a version on.
  static constexpr Row kRows[] = {
      {"atomic_bool", {2, 4, 0}},
      {"atomic_ulong", {2, 4, 0}},
      {"atomic_float", {3, 0, 0}},
      {"mesh", {3, 0, 0}},
      {"mesh_grid_properties", {3, 0, 0}},
      {"nextafter", {3, 1, 0}},
      {"atomic_thread_fence", {3, 2, 0}},
      {"os_log", {3, 2, 0}},
      {"os_log_default", {3, 2, 0}},
      {"log_type", {3, 2, 0}},
      {"log_type_debug", {3, 2, 0}},
      {"log_type_info", {3, 2, 0}},
      {"log_type_default", {3, 2, 0}},
      {"log_type_error", {3, 2, 0}},
      {"log_type_fault", {3, 2, 0}},
      {"pack_float_to_snorm10a2", {4, 0, 0}},
      {"pack_half_to_snorm10a2", {4, 0, 0}},
      {"unpack_snorm10a2_to_float", {4, 0, 0}},
      {"unpack_snorm10a2_to_half", {4, 0, 0}},
  };
  for (const Row& row : kRows)
    if (name == row.name) return row.since;
  return std::nullopt;
}

std::string_view feature_of_header(llvm::StringRef name) {
  struct Row {
    llvm::StringRef header;
    std::string_view feature;
  };
  const Row rows[] = {{"metal_raytracing", kRays}, {"metal_command_buffer", kCommands}};
  for (const Row& row : rows)
    if (name.starts_with(row.header)) return row.feature;
  return {};
}

bool is_tensor_header(llvm::StringRef name) {
  return name.starts_with("MetalPerformancePrimitives/") || name == "metal_tensor" ||
         name == "metal_cooperative_tensor";
}

const StageRow* missing_stage(const clang::Decl& function) {
  for (const StageRow& stage : kStages)
    if (find_annotation(function, stage.attribute) != nullptr) return &stage;
  return nullptr;
}

}  // namespace smelt::aot::msl
