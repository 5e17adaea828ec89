#include "smelt/base/floats.hpp"

#include "constants_bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

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

std::string describe(const ConstantInfo& constant) {
  return constant.name.empty() ? fmt::format("#{}", constant.index)
                               : fmt::format("'{}' (#{})", constant.name, constant.index);
}

std::string describe(const Scalar& value) {
  if (const bool* b = std::get_if<bool>(&value)) return *b ? "true" : "false";
  return std::visit([](auto v) { return fmt::format("{}", v); }, value);
}

tl::unexpected<Error> unknown_constant(std::string_view function, std::span<const ConstantInfo> declared,
                                       const ConstantValue& value) {
  std::string known;
  for (const ConstantInfo& constant : declared) known += (known.empty() ? "" : ", ") + describe(constant);
  const std::string asked = std::holds_alternative<std::string>(value.key)
                                ? fmt::format("'{}'", std::get<std::string>(value.key))
                                : fmt::format("#{}", std::get<uint32_t>(value.key));
  return fail(Errc::constant_unknown, "function '{}' has no constant {}; it has {}", function, asked,
              known.empty() ? "none" : known);
}

}  // namespace

std::optional<ConstantType> parse_constant_type(std::string_view name) {
  for (const Word& word : kWords) {
    if (!name.starts_with(word.name)) continue;
    const std::string_view rest = name.substr(word.name.size());
    if (rest.empty()) return ConstantType{word.type, 1};
    if (rest.size() == 1 && rest[0] >= '2' && rest[0] <= '4') return ConstantType{word.type, uint32_t(rest[0] - '0')};
  }
  return std::nullopt;
}

uint32_t bytes_of(ScalarType type) {
  switch (type) {
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

Result<std::vector<BoundConstant>> bind_constants(std::string_view function, std::span<const ConstantInfo> declared,
                                                  const ConstantValues& given) {
  std::map<uint32_t, BoundConstant> bound;
  for (const ConstantValue& value : given.values()) {
    const auto info = std::find_if(declared.begin(), declared.end(), [&](const ConstantInfo& constant) {
      if (const uint32_t* index = std::get_if<uint32_t>(&value.key)) return constant.index == *index;
      return constant.name == std::get<std::string>(value.key);
    });
    if (info == declared.end()) return unknown_constant(function, declared, value);
    const auto type = parse_constant_type(info->type_name);
    if (!type)
      return fail(Errc::constant_type, "function '{}': constant {} is of type '{}', which this loader cannot set",
                  function, describe(*info), info->type_name);
    if (value.components.size() != type->components)
      return fail(Errc::constant_type, "function '{}': constant {} is a {}; {} components were given, want {}",
                  function, describe(*info), info->type_name, value.components.size(), type->components);
    BoundConstant constant{info->index, *type, std::string(info->type_name), {}};
    for (const Scalar& component : value.components)
      if (!put_scalar(constant.bytes, type->scalar, component))
        return fail(Errc::constant_type, "function '{}': {} does not fit constant {} of type {}", function,
                    describe(component), describe(*info), info->type_name);
    if (!bound.emplace(info->index, std::move(constant)).second)
      return fail(Errc::invalid_argument, "function '{}': constant {} is given twice", function, describe(*info));
  }
  std::string missing;
  for (const ConstantInfo& constant : declared)
    if (constant.required && !bound.contains(constant.index))
      missing += fmt::format("{}{} of type {}", missing.empty() ? "" : ", ", describe(constant), constant.type_name);
  if (!missing.empty())
    return fail(Errc::constant_missing, "function '{}' is not given every constant that it needs: missing {}", function,
                missing);
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
    field(as_text(constant.bytes));
  }
}

}  // namespace smelt::loader
