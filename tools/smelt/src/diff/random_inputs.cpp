// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "diff/random_inputs.hpp"

#include "smelt/base/floats.hpp"

#include <bit>

namespace smelt::cli {
namespace {

using loader::ScalarType;

/// std's distributions may differ between libraries; its engines may not.
class Numbers {
 public:
  Numbers(const InputStyle& style, uint64_t salt) : engine_(style.seed * 1000 + salt), style_(style) {}

  uint32_t below(uint32_t bound) { return static_cast<uint32_t>(engine_() >> 32) % bound; }
  float real() { return style_.low + (style_.high - style_.low) * static_cast<float>(engine_() >> 40) * 0x1p-24F; }

  /// An element of that type, little-endian in the low bytes.
  uint64_t element(ScalarType type, bool is_count) {
    switch (type) {
      case ScalarType::f32:
        return std::bit_cast<uint32_t>(real());
      case ScalarType::f16:
        return to_half_bits(real());
      case ScalarType::bf16:
        return to_bfloat_bits(real());
      case ScalarType::boolean:
        return below(2);
      case ScalarType::i64:
      case ScalarType::u64:
        return is_count ? uint64_t{64} * (1 + below(4)) : below(32);
      case ScalarType::i8:
      case ScalarType::u8:
        return is_count ? 1 + below(style_.count) : below(256);
      default:
        return is_count ? std::max(1U, style_.count - below(2)) : below(32);
    }
  }

  /// Two halves between 2^-7 and 2, whose upper one makes a float, and a bfloat, of that kind.
  uint32_t any_word() { return style_.indexes ? below(32) : (0x3C00 + below(0x400)) << 16 | (0x3800 + below(0x800)); }

 private:
  std::mt19937_64 engine_;
  const InputStyle& style_;
};

void put(Bytes& out, size_t at, uint64_t value, size_t size) {
  for (size_t i = 0; i < size && at + i < out.size(); ++i) out[at + i] = std::byte(value >> (8 * i));
}

void put_value(Bytes& out, size_t at, size_t size, const loader::ValueType& type, bool is_count, Numbers& numbers) {
  const uint32_t width = loader::bytes_of(type.scalar);
  for (size_t k = 0; width != 0 && (k + 1) * width <= size; ++k)
    put(out, at + k * width, numbers.element(type.scalar, is_count), width);
}

}  // namespace

Bytes random_contents(const aot::ArgumentInfo& argument, const InputStyle& style, size_t bytes) {
  constexpr uint8_t kConstantSpace = 2;
  const bool is_count = argument.address_space == kConstantSpace;
  Numbers numbers(style, argument.location);
  Bytes out(bytes);
  for (size_t at = 0; at < bytes; at += 4) put(out, at, numbers.any_word(), 4);
  const loader::ValueType type = loader::parse_value_type(argument.type_name);
  // The pointee of untyped pointers is a char: its bytes stay words.
  const bool typed = type.components != 0 && (loader::bytes_of(type.scalar) > 1 || argument.type_name == "bool");
  if (typed) put_value(out, 0, bytes, type, is_count, numbers);
  if (argument.fields.empty() || argument.size == 0) return out;
  for (size_t base = 0; base < bytes; base += argument.size)
    for (const aot::FieldInfo& field : argument.fields)
      for (uint32_t k = 0; k < std::max(field.count, 1U) && field.size != 0 && base + field.offset < bytes; ++k)
        put_value(out, base + field.offset + size_t{k} * field.size, field.size,
                  loader::parse_value_type(field.type_name), is_count, numbers);
  return out;
}

std::optional<loader::ConstantValue> random_constant(const aot::ConstantInfo& constant, const InputStyle& style) {
  const loader::ValueType type = loader::parse_value_type(constant.type_name);
  if (type.components == 0) return std::nullopt;
  loader::ConstantValue value{.key = constant.index, .components = {}};
  for (uint32_t i = 0; i < type.components; ++i) {
    switch (type.scalar) {
      case ScalarType::boolean:
        value.components.emplace_back(style.flag);
        break;
      case ScalarType::f32:
      case ScalarType::f16:
      case ScalarType::bf16:
        value.components.emplace_back(0.5);
        break;
      default:
        value.components.emplace_back(int64_t{style.count});
    }
  }
  return value;
}

}  // namespace smelt::cli
