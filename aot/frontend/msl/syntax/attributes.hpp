// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Metal's attributes: which there are, and what they go on (docs/formats/metal-language.md 2.4).
#pragma once

#include <span>
#include <string_view>

namespace smelt::aot::msl {

enum class AttributeKind {
  kernel,          ///< marks or describes a kernel function
  resource,        ///< binds a parameter: buffer, texture, sampler, threadgroup
  position,        ///< hardware value: scalar or vector of ushort or uint
  index,           ///< hardware value: scalar ushort or uint
  constant,        ///< function_constant
  argument_field,  ///< of a struct's member
  graphics,        ///< of stages that are not compute
  ignored,         ///< without an effect on compute kernels
};

enum class AttributeArguments {
  values,      ///< expressions
  condition,   ///< an expression, or the name of a function constant
  word,        ///< one word, kept as it is
  word_first,  ///< one word, kept as it is, then perhaps expressions
  words,       ///< all words, kept as one text
  ignored,     ///< words that mean nothing as an expression
};

struct AttributeRow {
  std::string_view name;
  AttributeKind kind;
  AttributeArguments arguments = AttributeArguments::values;
};

/// Null: not one of Metal's.
const AttributeRow* find_attribute(std::string_view name);
/// The names of all.
std::span<const std::string_view> attribute_names();

}  // namespace smelt::aot::msl
