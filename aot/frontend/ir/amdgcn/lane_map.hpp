// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which lane each cross-lane operation of RDNA reads, for all 32 lanes at once (docs/formats/triton-amdgcn.md 4.1).
// Pure functions of the operation's constant operands.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace smelt::aot::input::amdgcn {

constexpr int kLanes = 32;
constexpr int8_t kOutside = -1;  ///< the source would lie outside the row

/// Entry l: the lane that lane l reads.
using LaneMap = std::array<int8_t, kLanes>;

/// ds.swizzle's offset; nothing for the modes that only other chips have.
std::optional<LaneMap> swizzle_map(uint32_t offset);

/// update.dpp's control; nothing for controls that GFX10 and later refuse.
std::optional<LaneMap> dpp_map(uint32_t control);

/// permlane16 (`across` false) and permlanex16 (true): a selector of 4 bits a lane, lanes 0-7 of a row from `low`.
LaneMap permlane_map(uint32_t low, uint32_t high, bool across);

/// Lanes that update.dpp writes: those whose row and bank bits are both set. Bit l for lane l.
uint32_t dpp_written(uint32_t row_mask, uint32_t bank_mask);

/// How a map can be computed, cheapest first.
struct LaneFormula {
  enum class Kind : uint8_t { same, exclusive_or, broadcast, bits, offset, table } kind = Kind::table;
  uint32_t a = 0;  ///< exclusive_or: mask; broadcast: lane; bits: and-mask; offset: what is added, modulo 32
  uint32_t b = 0;  ///< bits: xor-mask
  std::array<uint32_t, 5> planes{};  ///< table: bit l of plane i is bit i of lane l's source
};

/// A formula that is right in every lane whose source is inside.
LaneFormula formula_of(const LaneMap& map);

/// Bit l: the source of lane l is inside.
uint32_t inside_mask(const LaneMap& map);

}  // namespace smelt::aot::input::amdgcn
