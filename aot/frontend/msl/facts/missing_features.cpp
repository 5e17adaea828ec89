// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "msl/facts/missing_features.hpp"

#include "smelt/aot/target.hpp"

#include "inputs/headers.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace smelt::aot::msl {
namespace {

struct NameRow {
  llvm::StringLiteral name;
  std::string_view feature;
  bool is_template = false;  ///< with arguments only
};

constexpr std::string_view kRays = "payloads and buffers of intersection functions",
                           kTensors = "tensors without <metal_tensor>", kSparse = "reads of sparse textures",
                           kPlanes = "tensors with planes of scales";

constexpr NameRow kNames[] = {
    {"intersection_result_ref", kRays, true},
    {"intersection_function_buffer", kRays},
    {"ray_data", kRays},
    {"max_levels", "acceleration structures of many levels", true},
    {"sparse_read", kSparse},
    {"sparse_sample", kSparse},
    {"sparse_sample_compare", kSparse},
    {"sparse_gather", kSparse},
    {"sparse_gather_compare", kSparse},
    {"sparse_color", kSparse},
    {"rasterization_rate_map_data", "rasterization rate maps"},
    {"rasterization_rate_map_decoder", "rasterization rate maps"},
    {"tensor", kTensors, true},
    {"cooperative_tensor", kTensors, true},
    {"tensor_handle", kTensors},
    {"tensor_inline", kTensors},
    {"tensor_blockwise", kPlanes},
    {"tensor_plane_scales", kPlanes},
    {"convolution2d", "convolutions of tensors"},
    {"convolution2d_descriptor", "convolutions of tensors"},
};

// Each name is missing from our headers, or refused by the token filter, before its version.
constexpr VersionedName kVersioned[] = {
    {"atomic_bool", {2, 4, 0}},
    {"atomic_ulong", {2, 4, 0}},
    {"atomic_float", {3, 0, 0}},
    {"mesh", {3, 0, 0}},
    {"mesh_grid_properties", {3, 0, 0}},
    {"topology", {3, 0, 0}},
    {"nextafter", {3, 1, 0}},
    {"coherent", {3, 2, 0}},
    {"atomic_thread_fence", {3, 2, 0}},
    {"thread_scope", {3, 2, 0}},
    {"thread_scope_thread", {3, 2, 0}},
    {"thread_scope_simdgroup", {3, 2, 0}},
    {"thread_scope_threadgroup", {3, 2, 0}},
    {"thread_scope_device", {3, 2, 0}},
    {"memory_order_seq_cst", {3, 2, 0}},
    {"memory_order_acquire", {4, 1, 0}},
    {"memory_order_release", {4, 1, 0}},
    {"memory_order_acq_rel", {4, 1, 0}},
    {"os_log", {3, 2, 0}},
    {"os_log_default", {3, 2, 0}},
    {"log_type", {3, 2, 0}},
    {"log_type_debug", {3, 2, 0}},
    {"log_type_info", {3, 2, 0}},
    {"log_type_default", {3, 2, 0}},
    {"log_type_error", {3, 2, 0}},
    {"log_type_fault", {3, 2, 0}},
    {"depth_stencil_state", {4, 0, 0}},
    {"depth_clip_mode", {4, 0, 0}},
    {"triangle_fill_mode", {4, 0, 0}},
    {"cull_mode", {4, 0, 0}},
    {"pack_float_to_snorm10a2", {4, 0, 0}},
    {"pack_half_to_snorm10a2", {4, 0, 0}},
    {"unpack_snorm10a2_to_float", {4, 0, 0}},
    {"unpack_snorm10a2_to_half", {4, 0, 0}},
};

}  // namespace

std::string_view feature_of_name(llvm::StringRef name, bool has_arguments) {
  for (const NameRow& row : kNames)
    if (name == row.name && (has_arguments || !row.is_template)) return row.feature;
  return {};
}

std::span<const VersionedName> versioned_names() {
  return kVersioned;
}

std::optional<Version> version_of_name(llvm::StringRef name) {
  for (const VersionedName& row : kVersioned)
    if (name == llvm::StringRef(row.name.data(), row.name.size())) return row.since;
  return std::nullopt;
}

std::string text_of_later_version(llvm::StringRef name, Version since, Version language) {
  std::string targets;
  for (const Platform platform : {Platform::macos, Platform::ios})
    for (const Target& target : known_targets())
      if (target.platform == platform && target.language >= since) {
        targets += (targets.empty() ? "" : " and ") + target.name;
        break;
      }
  return fmt::format("'{}' needs Metal {}, and this is compiled as Metal {}; targets from {} on have it", name.str(),
                     to_string(since), to_string(language), targets);
}

bool is_tensor_header(llvm::StringRef name) {
  const std::string_view wanted(name.data(), name.size());
  const auto is_wanted = [&](const EmbeddedHeader& header) { return header.name == wanted; };
  return (name.starts_with("MetalPerformancePrimitives/") || name == "metal_tensor" ||
          name == "metal_cooperative_tensor") &&
         std::any_of(smelt_embedded_headers, smelt_embedded_headers + smelt_embedded_header_count, is_wanted);
}

}  // namespace smelt::aot::msl
