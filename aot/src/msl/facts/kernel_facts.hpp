// What the source says about kernels and function constants, as plain records: read from Clang's tree before code
// generation, used when the entry points are made (entry_points.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace smelt::aot::msl {

enum class ParameterKind : uint8_t { buffer, threadgroup, builtin };

/// A member of the struct behind a buffer, for "air.struct_type_info".
struct FieldFact {
  uint64_t offset = 0;
  uint64_t size = 0;            ///< of one element
  uint64_t count = 0;           ///< array elements; 0: no array
  std::string type_name, name;  ///< the type of a pointer's target
  uint64_t id = 0;              ///< [[id(n)]], or what follows from the members before; of argument buffers
  unsigned space = 0;           ///< of a pointer's target; 0: no pointer
  bool is_const = false;        ///< the target
  uint64_t target_size = 0, target_align = 0;
};

struct ParameterFact {
  ParameterKind kind = ParameterKind::buffer;
  std::string name;
  std::string type_name;  ///< of the pointee, or of the hardware value: "float4", "uint3"
  unsigned space = 0;
  bool is_reference = false;
  bool is_const = false;  ///< the pointee
  uint64_t size = 0;      ///< of the pointee; 0: void
  uint64_t align = 0;
  std::optional<unsigned> slot;  ///< always set in the end for buffers and threadgroup memory
  std::string condition;         ///< symbol of the function constant that decides whether the argument exists
  std::vector<FieldFact> fields;
  bool is_argument_buffer = false;  ///< a member is a pointer or has an [[id]]
  std::string builtin;              ///< "thread_position_in_grid"
  unsigned lanes = 1;               ///< of the hardware value
  unsigned bits = 32;               ///< of a lane
};

struct KernelFact {
  std::string name;    ///< that the API sees
  std::string symbol;  ///< Clang's, in the module
  std::optional<unsigned> max_threads;
  std::vector<ParameterFact> parameters;
};

/// constant T name [[function_constant(index)]];
struct ConstantFact {
  std::string name;
  std::string symbol;
  std::string type_name;
  unsigned index = 0;
};

}  // namespace smelt::aot::msl
