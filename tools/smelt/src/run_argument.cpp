// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run_argument.hpp"

#include "smelt/base/floats.hpp"

#include "png.hpp"

#include <charconv>
#include <filesystem>
#include <limits>

namespace smelt::cli {
namespace {

template <class T>
Result<T> parse_number(std::string_view text, std::string_view type) {
  T value{};
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || text.empty())
    return fail(Errc::invalid_argument, "'{}' is not a number of type {}", text, type);
  return value;
}

template <class Wide, class Narrow>
Result<void> put_integer(Bytes& out, std::string_view text, std::string_view type) {
  SMELT_TRY(const Wide value, parse_number<Wide>(text, type));
  if (value < std::numeric_limits<Narrow>::min() || value > std::numeric_limits<Narrow>::max())
    return fail(Errc::argument_type, "{} does not fit {}", text, type);
  out.resize(sizeof(Narrow));
  store_le(out.data(), static_cast<std::make_unsigned_t<Narrow>>(value));
  return {};
}

Result<Bytes> scalar_bytes(std::string_view type, std::string_view text) {
  Bytes out;
  if (type == "i8") SMELT_TRY_VOID(put_integer<int64_t, int8_t>(out, text, type));
  if (type == "i16") SMELT_TRY_VOID(put_integer<int64_t, int16_t>(out, text, type));
  if (type == "i32") SMELT_TRY_VOID(put_integer<int64_t, int32_t>(out, text, type));
  if (type == "i64") SMELT_TRY_VOID(put_integer<int64_t, int64_t>(out, text, type));
  if (type == "u8") SMELT_TRY_VOID(put_integer<uint64_t, uint8_t>(out, text, type));
  if (type == "u16") SMELT_TRY_VOID(put_integer<uint64_t, uint16_t>(out, text, type));
  if (type == "u32") SMELT_TRY_VOID(put_integer<uint64_t, uint32_t>(out, text, type));
  if (type == "u64") SMELT_TRY_VOID(put_integer<uint64_t, uint64_t>(out, text, type));
  if (type == "bool") {
    if (text != "0" && text != "1" && text != "true" && text != "false")
      return fail(Errc::argument_type, "'{}' is not a bool; want 0, 1, true or false", text);
    out.push_back(std::byte(text == "1" || text == "true" ? 1 : 0));
  }
  if (type == "f32" || type == "f16" || type == "bf16") {
    SMELT_TRY(const float value, parse_number<float>(text, type));
    const uint32_t bits = type == "f32"   ? std::bit_cast<uint32_t>(value)
                          : type == "f16" ? uint32_t{to_half_bits(value)}
                                          : uint32_t{to_bfloat_bits(value)};
    out.resize(type == "f32" ? 4 : 2);
    for (size_t i = 0; i < out.size(); ++i) out[i] = std::byte(bits >> (8 * i));
  }
  if (out.empty()) return fail(Errc::argument_type, "'{}' is not the type of a scalar argument", type);
  return out;
}

std::vector<std::string> split_names(std::string_view text) {
  std::vector<std::string> names;
  for (;;) {
    const size_t comma = text.find(',');
    names.emplace_back(text.substr(0, comma));
    if (comma == text.npos) return names;
    text.remove_prefix(comma + 1);
  }
}

Result<RunArgument> parse_words(const std::string& text) {
  RunArgument argument;
  if (constexpr std::string_view kFunctions = "functions:"; text.starts_with(kFunctions)) {
    argument.functions = split_names(std::string_view(text).substr(kFunctions.size()));
    return argument;
  }
  std::string source = text;
  // "=" separates where to write; a scalar has none.
  if (const size_t equals = text.rfind('='); equals != text.npos) {
    source = text.substr(0, equals);
    argument.write_to = text.substr(equals + 1);
    if (argument.write_to->empty()) return fail(Errc::invalid_argument, "nothing after '='");
  }
  const size_t colon = source.find(':'), bracket = source.find('[');
  if (colon != source.npos && element_bytes(source.substr(0, colon))) {
    if (argument.write_to)
      return fail(Errc::invalid_argument, "a kernel cannot write to a scalar; use {}[1]=FILE", source.substr(0, colon));
    argument.is_scalar = true;
    argument.array.type = source.substr(0, colon);
    SMELT_TRY(argument.array.data, scalar_bytes(argument.array.type, std::string_view(source).substr(colon + 1)));
    return argument;
  }
  if (bracket != source.npos && source.ends_with(']') && element_bytes(source.substr(0, bracket))) {
    argument.array.type = source.substr(0, bracket);
    const std::string_view extents = std::string_view(source).substr(bracket + 1, source.size() - bracket - 2);
    SMELT_TRY(argument.array.shape, parse_counts(extents));
    uint64_t bytes = element_bytes(argument.array.type).value();
    for (const uint64_t extent : argument.array.shape)
      if (__builtin_mul_overflow(bytes, extent, &bytes) || bytes > (uint64_t{1} << 40))
        return fail(Errc::invalid_argument, "too large");
    argument.array.data.resize(bytes);
    return argument;
  }
  if (std::error_code ignored; !std::filesystem::exists(source, ignored)) {
    double number = 0;
    const auto read = std::from_chars(source.data(), source.data() + source.size(), number);
    if (read.ec == std::errc() && read.ptr == source.data() + source.size())
      return fail(Errc::invalid_argument, "a number needs its type: f32:{0} or i32:{0}", source);
    const bool has_type = colon != source.npos || (bracket != source.npos && source.ends_with(']'));
    if (has_type && source.find('.') == source.npos)
      SMELT_TRY_VOID(element_bytes(source.substr(0, std::min(colon, bracket))));
  }
  SMELT_TRY(argument.array, read_array(source));
  return argument;
}

}  // namespace

Result<std::vector<uint64_t>> parse_counts(std::string_view text) {
  std::vector<uint64_t> counts;
  for (std::string_view rest = text;;) {
    const size_t comma = rest.find(',');
    SMELT_TRY(counts.emplace_back(), parse_number<uint64_t>(rest.substr(0, comma), "count"));
    if (comma == rest.npos) break;
    rest.remove_prefix(comma + 1);
  }
  return counts;
}

Result<RunArgument> parse_argument(const std::string& text) {
  auto argument = parse_words(text);
  if (!argument) return tl::unexpected(std::move(argument).error().in(fmt::format("argument '{}'", text)));
  return argument;
}

}  // namespace smelt::cli
