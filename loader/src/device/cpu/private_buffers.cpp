// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "private_buffers.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>

namespace smelt::loader {
namespace {

using Operation = schema::CpuPrivateBuffer::Operation;

uint32_t neutral(Operation operation) {
  switch (operation) {
    case Operation::add_i32:
    case Operation::max_u32:
    case Operation::or_i32:
    case Operation::xor_i32:
      return 0;
    case Operation::add_f32:
      return 0x80000000;  // -0.0: the only value that changes no sum, not even -0.0
    case Operation::min_s32:
      return uint32_t(std::numeric_limits<int32_t>::max());
    case Operation::max_s32:
      return uint32_t(std::numeric_limits<int32_t>::min());
    case Operation::min_u32:
    case Operation::and_i32:
      return ~uint32_t{0};
  }
  return 0;
}

uint32_t apply(Operation operation, uint32_t a, uint32_t b) {
  switch (operation) {
    case Operation::add_i32:
      return a + b;
    case Operation::add_f32:
      return std::bit_cast<uint32_t>(std::bit_cast<float>(a) + std::bit_cast<float>(b));
    case Operation::min_s32:
      return uint32_t(std::min(int32_t(a), int32_t(b)));
    case Operation::max_s32:
      return uint32_t(std::max(int32_t(a), int32_t(b)));
    case Operation::min_u32:
      return std::min(a, b);
    case Operation::max_u32:
      return std::max(a, b);
    case Operation::and_i32:
      return a & b;
    case Operation::or_i32:
      return a | b;
    case Operation::xor_i32:
      return a ^ b;
  }
  return a;
}

}  // namespace

void fill_neutral(Operation operation, std::span<std::byte> copy) {
  const uint32_t value = neutral(operation);
  for (size_t at = 0; at + sizeof(value) <= copy.size(); at += sizeof(value))
    std::memcpy(copy.data() + at, &value, sizeof(value));
}

void merge_private(Operation operation, std::span<std::byte> into, std::span<const std::byte> from) {
  const uint32_t nothing = neutral(operation);
  for (size_t at = 0; at + sizeof(uint32_t) <= into.size(); at += sizeof(uint32_t)) {
    uint32_t own = 0;
    std::memcpy(&own, from.data() + at, sizeof(own));
    if (own == nothing) continue;
    const std::atomic_ref place(*reinterpret_cast<uint32_t*>(into.data() + at));
    uint32_t old = place.load(std::memory_order_relaxed);
    while (!place.compare_exchange_weak(old, apply(operation, old, own), std::memory_order_relaxed)) {
    }
  }
}

}  // namespace smelt::loader
