// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What vertex, fragment and other stages get besides bindings, and what they return, read from the metadata of a
// finished AIR module (docs/formats/air.md 1.11). What is bound, and the types of all arguments, is in KernelInfo.
#pragma once

#include "smelt/base/bytes.hpp"
#include "smelt/base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace smelt::aot {

struct StageValueInfo {
  uint32_t index = 0;    ///< of an input: among the function's parameters
  std::string air_kind;  ///< "air.fragment_input", "air.position", "air.render_target"
  std::string detail;    ///< AIR's further words: "user(uv), center, perspective"; of a colour its number and index
  std::string type_name;
  std::string name;  ///< empty for a result that is not a member of a structure
  bool conditional = false;
  bool unused = false;  ///< no code reads it
  bool operator==(const StageValueInfo&) const = default;
};

/// Of a control point of a patch.
struct StageAttributeInfo {
  uint32_t index = 0;  ///< [[attribute(n)]]
  std::string name, type_name;
  bool unused = false;
  bool operator==(const StageAttributeInfo&) const = default;
};

struct StageInfo {
  std::string name, stage;
  std::vector<StageValueInfo> inputs, results;
  std::string patch;            ///< of a vertex function of tessellation: "quad" or "triangle"
  uint32_t control_points = 0;  ///< of the patch, as the source says; 0: it does not
  std::vector<StageAttributeInfo> control_point_attributes;
  bool operator==(const StageInfo&) const = default;
};

/// Every entry point of one finished module, as describe() (kernel_info.hpp). A kernel has no results. Bounded, as that
/// is. Errors: those of reading the module.
Result<std::vector<StageInfo>> describe_stages(ByteView bitcode, std::string_view name);

}  // namespace smelt::aot
