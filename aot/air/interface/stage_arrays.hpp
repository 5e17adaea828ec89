// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vertex and fragment functions as functions on arrays: which array each input and each result is, and where it is
// bound. The CPU's code is made from this, and packages say it, so that both mean the same arrays.
//
// An array has one element for each vertex or fragment: as many numbers as the type has components, side by side; a
// bool is a byte. It is bound like a buffer, in a slot that the function leaves free: from 30 downwards, inputs before
// results. SIMD-group values are no arrays: the launch has them.
#pragma once

#include "smelt/base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace llvm {
class MDNode;
class Module;
class Type;
}  // namespace llvm

namespace smelt::aot::air {

struct StageArray {
  enum class Role : uint8_t {
    input,
    result,
    discarded,  ///< a result that no function declares: whether it called discard_fragment
  };
  Role role = Role::input;
  uint32_t index = 0;     ///< of an input: the parameter; of a result: the member of what the function returns
  std::string name;       ///< unlike that of any other input and binding, or of any other result
  std::string kind;       ///< AIR's word without "air.": "vertex_input", "position"
  std::string type_name;  ///< "float4"
  uint32_t slot = 0;
  uint32_t bytes = 0;  ///< of one element
  bool used = true;    ///< of an input: some code reads it
  /// It may be left unbound: an input has its usual value then (usual_value), a result goes nowhere.
  bool optional = false;
};

/// Of one entry of !air.vertex or !air.fragment; empty for other stages. Errors: unsupported where the slots do not
/// suffice or a type cannot be in an array, corrupt for metadata that does not fit the function.
Result<std::vector<StageArray>> stage_arrays(const llvm::Module& module, const llvm::MDNode& entry,
                                             std::string_view stage);

/// What an unbound input is: one number for all of them, or the vertex's index (`is_index`).
struct UsualValue {
  uint64_t number = 0;
  bool is_index = false;
};
/// Nothing for an input that has none and must be bound.
const UsualValue* usual_value(std::string_view kind);

/// The numbers of an element, one after the other: their type and how many. A bool is i1 here.
struct ElementParts {
  llvm::Type* scalar = nullptr;
  uint32_t count = 0;
  uint32_t scalar_bytes = 0;
};
/// Count 0 for a type that is no scalar, vector or array of scalars.
ElementParts parts_of(llvm::Type& type);

}  // namespace smelt::aot::air
