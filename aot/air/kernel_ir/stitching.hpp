// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What Metal's API must know of a [[stitchable]] function to join it with others (docs/formats/air.md 1.12): the types
// of its source, from the front end to air/, as text in an attribute of the function (kStitching).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smelt::aot::kernel_ir {

struct StitchType {
  std::string kind;  ///< AIR's word without its ends: "float", "vector", "array", "struct", "texture_2d"
  uint64_t size = 0, align = 0;
  std::string name;                ///< of a structure; of a texture its access
  uint64_t count = 0;              ///< of a vector or an array
  std::vector<StitchType> inside;  ///< what it consists of: one type, or the members of a structure
  std::string member;              ///< the name, where this is a member
  uint64_t offset = 0;             ///< likewise, in bytes
  bool operator==(const StitchType&) const = default;
};

/// What the function gives, or an argument.
struct StitchValue {
  std::string name;               ///< empty: the result
  std::string mangled;            ///< the type as C++ mangles it: "Dv2_f"
  unsigned first = 0, count = 0;  ///< parameters of the function that it is; a structure is one for each member
  StitchType type;
  bool operator==(const StitchValue&) const = default;
};

/// The result first.
std::string to_text(const std::vector<StitchValue>& values);
/// Nothing for text that to_text() did not make.
std::optional<std::vector<StitchValue>> parse_stitching(std::string_view text);

}  // namespace smelt::aot::kernel_ir
