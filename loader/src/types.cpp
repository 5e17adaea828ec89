// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/loader/types.hpp"

#include "smelt/loader/device.hpp"

namespace smelt::loader {
namespace {

struct Word {
  std::string_view name;
  ScalarType type;
};
constexpr Word kWords[] = {
    {"bool", ScalarType::boolean}, {"char", ScalarType::i8},      {"uchar", ScalarType::u8},
    {"short", ScalarType::i16},    {"ushort", ScalarType::u16},   {"int", ScalarType::i32},
    {"uint", ScalarType::u32},     {"long", ScalarType::i64},     {"ulong", ScalarType::u64},
    {"half", ScalarType::f16},     {"bfloat", ScalarType::bf16},  {"float", ScalarType::f32},
    {"int8_t", ScalarType::i8},    {"uint8_t", ScalarType::u8},   {"int16_t", ScalarType::i16},
    {"uint16_t", ScalarType::u16}, {"int32_t", ScalarType::i32},  {"uint32_t", ScalarType::u32},
    {"int64_t", ScalarType::i64},  {"uint64_t", ScalarType::u64},
};

}  // namespace

std::string_view to_string(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::automatic:
      return "automatic";
    case DeviceKind::metal:
      return "metal";
    case DeviceKind::cpu:
      return "cpu";
    case DeviceKind::offline:
      return "offline";
  }
  return "unknown";
}

OwnedBytes copy_of(ByteView bytes) {
  auto copy = std::make_shared<const Bytes>(bytes.begin(), bytes.end());
  const ByteView view = *copy;
  return {view, std::move(copy)};
}

ValueType parse_value_type(std::string_view name) {
  for (const Word& word : kWords) {
    if (!name.starts_with(word.name)) continue;
    const std::string_view rest = name.substr(word.name.size());
    if (rest.empty()) return {word.type, 1};
    if (rest.size() == 1 && rest[0] >= '2' && rest[0] <= '4') return {word.type, uint32_t(rest[0] - '0')};
  }
  return {};
}

uint32_t bytes_of(ScalarType type) {
  switch (type) {
    case ScalarType::unknown:
      break;
    case ScalarType::boolean:
    case ScalarType::i8:
    case ScalarType::u8:
      return 1;
    case ScalarType::i16:
    case ScalarType::u16:
    case ScalarType::f16:
    case ScalarType::bf16:
      return 2;
    case ScalarType::i32:
    case ScalarType::u32:
    case ScalarType::f32:
      return 4;
    case ScalarType::i64:
    case ScalarType::u64:
      return 8;
  }
  return 0;
}

}  // namespace smelt::loader
