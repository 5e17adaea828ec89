// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "read_sections.hpp"

#include "smelt/metallib/metadata.hpp"

#include "blob.hpp"

namespace smelt::metallib {
namespace {

/// Metadata payloads that have a known shape (docs/formats/metallib.md 14, check 14).
Result<void> check_metadata(const std::vector<RawTag>& tags) {
  const RawTag* attributes = nullptr;
  const RawTag* types = nullptr;
  for (const RawTag& raw : tags) {
    if (raw.name == tag::constants) SMELT_TRY_VOID(parse_constants(raw.payload, raw.at));
    if (raw.name == tag::debug_location) SMELT_TRY_VOID(parse_debug_location(raw.payload, raw.at));
    if (raw.name == tag::dependency) SMELT_TRY_VOID(parse_text(raw.payload, "path of the .air file", raw.at));
    if (raw.name == tag::vertex_attributes) attributes = &raw;
    if (raw.name == tag::vertex_types) types = &raw;
  }
  if (types && !attributes) return fail(Errc::corrupt, "vertex types at byte {}: VATY without VATT", types->at);
  if (types && types->payload.size() < 2) return fail(Errc::corrupt, "vertex types at byte {}: no count", types->at);
  if (attributes)
    SMELT_TRY_VOID(parse_vertex_attributes(attributes->payload, types ? types->payload : ByteView{}, attributes->at));
  return {};
}

}  // namespace

Result<Metadata> read_metadata(ByteView section, uint64_t at, std::string_view what) {
  Metadata result;
  Cursor cursor(section, what, at);
  while (!cursor.at_end()) {
    const uint64_t start = cursor.position();
    SMELT_TRY(const uint32_t size, cursor.read<uint32_t>());
    SMELT_TRY(const std::vector<RawTag> tags, read_tags(cursor, TagList::metadata, what));
    // ENDT finds the end; the size only tells the dialect.
    const uint64_t whole = cursor.position() - start;
    if (size != whole && size != whole - 4)
      return fail(Errc::corrupt, "{}: group at byte {} claims {} bytes; its tags end after {}", what, at + start, size,
                  whole);
    SMELT_TRY_VOID(check_metadata(tags));
    result.groups.push_back({plain(tags), size == whole});
    result.offsets.push_back(start);
  }
  return result;
}

Result<SourceList> read_sources(ByteView section, uint64_t at, bool with_directory) {
  SourceList result;
  Cursor cursor(section, "sources", at);
  SMELT_TRY(const uint32_t count, cursor.read<uint32_t>());
  SMELT_TRY(result.sources.command, cursor.read_cstring());
  if (with_directory) {
    SMELT_TRY(result.sources.directory, cursor.read_cstring());
  }
  if (uint64_t{count} * (4 + kEndSize) > cursor.left())
    return fail(Errc::corrupt, "sources at byte {}: claim {} archives, have {} bytes", at, count, cursor.left());
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t group_at = cursor.offset();
    SMELT_TRY(const uint32_t size, cursor.read<uint32_t>());
    const uint64_t start = cursor.position();
    SMELT_TRY(const std::vector<RawTag> tags, read_tags(cursor, TagList::source_archive, "source archive"));
    if (cursor.position() - start != size)
      return fail(Errc::corrupt, "sources: archive at byte {} claims {} bytes; its tags end after {}", group_at, size,
                  cursor.position() - start);
    for (const RawTag& raw : tags) {
      if (raw.name != tag::source_archive) continue;
      Cursor archive(raw.payload, "source archive's id", raw.at);
      SMELT_TRY_VOID(archive.read_cstring());
    }
    result.sources.archives.push_back(plain(tags));
    result.offsets.push_back(start);
  }
  if (!cursor.at_end())
    return fail(Errc::corrupt, "sources at byte {}: {} bytes after the last archive", at, cursor.left());
  return result;
}

Result<ReflectionList> read_reflection(ByteView section, uint64_t at) {
  ReflectionList result;
  Cursor cursor(section, "reflection list", at);
  SMELT_TRY(const uint32_t count, cursor.read<uint32_t>());
  if (uint64_t{count} * (4 + kEndSize) > cursor.left())
    return fail(Errc::corrupt, "reflection list at byte {}: claims {} entries, has {} bytes", at, count, cursor.left());
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t start = cursor.position();
    SMELT_TRY(const uint32_t size, cursor.read<uint32_t>());
    SMELT_TRY(std::vector<RawTag> tags, read_tags(cursor, TagList::reflection_entry, "reflection entry"));
    if (cursor.position() - start != size)
      return fail(Errc::corrupt, "reflection list: entry at byte {} claims {} bytes; its tags end after {}", at + start,
                  size, cursor.position() - start);
    for (RawTag& raw : tags) {
      if (raw.name != tag::reflection_buffer) continue;
      const uint64_t padding = reflection_padding(raw.at);
      if (padding > raw.payload.size() || !all_zero(raw.payload.first(padding)))
        return fail(Errc::corrupt, "reflection at byte {}: want {} zero bytes before its buffer", raw.at, padding);
      raw.payload = raw.payload.subspan(padding);
      SMELT_TRY_VOID(parse_reflection(raw.payload, raw.at + padding));
    }
    result.reflection.entries.push_back(plain(tags));
    result.offsets.push_back(start);
  }
  if (!cursor.at_end())
    return fail(Errc::corrupt, "reflection list at byte {}: {} bytes after the last entry", at, cursor.left());
  return result;
}

Result<std::vector<Tag>> read_dynamic_header(ByteView section, uint64_t at) {
  Cursor cursor(section, "dynamic header", at);
  SMELT_TRY(const std::vector<RawTag> tags, read_tags(cursor, TagList::dynamic_header, "dynamic header"));
  if (!cursor.at_end())
    return fail(Errc::corrupt, "dynamic header at byte {}: {} bytes after its ENDT", at, cursor.left());
  for (const RawTag& raw : tags)
    if (raw.name == tag::name || raw.name == tag::dynamic_library)
      SMELT_TRY_VOID(parse_text(raw.payload, "dynamic header's name", raw.at));
  return plain(tags);
}

}  // namespace smelt::metallib
