// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "diff/deviation.hpp"

#include "smelt/base/floats.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>

namespace smelt::cli {
namespace {

using loader::ScalarType;

struct ElementType {
  const char* name;
  ScalarType scalar;
};
constexpr ElementType kTypes[] = {
    {"byte", ScalarType::unknown}, {"bool", ScalarType::boolean}, {"char", ScalarType::i8},
    {"uchar", ScalarType::u8},     {"short", ScalarType::i16},    {"ushort", ScalarType::u16},
    {"int", ScalarType::i32},      {"uint", ScalarType::u32},     {"long", ScalarType::i64},
    {"ulong", ScalarType::u64},    {"half", ScalarType::f16},     {"bfloat", ScalarType::bf16},
    {"float", ScalarType::f32},
};

const char* name_of(ScalarType type) {
  for (const ElementType& one : kTypes)
    if (one.scalar == type) return one.name;
  return "byte";
}

bool is_floating(ScalarType type) {
  return type == ScalarType::f16 || type == ScalarType::bf16 || type == ScalarType::f32;
}

bool is_signed(ScalarType type) {
  return type == ScalarType::i8 || type == ScalarType::i16 || type == ScalarType::i32 || type == ScalarType::i64;
}

uint64_t load(ByteView bytes, size_t at, uint32_t width) {
  uint64_t value = 0;
  for (uint32_t i = 0; i < width; ++i) value |= uint64_t{std::to_integer<uint8_t>(bytes[at + i])} << (8 * i);
  return value;
}

double to_real(uint64_t bits, ScalarType type) {
  if (type == ScalarType::f16) return from_half_bits(static_cast<uint16_t>(bits));
  if (type == ScalarType::bf16) return from_bfloat_bits(static_cast<uint16_t>(bits));
  return std::bit_cast<float>(static_cast<uint32_t>(bits));
}

/// Neighbouring numbers have neighbouring places; both zeros have the same.
int64_t place_of(uint64_t bits, uint32_t width) {
  const uint64_t sign = uint64_t{1} << (8 * width - 1);
  return (bits & sign) != 0 ? -static_cast<int64_t>(bits & (sign - 1)) : static_cast<int64_t>(bits);
}

std::string value_text(uint64_t bits, ScalarType type, uint32_t width) {
  if (type == ScalarType::f32) return fmt::format("{}", static_cast<float>(to_real(bits, type)));
  if (is_floating(type)) return fmt::format("{:.6g}", to_real(bits, type));
  if (is_signed(type)) {
    const unsigned unused = 64 - 8 * width;
    return fmt::format("{}", static_cast<int64_t>(bits << unused) >> unused);
  }
  return fmt::format("{}", bits);
}

/// Whether the four bytes where the two differ are floats of a size that results have, all of them.
bool look_like_floats(ByteView a, ByteView b) {
  const auto plausible = [](uint64_t bits) {
    const double value = std::fabs(to_real(bits, ScalarType::f32));
    return value == 0 || (value > 1e-12 && value < 1e12);
  };
  if (a.size() % 4 != 0) return false;
  for (size_t at = 0; at < a.size(); at += 4) {
    const uint64_t in_a = load(a, at, 4), in_b = load(b, at, 4);
    if (in_a != in_b && !(plausible(in_a) && plausible(in_b))) return false;
  }
  return true;
}

class Measure {
 public:
  Measure(ScalarType type, Deviation& result)
      : type_(type), width_(type == ScalarType::unknown ? 1 : loader::bytes_of(type)), result_(result) {}

  void all(ByteView a, ByteView b) {
    result_.type = name_of(type_);
    result_.elements = a.size() / width_;
    for (uint64_t i = 0; i < result_.elements; ++i) {
      const uint64_t in_a = load(a, i * width_, width_), in_b = load(b, i * width_, width_);
      if (in_a == in_b) continue;
      if (is_floating(type_))
        floating(i, in_a, in_b);
      else if (result_.different++ == 0)
        keep(i, in_a, in_b);
    }
  }

 private:
  void keep(uint64_t at, uint64_t in_a, uint64_t in_b) {
    result_.at = at;
    result_.a = value_text(in_a, type_, width_);
    result_.b = value_text(in_b, type_, width_);
  }

  void floating(uint64_t at, uint64_t in_a, uint64_t in_b) {
    const double real_a = to_real(in_a, type_), real_b = to_real(in_b, type_);
    if (std::isnan(real_a) && std::isnan(real_b)) return;  // which NaN it is means nothing
    ++result_.different;
    if (!std::isfinite(real_a) || !std::isfinite(real_b)) {
      if (result_.not_numbers++ == 0 && !result_.ulps) keep(at, in_a, in_b);
      return;
    }
    const int64_t distance = place_of(in_a, width_) - place_of(in_b, width_);
    const auto ulps = static_cast<uint64_t>(distance < 0 ? -distance : distance);
    if (!result_.ulps || ulps > *result_.ulps) {
      result_.ulps = ulps;
      keep(at, in_a, in_b);
    }
    if (real_a != 0) result_.relative = std::max(result_.relative.value_or(0), std::fabs((real_b - real_a) / real_a));
  }

  ScalarType type_;
  uint32_t width_;
  Deviation& result_;
};

}  // namespace

Deviation deviation_of(ByteView a, ByteView b, std::string_view type_name) {
  Deviation result;
  if (a.size() != b.size() || std::memcmp(a.data(), b.data(), a.size()) == 0) return result;
  ScalarType type = loader::parse_value_type(type_name).scalar;
  // Pointers without a type of their own are chars.
  if (type == ScalarType::i8) type = ScalarType::unknown;
  if (type == ScalarType::unknown && look_like_floats(a, b)) type = ScalarType::f32;
  Measure(type, result).all(a, b);
  return result;
}

}  // namespace smelt::cli
