// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a kernel declares of its buffers, as a call needs it: the layout of numbers, and whether memory is written to.
#pragma once

#include "smelt/loader/types.hpp"

#include "tensor.hpp"

#include <span>
#include <string_view>

namespace smelt::python {

/// What a kernel declares of the buffer at one index.
struct Parameter : loader::NumberType {
  bool known = false;   ///< one buffer that the kernel's metadata describes; else nothing below has a meaning
  bool writes = false;  ///< the kernel may write to it
  bool is_constant = false;
  bool is_conditional = false;               ///< a function constant may take it away
  const loader::Library* library = nullptr;  ///< of a table, whose functions are the library's
  bool is_table = false;                     ///< visible_function_table<S>: it takes names; not known as a buffer
  bool is_tensor = false;      ///< tensor<T, ...>: it takes an array with its shape; not known as a buffer
  uint32_t size = 0;           ///< bytes of one pointee
  uint32_t position = 0;       ///< in the call; what messages and arg_casts count
  std::string_view type_name;  ///< these three live as long as the pipeline
  std::string_view name;
  std::span<const loader::MemberInfo> members;  ///< of a structure, where the package lists them

  /// A number, a vector or a matrix.
  bool is_numeric() const { return known && kind != ElementKind::other; }
  /// A structure, or an enumeration. IR without types says "char" of everything, and MSL's char is raw bytes, too.
  bool is_structure() const { return known && kind == ElementKind::other && !type_name.empty() && type_name != "char"; }
  /// Whether it takes 64-bit floating point: declared so, or bytes of any kind. No Metal type is.
  bool takes_double() const { return !known || kind == ElementKind::other || type_name.starts_with("double"); }
  /// Whether addresses make sense in it: bytes of any kind, or whole numbers of their size.
  bool takes_addresses() const;
};

Parameter parameter_of(const loader::ArgInfo& argument);
/// Of an argument that is a member of the kernel's last buffer (smelt/schema/further_arguments.hpp).
Parameter parameter_of(const loader::MemberInfo& member);

using loader::element_name;
using loader::is_whole;
/// `unknown` for what has no number in Metal.
loader::ScalarType scalar_of(ElementKind kind, uint32_t bytes);
/// Whether the argument is bound to [[buffer(i)]]: a buffer or a tensor.
bool takes_buffer(const loader::ArgInfo& argument);

}  // namespace smelt::python
