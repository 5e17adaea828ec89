// Function constants fitted to the kernel's own types: bytes that a device can use and a cache can compare.
#pragma once

#include "smelt/loader/constants.hpp"

#include <span>

namespace smelt::loader {

enum class ScalarType : uint8_t { boolean, i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32 };

struct ConstantType {
  ScalarType scalar = ScalarType::i32;
  uint32_t components = 1;
};
/// "bool", "uint", "half4", ...; nullopt for anything else.
std::optional<ConstantType> parse_constant_type(std::string_view name);
uint32_t bytes_of(ScalarType type);

struct BoundConstant {
  uint32_t index = 0;
  ConstantType type;
  std::string type_name;
  Bytes bytes;  ///< components in order, little-endian, without the padding of 3-vectors
};

/// Checks every given value against the declarations and every declaration against what is given.
/// Errors: constant_unknown, constant_type, constant_missing. Result is ascending by index.
Result<std::vector<BoundConstant>> bind_constants(std::string_view function, std::span<const ConstantInfo> declared,
                                                  const ConstantValues& given);

/// Typed and length-prefixed, so that no two different sets of values look alike (a peer's cache joined fields
/// without separators and returned the wrong pipeline).
void append_key(std::string& key, std::span<const BoundConstant> constants);

}  // namespace smelt::loader
