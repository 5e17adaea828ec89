// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the source says about kernels and function constants, as plain records: read from Clang's tree before code
// generation, used when the entry points are made (entry_points.hpp).
#pragma once

#include "kernel_ir/stage_values.hpp"
#include "kernel_ir/stitching.hpp"
#include "kernel_ir/struct_fields.hpp"
#include "msl/facts/stages.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace smelt::aot::msl {

/// Of a value that a stage gets or gives.
struct ValueShape {
  unsigned lanes = 1;
  unsigned bits = 32;  ///< of a lane
  bool is_float = false;
  unsigned count = 0;             ///< of an array; 0: none
  bool is_interpolant = false;    ///< what stands for the value, until the fragment asks for it
  std::optional<unsigned> space;  ///< a pointer to this space, or the handle of a texture or sampler
  bool is_wrapped = false;        ///< that handle, in a structure of its own
};

/// What a vertex or fragment function returns: a member of its structure, or the value itself.
struct ResultFact {
  std::vector<std::string> words;  ///< as above
  std::string name;                ///< of the member
  std::string type_name;
  std::string condition;  ///< as of a parameter
  ValueShape value;
  std::optional<uint64_t> offset;  ///< of the member
};

/// One parameter of AIR's. A structure that is [[stage_in]] is several of them.
struct ParameterFact {
  std::optional<BindingClass> binding = BindingClass::buffer;  ///< nothing: a hardware value or a stage's
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
  ValueShape value;                 ///< of what is not bound
  Access access = Access::none;     ///< of a texture
  uint32_t count = 0;               ///< of an array of textures or samplers; 0: none
  unsigned source = 0;              ///< which parameter of the source it is, or is in
  std::optional<uint64_t> offset;   ///< of a member of that parameter, in bytes
  std::vector<std::string> words;   ///< of what a stage gets: AIR's (kernel_ir/stage_values.hpp)
  std::optional<unsigned> raster_order_group;
  std::vector<ResultFact> members;               ///< of the control points of a patch
  std::vector<ResultFact> vertices, primitives;  ///< members of what a mesh consists of
  std::vector<ResultFact> planes;  ///< members of an imageblock; without lanes what cannot be written whole
};

/// Not memory, but what stands for a texture, a sampler or a tensor.
inline bool is_handle(const ParameterFact& parameter) {
  if (!parameter.binding) return false;
  return form_of(*parameter.binding) == BindingForm::handle || form_of(*parameter.binding) == BindingForm::record;
}

struct KernelFact {
  std::string name;    ///< that the API sees
  std::string symbol;  ///< Clang's, in the module
  std::optional<unsigned> max_threads;
  unsigned source_parameters = 0;  ///< how many the source has
  std::vector<ParameterFact> parameters;
  Stage stage = Stage::kernel;
  std::vector<ResultFact> results;
  bool early_fragment_tests = false;
  std::vector<std::string> extra;                 ///< AIR's words behind its inputs
  std::vector<kernel_ir::StitchValue> stitching;  ///< of a [[stitchable]] function
  bool is_external = false;                       ///< no kernel: a function that other objects may call, by its symbol
};

/// constant T name [[function_constant(index)]];
struct ConstantFact {
  std::string name;
  std::string symbol;
  std::string type_name;
  unsigned index = 0;
};

}  // namespace smelt::aot::msl
