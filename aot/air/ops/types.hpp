// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Types as AIR's operation names spell them: i32, bf16, v4f16, p3f32 (docs/formats/air.md 3.1). A value type of our
// own, because LLVM 19 has no pointee and because names must be readable without a context.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace llvm {
class LLVMContext;
class Type;
}  // namespace llvm

namespace smelt::aot::air {

struct AirType {
  enum class Kind : uint8_t { nothing, integer, half, bfloat, single, handle };

  Kind kind = Kind::nothing;
  uint8_t bits = 0;              ///< of one lane
  uint8_t lanes = 1;             ///< 1 is a scalar; 64 a simdgroup matrix
  uint8_t indirections = 0;      ///< 1: a pointer to this; 2: a pointer to a thread pointer to it
  uint8_t space = 0;             ///< of the outermost pointer
  bool with_residency = false;   ///< a texture answer: { this, i8 }
  std::string_view handle_name;  ///< kind handle: "texture_2d", static storage or the name it was parsed from

  bool is_pointer() const { return indirections != 0; }
  bool is_float() const { return kind == Kind::half || kind == Kind::bfloat || kind == Kind::single; }
  bool is_integer() const { return kind == Kind::integer; }
  bool operator==(const AirType&) const = default;

  AirType lane() const;  ///< the type of one lane
  AirType with_lanes(uint8_t count) const;
  AirType pointer_in(uint8_t address_space) const;
};

/// "i32", "f16", "v2i64", "p3f32", "v64bf16"; nothing else.
std::optional<AirType> parse_air_type(std::string_view text);

/// The spelling that parse_air_type() reads.
std::string spell(const AirType& type);

/// LLVM 14 text with typed pointers, e.g. "half addrspace(3)*", as in Apple's own declarations.
std::string typed_text(const AirType& type);

/// LLVM 19: every pointer is `ptr addrspace(N)`.
llvm::Type* llvm_type(const AirType& type, llvm::LLVMContext& context);

/// The other way; empty for what no AIR name can spell (double, i48, aggregates, pointers).
std::optional<AirType> air_type(const llvm::Type* type);

}  // namespace smelt::aot::air
