// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Function constants fitted to the kernel's own types: bytes that a device can use and a cache can compare.
#pragma once

#include "smelt/loader/constants.hpp"

#include <span>

namespace smelt::loader {

struct BoundConstant {
  uint32_t index = 0;
  ValueType type;
  std::string type_name;
  Bytes bytes;        ///< components in order, little-endian, without the padding of 3-vectors
  bool given = true;  ///< false: a 0 in place of what is missing, which is_function_constant_defined() is not told of
};

/// Checks every given value against the declarations and every declaration against what is given.
/// Errors: constant_type, constant_missing. Values for constants that are not declared have no effect. Result is
/// ascending by index.
Result<std::vector<BoundConstant>> bind_constants(std::string_view function, std::span<const ConstantInfo> declared,
                                                  const ConstantValues& given);

/// Typed and length-prefixed, so that no two different sets of values look alike (a peer's cache joined fields
/// without separators and returned the wrong pipeline).
void append_key(std::string& key, std::span<const BoundConstant> constants);

}  // namespace smelt::loader
