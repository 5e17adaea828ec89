// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values of function constants as they were set, and what a function makes of them.
//
// Apple's documentation: a value that a function does not declare is passed over; a constant that it needs and that has
// no value is an error. Yet there are programs that leave one out and run on Macs (ggml does for one of its kernels),
// so here such a constant is 0, which is said once for each kernel. SMELT_METAL_CONSTANTS=strict makes it the error.
#pragma once

#include "smelt/loader/library.hpp"

#include "Metal/MTLArgument.hpp"

#include <map>

namespace smelt::metal {

struct ConstantSet {
  struct Value {
    MTL::DataType type = MTL::DataTypeNone;
    std::string bytes;
  };
  std::map<uint64_t, Value> by_index;
  std::map<std::string, Value> by_name;

  /// What `function` declares, as the loader takes it. `constant_type`: a value of a type that cannot be a constant;
  /// `constant_missing` if that is to be an error.
  Result<loader::ConstantValues> bind(const loader::Function& function) const;
};

/// Bytes that one value takes in memory; 0 for types that cannot be constants.
size_t constant_bytes(MTL::DataType type);
/// The same without what lies behind the third component of a vector, which need not be anybody's.
size_t used_bytes(MTL::DataType type);
/// "float2" and the like; DataTypeNone for what has no number.
MTL::DataType data_type_named(std::string_view name);

}  // namespace smelt::metal
