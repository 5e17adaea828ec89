// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/amdgcn/lane_map.hpp"

namespace smelt::aot::input::amdgcn {
namespace {

template <class Source>
LaneMap make_map(Source source) {
  LaneMap map{};
  for (int lane = 0; lane < kLanes; ++lane) map[static_cast<size_t>(lane)] = static_cast<int8_t>(source(lane));
  return map;
}

int quad_source(int lane, uint32_t selectors) {
  return (lane & ~3) | static_cast<int>((selectors >> (2 * (lane & 3))) & 3);
}

/// Whether `formula` gives the right lane everywhere inside.
template <class Formula>
bool fits(const LaneMap& map, Formula formula) {
  for (int lane = 0; lane < kLanes; ++lane) {
    const int source = map[static_cast<size_t>(lane)];
    if (source != kOutside && source != (static_cast<int>(formula(lane)) & (kLanes - 1))) return false;
  }
  return true;
}

}  // namespace

std::optional<LaneMap> swizzle_map(uint32_t offset) {
  offset &= 0xffff;
  if (offset >= 0xc000) return std::nullopt;  // rotations and FFT order
  if (offset & 0x8000) return make_map([&](int lane) { return quad_source(lane, offset); });
  const int keep = static_cast<int>(offset & 31), set = static_cast<int>((offset >> 5) & 31),
            flip = static_cast<int>((offset >> 10) & 31);
  return make_map([&](int lane) { return ((lane & keep) | set) ^ flip; });
}

std::optional<LaneMap> dpp_map(uint32_t control) {
  const int n = static_cast<int>(control & 15);
  const auto in_row = [&](auto place) {
    return make_map([&](int lane) {
      const int source = place(lane & 15);
      return source < 0 || source > 15 ? int{kOutside} : (lane & 16) | source;
    });
  };
  if (control <= 0xff) return make_map([&](int lane) { return quad_source(lane, control); });
  if (control >= 0x101 && control <= 0x10f) return in_row([&](int i) { return i + n; });
  if (control >= 0x111 && control <= 0x11f) return in_row([&](int i) { return i - n; });
  if (control >= 0x121 && control <= 0x12f) return in_row([&](int i) { return (i - n) & 15; });
  if (control == 0x140) return in_row([](int i) { return 15 - i; });
  if (control == 0x141) return in_row([](int i) { return (i & 8) | (7 - (i & 7)); });
  if (control >= 0x150 && control <= 0x15f) return in_row([&](int) { return n; });
  if (control >= 0x160 && control <= 0x16f) return in_row([&](int i) { return i ^ n; });
  return std::nullopt;
}

LaneMap permlane_map(uint32_t low, uint32_t high, bool across) {
  return make_map([&](int lane) {
    const uint32_t selectors = lane & 8 ? high : low;
    const int nibble = static_cast<int>((selectors >> (4 * (lane & 7))) & 15);
    return ((lane & 16) ^ (across ? 16 : 0)) | nibble;
  });
}

uint32_t dpp_written(uint32_t row_mask, uint32_t bank_mask) {
  uint32_t written = 0;
  for (uint32_t lane = 0; lane < kLanes; ++lane)
    if ((row_mask >> (lane >> 4) & 1) && (bank_mask >> ((lane & 15) >> 2) & 1)) written |= 1u << lane;
  return written;
}

uint32_t inside_mask(const LaneMap& map) {
  uint32_t inside = 0;
  for (uint32_t lane = 0; lane < kLanes; ++lane)
    if (map[lane] != kOutside) inside |= 1u << lane;
  return inside;
}

LaneFormula formula_of(const LaneMap& map) {
  using Kind = LaneFormula::Kind;
  for (uint32_t mask = 0; mask < kLanes; ++mask)
    if (fits(map, [&](int lane) { return static_cast<uint32_t>(lane) ^ mask; }))
      return {mask == 0 ? Kind::same : Kind::exclusive_or, mask, 0, {}};
  for (uint32_t from = 0; from < kLanes; ++from)
    if (fits(map, [&](int) { return from; })) return {Kind::broadcast, from, 0, {}};
  for (uint32_t keep = 0; keep < kLanes; ++keep)
    for (uint32_t flip = 0; flip < kLanes; ++flip)
      if (fits(map, [&](int lane) { return (static_cast<uint32_t>(lane) & keep) ^ flip; }))
        return {Kind::bits, keep, flip, {}};
  for (uint32_t by = 0; by < kLanes; ++by)
    if (fits(map, [&](int lane) { return static_cast<uint32_t>(lane) + by; })) return {Kind::offset, by, 0, {}};
  LaneFormula table;
  for (uint32_t lane = 0; lane < kLanes; ++lane)
    for (uint32_t bit = 0; bit < 5; ++bit)
      if (map[lane] != kOutside && (map[lane] >> bit & 1)) table.planes[bit] |= 1u << lane;
  return table;
}

}  // namespace smelt::aot::input::amdgcn
