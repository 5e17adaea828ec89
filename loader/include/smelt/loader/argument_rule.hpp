// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether what a caller passes is what a kernel declares: the one rule that Python, C++, C, `smelt run` and Metal's
// interface go by. In words, with the table of all pairs: docs/reference/arguments.md.
#pragma once

#include "smelt/loader/types.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smelt::loader {

/// What one element of an array is. `other`: a record, or what has no name in Metal. `raw`: bytes that nobody gave a
/// type (Python's bytes, an address), which may stand for anything.
enum class ElementKind : uint8_t { other, raw, boolean, integer, unsigned_integer, floating, bfloat, complex };
bool is_whole(ElementKind kind);
/// "float32", "int8", "bfloat16": as NumPy calls an element of that kind and so many bytes; "elements of 12 bytes".
std::string element_name(ElementKind kind, uint32_t bytes);

/// How the numbers of a declared type lie: a scalar, a vector, or a matrix by its columns.
struct NumberType {
  ElementKind kind = ElementKind::other;  ///< other: a structure, void, or char, which is raw memory in untyped IR
  uint32_t component = 0;                 ///< bytes of one number
  uint32_t rows = 1;                      ///< numbers of a vector, or of one column of a matrix
  uint32_t columns = 1;
  uint32_t pitch = 0;  ///< bytes from one column to the next; three rows that are not packed take the room of four
  bool is_padded() const { return pitch > rows * component; }
};
/// Of "float", "packed_float3", "half2x4" (columns, then rows), "atomic_uint". `size`: bytes of the type; a type of
/// somebody else's by such a name has another size, and is `other`.
NumberType number_type(std::string_view type_name, uint64_t size);

/// One value or array of values inside a host's record, with all that leads to it in its name: "lights[1].colour".
struct HostField {
  std::string name;
  ElementKind kind = ElementKind::other;
  uint32_t item = 0;  ///< bytes of an element
  uint64_t offset = 0;
  std::vector<uint64_t> shape;  ///< empty: one value
};

/// What a caller passes for one buffer.
struct HostArray {
  ElementKind kind = ElementKind::other;
  uint32_t item = 0;                               ///< bytes of an element
  std::span<const uint64_t> shape;                 ///< the innermost dimension last; empty: one element, or not known
  const std::vector<HostField>* fields = nullptr;  ///< of a record; null: not known
};

/// The array does not hold what the kernel declares.
struct Misfit {
  /// `element`: its numbers are of another type. `padding`: three numbers, where the kernel reads with room for four.
  /// `rows`: the last dimension is no such vector. `record`: members of other names, types or places.
  enum class Kind : uint8_t { element, padding, rows, record };
  Kind kind = Kind::element;
  std::string given;   ///< "int64"; "an array of shape (8, 3)"; "records without 'mass': P has 'pos', 'mass'"
  std::string remedy;  ///< of an element its right type; else what to pass, in words for every language; may be empty
};

/// Nothing when it fits. `name`, `size` and `members` are those of the declared type.
std::optional<Misfit> misfit(const HostArray& given, const NumberType& wanted, std::string_view name, uint64_t size,
                             std::span<const MemberInfo> members);

/// The least that must be bound to one slot of buffers: a kernel that is given less reads past the end. Of memory that
/// is not constant nothing at all may be bound, too.
struct LeastBytes {
  uint32_t slot = 0;
  uint32_t bytes = 0;
  bool may_be_empty = false;
  bool holds(uint64_t given) const { return given >= bytes || (given == 0 && may_be_empty); }
};
/// "buffer 1 'p' has 4 bytes, and the kernel reads Params of 8 bytes".
std::string too_short(const LeastBytes& least, uint64_t given, std::span<const ArgInfo> arguments);

}  // namespace smelt::loader
