// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rule that decides whether an argument fits a kernel's declaration. Python, C++, C, `smelt run` and Metal's
// interface use it. docs/reference/arguments.md explains it and has the table of all pairs.
#pragma once

#include "smelt/loader/types.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smelt::loader {

/// The kind of an array's elements. `other`: a record, or a type that Metal does not have. `raw`: bytes without a type
/// (Python's bytes, an address), which fit every declaration.
enum class ElementKind : uint8_t { other, raw, boolean, integer, unsigned_integer, floating, bfloat, complex };
/// Whether elements are integers.
bool is_whole(ElementKind kind);
/// The name of an element type, as NumPy has it: "float32", "int8", "bfloat16"; for others "elements of 12 bytes".
std::string element_name(ElementKind kind, uint32_t bytes);

/// The layout of a declared type: a scalar, a vector, or a matrix by its columns.
struct NumberType {
  ElementKind kind = ElementKind::other;  ///< other: a structure, void, or char, which is raw memory in untyped IR
  uint32_t component = 0;                 ///< bytes of one number
  uint32_t rows = 1;                      ///< numbers of a vector, or of one column of a matrix
  uint32_t columns = 1;                   ///< columns of a matrix
  uint32_t pitch = 0;  ///< bytes from one column to the next; three rows occupy the space of four unless packed
  /// Whether there are unused bytes between columns or elements.
  bool is_padded() const { return pitch > rows * component; }
};
/// Reads the name of a type, such as "float", "packed_float3", "half2x4" (columns, then rows) or "atomic_uint". `size`
/// is the type's size in bytes: a user's own type of the same name has another size, and is `other`.
NumberType number_type(std::string_view type_name, uint64_t size);

/// A value, or an array of values, inside a caller's record.
struct HostField {
  std::string name;                       ///< with its path, such as "lights[1].colour"
  ElementKind kind = ElementKind::other;  ///< of its elements
  uint32_t item = 0;                      ///< bytes of an element
  uint64_t offset = 0;                    ///< bytes from the beginning of the record
  std::vector<uint64_t> shape;            ///< empty: one value
};

/// The array that a caller passes for a buffer.
struct HostArray {
  ElementKind kind = ElementKind::other;           ///< of its elements
  uint32_t item = 0;                               ///< bytes of an element
  std::span<const uint64_t> shape;                 ///< the innermost dimension last; empty: one element, or unknown
  const std::vector<HostField>* fields = nullptr;  ///< of a record; null: unknown
};

/// Why an array does not fit the kernel's declaration.
struct Misfit {
  /// `element`: its numbers have another type. `padding`: it has three numbers where the kernel reads four. `rows`: its
  /// last dimension is not such a vector. `record`: its members have other names, types or offsets.
  enum class Kind : uint8_t { element, padding, rows, record };
  Kind kind = Kind::element;  ///< what differs
  std::string given;          ///< "int64"; "an array of shape (8, 3)"; "records without 'mass': P has 'pos', 'mass'"
  std::string remedy;  ///< for `element` the right type; else what to pass, in words for every language; may be empty
};

/// Compares an array with a declared type, whose name, size and members are given. Returns nothing if it fits.
std::optional<Misfit> misfit(const HostArray& given, const NumberType& wanted, std::string_view name, uint64_t size,
                             std::span<const MemberInfo> members);

/// The least number of bytes that must be bound to a buffer slot. With fewer, a kernel reads past the end.
struct LeastBytes {
  uint32_t slot = 0;          ///< [[buffer(slot)]]
  uint32_t bytes = 0;         ///< the size of the declared type
  bool may_be_empty = false;  ///< device memory may also be empty
  /// Whether this many bytes are enough.
  bool holds(uint64_t given) const { return given >= bytes || (given == 0 && may_be_empty); }
};
/// The message of the error: "buffer 1 'p' has 4 bytes, and the kernel reads Params of 8 bytes".
std::string too_short(const LeastBytes& least, uint64_t given, std::span<const ArgInfo> arguments);

}  // namespace smelt::loader
