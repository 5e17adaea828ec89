// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "launch_order.hpp"

#include <bit>
#include <charconv>
#include <cstdlib>

namespace smelt::loader {
namespace {

uint64_t mixed(uint64_t value) {
  value ^= value >> 30;
  value *= 0xbf58476d1ce4e5b9u;
  value ^= value >> 27;
  value *= 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

/// A permutation of 0 .. 2^(2 * half) - 1: four rounds of a Feistel network.
uint64_t permuted(uint64_t value, unsigned half, uint64_t key) {
  const uint64_t mask = (uint64_t{1} << half) - 1;
  uint64_t left = value >> half;
  uint64_t right = value & mask;
  for (uint64_t round = 0; round < 4; ++round) {
    const uint64_t next = left ^ (mixed(right + key + (round << 56)) & mask);
    left = right;
    right = next;
  }
  return left << half | right;
}

}  // namespace

Result<LaunchOrder> LaunchOrder::parse(std::string_view text) {
  LaunchOrder order;
  constexpr std::string_view kRandom = "random:";
  if (text.empty()) return order;
  if (text == "forward") {
    order.kind_ = Kind::forward;
  } else if (text == "reverse") {
    order.kind_ = Kind::reverse;
  } else if (text.starts_with(kRandom)) {
    const std::string_view digits = text.substr(kRandom.size());
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), order.seed_);
    if (error != std::errc() || end != digits.data() + digits.size())
      return fail(Errc::invalid_argument, "SMELT_ORDER is '{}'; want forward, reverse or random:SEED", text);
    order.kind_ = Kind::random;
  } else {
    return fail(Errc::invalid_argument, "SMELT_ORDER is '{}'; want forward, reverse or random:SEED", text);
  }
  return order;
}

Result<LaunchOrder> LaunchOrder::of_environment() {
  const char* const text = std::getenv("SMELT_ORDER");
  return parse(text != nullptr ? text : "");
}

uint64_t LaunchOrder::at(uint64_t index, uint64_t count, uint64_t round) const {
  if (kind_ == Kind::reverse) return count - 1 - index;
  if (kind_ != Kind::random || count < 2) return index;
  const auto half = static_cast<unsigned>((std::bit_width(count - 1) + 1) / 2);
  // Walks on until it is back among those there are, so that it stays a permutation.
  uint64_t value = index;
  do value = permuted(value, half, mixed(seed_ + 1) + round * 0x9e3779b97f4a7c15u);
  while (value >= count);
  return value;
}

}  // namespace smelt::loader
