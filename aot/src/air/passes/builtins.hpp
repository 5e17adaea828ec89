// The hardware values that a kernel may take as arguments (docs/air.md 1.6).
#pragma once

#include <span>
#include <string_view>

namespace smelt::aot::air {

struct BuiltinRow {
  std::string_view attribute;  ///< as in MSL; "air." in front makes the metadata kind
  bool is_vector = false;      ///< uint3 (or uint2, uint), else uint or ushort
};

std::span<const BuiltinRow> builtin_rows();
const BuiltinRow* find_builtin(std::string_view attribute);

}  // namespace smelt::aot::air
