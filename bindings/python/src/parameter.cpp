// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "parameter.hpp"

#include "smelt/loader/encoder.hpp"

#include <fmt/format.h>

#include <optional>

namespace smelt::python {
namespace {

struct Scalar {
  std::string_view name;
  ElementKind kind;
  uint32_t bytes;
};
constexpr Scalar kScalars[] = {
    {"float", ElementKind::floating, 4},
    {"half", ElementKind::floating, 2},
    {"double", ElementKind::floating, 8},
    {"bfloat", ElementKind::bfloat, 2},
    {"int", ElementKind::integer, 4},
    {"short", ElementKind::integer, 2},
    {"long", ElementKind::integer, 8},
    {"uint", ElementKind::unsigned_integer, 4},
    {"ushort", ElementKind::unsigned_integer, 2},
    {"ulong", ElementKind::unsigned_integer, 8},
    {"uchar", ElementKind::unsigned_integer, 1},
    {"bool", ElementKind::boolean, 1},
};

/// Takes a digit from 2 to 4 from the end.
std::optional<uint32_t> take_count(std::string_view& name) {
  if (name.empty() || name.back() < '2' || name.back() > '4') return std::nullopt;
  const auto count = static_cast<uint32_t>(name.back() - '0');
  name.remove_suffix(1);
  return count;
}

/// "float", "packed_float3", "half2x4" (columns, then rows), "atomic_uint". What is none of these, and char, stays raw.
void read_layout(std::string_view name, Parameter& into) {
  const bool is_packed = name.starts_with("packed_");
  if (is_packed) name.remove_prefix(std::string_view("packed_").size());
  if (name.starts_with("atomic_")) name.remove_prefix(std::string_view("atomic_").size());
  uint32_t rows = 1, columns = 1;
  if (const auto last = take_count(name)) {
    rows = *last;
    if (name.ends_with('x')) {
      name.remove_suffix(1);
      const auto first = take_count(name);
      if (!first) return;
      columns = *first;
    }
  }
  for (const Scalar& scalar : kScalars) {
    if (scalar.name != name) continue;
    const uint32_t pitch = scalar.bytes * (rows == 3 && !is_packed ? 4 : rows);
    if (pitch * columns != into.size) return;  // a type of somebody else's by that name
    into.kind = scalar.kind;
    into.component = scalar.bytes;
    into.rows = rows;
    into.columns = columns;
    into.pitch = pitch;
  }
}

}  // namespace

bool Parameter::takes_addresses() const {
  return !is_numeric() || (is_whole(kind) && component == sizeof(uint64_t));
}

loader::ScalarType scalar_of(ElementKind kind, uint32_t bytes) {
  using loader::ScalarType;
  const auto of_size = [&](ScalarType one, ScalarType two, ScalarType four, ScalarType eight) {
    return bytes == 1 ? one : bytes == 2 ? two : bytes == 4 ? four : eight;
  };
  switch (kind) {
    case ElementKind::boolean:
      return ScalarType::boolean;
    case ElementKind::integer:
      return of_size(ScalarType::i8, ScalarType::i16, ScalarType::i32, ScalarType::i64);
    case ElementKind::unsigned_integer:
      return of_size(ScalarType::u8, ScalarType::u16, ScalarType::u32, ScalarType::u64);
    case ElementKind::floating:
      return of_size(ScalarType::unknown, ScalarType::f16, ScalarType::f32, ScalarType::unknown);
    case ElementKind::bfloat:
      return ScalarType::bf16;
    default:
      return ScalarType::unknown;
  }
}

bool takes_buffer(const loader::ArgInfo& argument) {
  return class_of(argument.kind) == BindingClass::buffer || argument.kind == loader::ArgumentKind::function_table ||
         loader::tensor_element(argument).has_value();
}

Parameter parameter_of(const loader::ArgInfo& argument) {
  Parameter declared;
  declared.is_tensor = loader::tensor_element(argument).has_value();
  declared.is_table = argument.kind == loader::ArgumentKind::function_table;
  declared.known = argument.array_size == 1 && !declared.is_tensor && !declared.is_table;
  declared.writes = argument.access == loader::Access::write || argument.access == loader::Access::read_write;
  declared.is_constant = argument.address_space == 2;
  declared.is_conditional = argument.conditional;
  declared.size = argument.size;
  declared.type_name = argument.type_name;
  declared.name = argument.name;
  declared.members = argument.members;
  read_layout(argument.type_name, declared);
  return declared;
}

Parameter parameter_of(const loader::MemberInfo& member) {
  Parameter declared;
  declared.known = true;
  declared.writes = member.kind == MemberKind::pointer && member.access != Access::read;
  declared.size = member.size;
  declared.type_name = member.type_name;
  declared.name = member.name;
  read_layout(member.type_name, declared);
  return declared;
}

bool is_whole(ElementKind kind) {
  return kind == ElementKind::integer || kind == ElementKind::unsigned_integer || kind == ElementKind::boolean;
}

std::string element_name(ElementKind kind, uint32_t bytes) {
  switch (kind) {
    case ElementKind::boolean:
      return "bool";
    case ElementKind::integer:
      return fmt::format("int{}", bytes * 8);
    case ElementKind::unsigned_integer:
      return fmt::format("uint{}", bytes * 8);
    case ElementKind::floating:
      return fmt::format("float{}", bytes * 8);
    case ElementKind::bfloat:
      return "bfloat16";
    case ElementKind::complex:
      return fmt::format("complex{}", bytes * 8);
    case ElementKind::other:
      break;
  }
  return fmt::format("elements of {} bytes", bytes);
}

}  // namespace smelt::python
