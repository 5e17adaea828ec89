// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the source says about kernels and function constants, as plain records: read from Clang's tree before code
// generation, used when the entry points are made (entry_points.hpp).
#pragma once

#include "smelt/base/entry_interface.hpp"

#include "kernel_ir/struct_fields.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace smelt::aot::msl {

struct ParameterFact {
  std::optional<BindingClass> binding = BindingClass::buffer;  ///< nothing: a hardware value, `builtin`
  std::string name;
  std::string type_name;  ///< of the pointee, or of the hardware value: "float4", "uint3"
  unsigned space = 0;
  bool is_reference = false;
  bool is_const = false;  ///< the pointee
  uint64_t size = 0;      ///< of the pointee; 0: void
  uint64_t align = 0;
  std::optional<unsigned> slot;  ///< always set in the end for what is bound
  std::string condition;         ///< symbol of the function constant that decides whether the argument exists
  std::vector<kernel_ir::StructField> fields;
  bool is_argument_buffer = false;  ///< a member, at any depth, is a pointer or has an [[id]]
  std::string builtin;              ///< "thread_position_in_grid"
  unsigned lanes = 1;               ///< of the hardware value
  unsigned bits = 32;               ///< of a lane
  Access access = Access::none;     ///< of a texture
};

/// Not memory, but what stands for a texture, a sampler or a tensor.
inline bool is_handle(const ParameterFact& parameter) {
  return parameter.binding == BindingClass::texture || parameter.binding == BindingClass::sampler ||
         parameter.binding == BindingClass::tensor;
}

struct KernelFact {
  std::string name;    ///< that the API sees
  std::string symbol;  ///< Clang's, in the module
  std::optional<unsigned> max_threads;
  std::vector<ParameterFact> parameters;
  bool is_external = false;  ///< no kernel: a function that other objects may call, by its symbol
};

/// constant T name [[function_constant(index)]];
struct ConstantFact {
  std::string name;
  std::string symbol;
  std::string type_name;
  unsigned index = 0;
};

}  // namespace smelt::aot::msl
