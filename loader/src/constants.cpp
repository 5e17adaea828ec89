// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/base/floats.hpp"

#include "constants_bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace smelt::loader {
namespace {

/// Integer part of a scalar as sign and magnitude; nullopt for a float with a fraction or out of 64 bits.
struct Integer {
  bool negative;
  uint64_t magnitude;
};
std::optional<Integer> as_integer(const Scalar& value) {
  if (const bool* b = std::get_if<bool>(&value)) return Integer{false, *b ? 1u : 0u};
  if (const int64_t* i = std::get_if<int64_t>(&value))
    return Integer{*i < 0, *i < 0 ? uint64_t{0} - uint64_t(*i) : uint64_t(*i)};
  if (const uint64_t* u = std::get_if<uint64_t>(&value)) return Integer{false, *u};
  const double d = std::get<double>(value);
  if (!(std::abs(d) < 0x1p63) || d != std::trunc(d)) return std::nullopt;
  return Integer{d < 0, uint64_t(std::abs(d))};
}

double as_double(const Scalar& value) {
  return std::visit([](auto v) { return static_cast<double>(v); }, value);
}

template <std::unsigned_integral T>
void put(Bytes& out, T value) {
  const size_t at = out.size();
  out.resize(at + sizeof(T));
  store_le(out.data() + at, value);
}

bool put_integer(Bytes& out, ScalarType type, const Scalar& value) {
  const auto integer = as_integer(value);
  if (!integer) return false;
  const uint32_t bytes = bytes_of(type);
  const bool is_signed =
      type == ScalarType::i8 || type == ScalarType::i16 || type == ScalarType::i32 || type == ScalarType::i64;
  const uint64_t most = (bytes == 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * bytes)) - 1) >> (is_signed ? 1 : 0);
  if (integer->negative && !is_signed && integer->magnitude != 0) return false;
  if (integer->magnitude > most + (integer->negative ? 1 : 0)) return false;
  const uint64_t bits = integer->negative ? uint64_t{0} - integer->magnitude : integer->magnitude;
  for (uint32_t i = 0; i < bytes; ++i) out.push_back(std::byte(bits >> (8 * i)));
  return true;
}

bool put_scalar(Bytes& out, ScalarType type, const Scalar& value) {
  switch (type) {
    case ScalarType::boolean: {
      const auto integer = as_integer(value);
      if (!integer || integer->magnitude > 1 || integer->negative) return false;
      out.push_back(std::byte(integer->magnitude));
      return true;
    }
    case ScalarType::f16:
    case ScalarType::bf16:
    case ScalarType::f32: {
      const double wide = as_double(value);
      const float narrow = static_cast<float>(wide);
      if (std::isfinite(wide) && !std::isfinite(narrow)) return false;
      if (type == ScalarType::f32) {
        put(out, std::bit_cast<uint32_t>(narrow));
        return true;
      }
      const uint16_t bits = type == ScalarType::f16 ? to_half_bits(narrow) : to_bfloat_bits(narrow);
      const uint16_t infinity = type == ScalarType::f16 ? 0x7c00 : 0x7f80;
      if (std::isfinite(narrow) && (bits & 0x7fff) == infinity) return false;
      put(out, bits);
      return true;
    }
    default:
      return put_integer(out, type, value);
  }
}

Scalar infinity_like(const Scalar& value) {
  return std::copysign(std::numeric_limits<double>::infinity(), as_double(value));
}

/// The value as C converts it; never refuses. Floats outside an integer's range become its nearest end, as on a GPU.
Scalar converted(ScalarType type, const Scalar& value) {
  if (type == ScalarType::f16 || type == ScalarType::bf16 || type == ScalarType::f32) return as_double(value);
  if (type == ScalarType::boolean) return std::visit([](auto v) { return v != decltype(v){}; }, value);
  const int bits = 8 * static_cast<int>(bytes_of(type));
  const bool is_signed =
      type == ScalarType::i8 || type == ScalarType::i16 || type == ScalarType::i32 || type == ScalarType::i64;
  if (const double* real = std::get_if<double>(&value)) {
    const double least = is_signed ? -std::ldexp(1.0, bits - 1) : 0,
                 past = std::ldexp(1.0, is_signed ? bits - 1 : bits);
    if (std::isnan(*real)) return uint64_t{0};
    if (*real <= least) return is_signed ? Scalar(std::numeric_limits<int64_t>::min() >> (64 - bits)) : uint64_t{0};
    if (*real >= past) return (~uint64_t{0} >> (64 - bits)) >> (is_signed ? 1 : 0);
    return *real < 0 ? Scalar(static_cast<int64_t>(*real)) : Scalar(static_cast<uint64_t>(*real));
  }
  const auto word = std::visit([](auto v) { return static_cast<uint64_t>(v); }, value) << (64 - bits);  // its low bits
  return is_signed ? Scalar(static_cast<int64_t>(word) >> (64 - bits)) : Scalar(word >> (64 - bits));
}

std::string describe(const ConstantInfo& constant) {
  return constant.name.empty() ? fmt::format("#{}", constant.index)
                               : fmt::format("'{}' (#{})", constant.name, constant.index);
}

std::string describe(const Scalar& value) {
  if (const bool* b = std::get_if<bool>(&value)) return *b ? "true" : "false";
  return std::visit([](auto v) { return fmt::format("{}", v); }, value);
}

/// Values that the function has no constant for, as a message's last words: one of them may be a name mistyped.
std::string without_constant(const std::vector<const ConstantValue*>& values) {
  std::string names;
  for (const ConstantValue* value : values)
    names += fmt::format("{}{}", names.empty() ? "" : ", ",
                         std::holds_alternative<std::string>(value->key)
                             ? fmt::format("'{}'", std::get<std::string>(value->key))
                             : fmt::format("#{}", std::get<uint32_t>(value->key)));
  return names.empty() ? names : fmt::format("; it has no constant {}, which was given", names);
}

}  // namespace

Result<std::vector<BoundConstant>> bind_constants(std::string_view function, std::span<const ConstantInfo> declared,
                                                  const ConstantValues& given) {
  std::map<uint32_t, BoundConstant> bound;
  std::vector<const ConstantValue*> others;
  for (const ConstantValue& value : given.values()) {
    const auto info = std::find_if(declared.begin(), declared.end(), [&](const ConstantInfo& constant) {
      if (const uint32_t* index = std::get_if<uint32_t>(&value.key)) return constant.index == *index;
      return constant.name == std::get<std::string>(value.key);
    });
    // As in Metal, values may be given that another function of the source has a use for.
    if (info == declared.end()) {
      others.push_back(&value);
      continue;
    }
    const ValueType type = parse_value_type(info->type_name);
    if (type.components == 0)
      return fail(Errc::constant_type, "function '{}': constant {} is of type '{}', which this loader cannot set",
                  function, describe(*info), info->type_name);
    if (value.components.size() != type.components)
      return fail(Errc::constant_type, "function '{}': constant {} is a {}; {} components were given, want {}",
                  function, describe(*info), info->type_name, value.components.size(), type.components);
    BoundConstant constant{info->index, type, std::string(info->type_name), {}, true};
    for (const Scalar& component : value.components)
      if (!put_scalar(constant.bytes, type.scalar,
                      given.is_lenient() ? converted(type.scalar, component) : component) &&
          !(given.is_lenient() && put_scalar(constant.bytes, type.scalar, infinity_like(component))))
        return fail(Errc::constant_type, "function '{}': {} does not fit constant {} of type {}", function,
                    describe(component), describe(*info), info->type_name);
    if (!bound.emplace(info->index, std::move(constant)).second)
      return fail(Errc::invalid_argument, "function '{}': constant {} is given twice", function, describe(*info));
  }
  std::string missing;
  for (const ConstantInfo& constant : declared) {
    if (!constant.required || bound.contains(constant.index)) continue;
    if (const ValueType type = parse_value_type(constant.type_name); type.components != 0 && given.is_lenient())
      bound.emplace(constant.index, BoundConstant{constant.index, type, std::string(constant.type_name),
                                                  Bytes(type.components * bytes_of(type.scalar)), false});
    else
      missing += fmt::format("{}{} of type {}", missing.empty() ? "" : ", ", describe(constant), constant.type_name);
  }
  if (!missing.empty())
    return fail(Errc::constant_missing, "function '{}' is not given every constant that it needs: missing {}{}",
                function, missing, without_constant(others));
  std::vector<BoundConstant> result;
  for (auto& [index, constant] : bound) result.push_back(std::move(constant));
  return result;
}

void append_key(std::string& key, std::span<const BoundConstant> constants) {
  const auto field = [&key](std::string_view text) {
    std::byte length[4];
    store_le(length, uint32_t(text.size()));
    key += as_text(length);
    key += text;
  };
  for (const BoundConstant& constant : constants) {
    std::byte index[4];
    store_le(index, constant.index);
    field(as_text(index));
    field(constant.type_name);
    field(constant.given ? as_text(constant.bytes) : std::string_view());
  }
}

}  // namespace smelt::loader
