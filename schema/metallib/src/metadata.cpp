// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Payloads of CNST, VATT, VATY, DEBI, DEPF (docs/formats/metallib.md 5 and 6).
//
//   CNST  u16 count; per constant:  name NUL, u8 type, u16 index, u8 active
//   VATT  u16 count; per attribute: name NUL, u16: bits 0-12 index, 13-14 use, 15 active
//   VATY  u16 count; per attribute: u8 type
//   DEBI  u32 line, path NUL        DEPF  path NUL
#include "smelt/metallib/metadata.hpp"

namespace smelt::metallib {
namespace {

constexpr uint16_t kIndexBits = 0x1FFF;
constexpr uint16_t kActiveBit = 0x8000;

Result<void> expect_end(const Cursor& cursor, std::string_view what) {
  if (cursor.at_end()) return {};
  return fail(Errc::corrupt, "{}: {} bytes left over at byte {}", what, cursor.left(), cursor.offset());
}

Result<void> check_name(std::string_view name) {
  if (name.find('\0') != std::string_view::npos)
    return fail(Errc::invalid_argument, "name '{}' contains a NUL, which the container cannot hold", name);
  return {};
}

template <class T>
Result<void> check_count(const std::vector<T>& things, std::string_view what) {
  if (things.size() > 0xFFFF)
    return fail(Errc::invalid_argument, "{} {}; the container holds at most 65535 per function", things.size(), what);
  return {};
}

}  // namespace

Result<std::vector<Constant>> parse_constants(ByteView payload, uint64_t at) {
  Cursor cursor(payload, "function constants", at);
  SMELT_TRY(const uint16_t count, cursor.read<uint16_t>());
  std::vector<Constant> constants;
  for (uint32_t i = 0; i < count; ++i) {
    Constant constant;
    SMELT_TRY(constant.name, cursor.read_cstring());
    SMELT_TRY(constant.type, cursor.read<uint8_t>());
    SMELT_TRY(constant.index, cursor.read<uint16_t>());
    const uint64_t active_at = cursor.offset();
    SMELT_TRY(const uint8_t active, cursor.read<uint8_t>());
    if (active > 1)
      return fail(Errc::corrupt, "function constants: want 0 or 1 at byte {}, found {}", active_at, active);
    constant.active = active != 0;
    constants.push_back(std::move(constant));
  }
  SMELT_TRY_VOID(expect_end(cursor, "function constants"));
  return constants;
}

Result<std::vector<VertexAttribute>> parse_vertex_attributes(ByteView attributes, ByteView types, uint64_t at) {
  Cursor cursor(attributes, "vertex attributes", at);
  SMELT_TRY(const uint16_t count, cursor.read<uint16_t>());
  std::vector<VertexAttribute> result;
  for (uint32_t i = 0; i < count; ++i) {
    VertexAttribute attribute;
    SMELT_TRY(attribute.name, cursor.read_cstring());
    SMELT_TRY(const uint16_t bits, cursor.read<uint16_t>());
    attribute.index = bits & kIndexBits;
    attribute.use = (bits >> 13) & 3;
    attribute.active = (bits & kActiveBit) != 0;
    result.push_back(std::move(attribute));
  }
  SMELT_TRY_VOID(expect_end(cursor, "vertex attributes"));
  if (types.empty()) return result;

  Cursor type_cursor(types, "vertex attribute types", 0);
  SMELT_TRY(const uint16_t type_count, type_cursor.read<uint16_t>());
  if (type_count != count || type_cursor.left() != count)
    return fail(Errc::corrupt, "vertex attributes at byte {}: VATT has {}, VATY says {} and holds {}", at, count,
                type_count, type_cursor.left());
  for (VertexAttribute& attribute : result) {
    SMELT_TRY(attribute.type, type_cursor.read<uint8_t>());
  }
  return result;
}

Result<DebugLocation> parse_debug_location(ByteView payload, uint64_t at) {
  Cursor cursor(payload, "debug location", at);
  DebugLocation location;
  SMELT_TRY(location.line, cursor.read<uint32_t>());
  SMELT_TRY(location.path, cursor.read_cstring());
  SMELT_TRY_VOID(expect_end(cursor, "debug location"));
  return location;
}

Result<std::string_view> parse_text(ByteView payload, std::string_view what, uint64_t at) {
  Cursor cursor(payload, what, at);
  SMELT_TRY(const std::string_view text, cursor.read_cstring());
  SMELT_TRY_VOID(expect_end(cursor, what));
  return text;
}

Result<std::vector<Constant>> constants_of(const TagGroup& public_metadata) {
  const Tag* tag = find_tag(public_metadata.tags, tag::constants);
  if (!tag) return std::vector<Constant>{};
  return parse_constants(tag->payload);
}

Result<std::vector<VertexAttribute>> vertex_attributes_of(const TagGroup& public_metadata) {
  const Tag* attributes = find_tag(public_metadata.tags, tag::vertex_attributes);
  const Tag* types = find_tag(public_metadata.tags, tag::vertex_types);
  if (!attributes) return std::vector<VertexAttribute>{};
  return parse_vertex_attributes(attributes->payload, types ? types->payload : ByteView{});
}

Result<Bytes> encode_constants(const std::vector<Constant>& constants) {
  SMELT_TRY_VOID(check_count(constants, "function constants"));
  ByteWriter out;
  out.put<uint16_t>(static_cast<uint16_t>(constants.size()));
  for (const Constant& constant : constants) {
    SMELT_TRY_VOID(check_name(constant.name));
    out.put_cstring(constant.name);
    out.put<uint8_t>(constant.type);
    out.put<uint16_t>(constant.index);
    out.put<uint8_t>(constant.active ? 1 : 0);
  }
  return out.take();
}

Result<std::pair<Bytes, Bytes>> encode_vertex_attributes(const std::vector<VertexAttribute>& attributes) {
  SMELT_TRY_VOID(check_count(attributes, "vertex attributes"));
  ByteWriter out, types;
  out.put<uint16_t>(static_cast<uint16_t>(attributes.size()));
  types.put<uint16_t>(static_cast<uint16_t>(attributes.size()));
  for (const VertexAttribute& attribute : attributes) {
    SMELT_TRY_VOID(check_name(attribute.name));
    if (attribute.index > kIndexBits || attribute.use > 3)
      return fail(Errc::invalid_argument, "vertex attribute '{}': index {} (at most {}) or use {} (at most 3)",
                  attribute.name, attribute.index, kIndexBits, attribute.use);
    out.put_cstring(attribute.name);
    out.put<uint16_t>(
        static_cast<uint16_t>(attribute.index | attribute.use << 13 | (attribute.active ? kActiveBit : 0)));
    types.put<uint8_t>(attribute.type);
  }
  return std::pair{out.take(), types.take()};
}

}  // namespace smelt::metallib
