// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "parameter.hpp"

#include "smelt/loader/encoder.hpp"

namespace smelt::python {

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
    case ElementKind::raw:  // bytes, whose length alone a buffer is held to; in a texture they are numbers
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
  static_cast<loader::NumberType&>(declared) = loader::number_type(argument.type_name, argument.size);
  return declared;
}

Parameter parameter_of(const loader::MemberInfo& member) {
  Parameter declared;
  declared.known = true;
  declared.writes = member.kind == MemberKind::pointer && member.access != Access::read;
  declared.size = member.size;
  declared.type_name = member.type_name;
  declared.name = member.name;
  static_cast<loader::NumberType&>(declared) = loader::number_type(member.type_name, member.size);
  return declared;
}

}  // namespace smelt::python
