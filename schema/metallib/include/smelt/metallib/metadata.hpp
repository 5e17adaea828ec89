// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is inside the payloads of metadata tags: function constants, vertex attributes, debug places, reflection.
// read() has checked all of these, so on a library that was read they do not fail.
#pragma once

#include "smelt/metallib/library.hpp"

#include <array>

namespace smelt::metallib {

/// One function constant of `CNST`. `type` is an MTLDataType number (3 float, 29 int, 33 uint, 53 bool, ...).
struct Constant {
  std::string name;
  uint8_t type = 0;
  uint16_t index = 0;
  bool active = true;
  bool operator==(const Constant&) const = default;
};

/// One vertex attribute of `VATT` and `VATY`.
struct VertexAttribute {
  std::string name;
  uint16_t index = 0;  ///< 13 bits
  uint8_t use = 0;     ///< 0 plain, 1 per patch, 2 control point
  bool active = true;
  uint8_t type = 0;  ///< an MTLDataType number; 0 when there is no VATY
  bool operator==(const VertexAttribute&) const = default;
};

/// `DEBI`: where the function is written.
struct DebugLocation {
  uint32_t line = 0;
  std::string_view path;
};

/// The header of a reflection buffer.
struct ReflectionView {
  std::array<uint32_t, 3> version{};
  std::vector<uint32_t> node_types;  ///< 2 kernel function, 262144 buffer argument, 524288 function constant, ...
  std::vector<uint32_t> kernels;     ///< indices into the nodes
  std::vector<uint32_t> constants;
};

/// `at` is the payload's own file offset, for messages.
Result<std::vector<Constant>> parse_constants(ByteView payload, uint64_t at = 0);
Result<std::vector<VertexAttribute>> parse_vertex_attributes(ByteView attributes, ByteView types, uint64_t at = 0);
Result<DebugLocation> parse_debug_location(ByteView payload, uint64_t at = 0);
/// A payload that is one text with its NUL and nothing else.
Result<std::string_view> parse_text(ByteView payload, std::string_view what, uint64_t at = 0);
/// Checks identifier, root, and every table, vtable and vector that the view is made from.
Result<ReflectionView> parse_reflection(ByteView buffer, uint64_t at = 0);

/// None of these tags: empty.
Result<std::vector<Constant>> constants_of(const TagGroup& public_metadata);
Result<std::vector<VertexAttribute>> vertex_attributes_of(const TagGroup& public_metadata);

Result<Bytes> encode_constants(const std::vector<Constant>& constants);
/// Payloads of VATT and VATY.
Result<std::pair<Bytes, Bytes>> encode_vertex_attributes(const std::vector<VertexAttribute>& attributes);

}  // namespace smelt::metallib
