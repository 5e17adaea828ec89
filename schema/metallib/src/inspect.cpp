// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/metallib/inspect.hpp"

#include "smelt/metallib/names.hpp"
#include "smelt/metallib/writer.hpp"

#include <algorithm>

namespace smelt::metallib {
namespace {

std::string dialect_of(const Library& library) {
  size_t linker = 0, groups = 0;
  for (const auto* metadata : {&library.public_metadata, &library.private_metadata}) {
    groups += metadata->size();
    linker += std::count_if(metadata->begin(), metadata->end(), [](const TagGroup& g) { return g.counts_itself; });
  }
  if (groups == 0) return "unknown";
  return linker == groups ? "linker" : linker == 0 ? "tool" : "mixed";
}

std::string uuid_text(ByteView uuid) {
  std::string text;
  for (size_t i = 0; i < uuid.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", std::to_integer<unsigned>(uuid[i]));
  }
  return text;
}

Result<FunctionFacts> inspect_function(const Library& library, const Layout& layout, const Function& function) {
  const Module& module = library.module_of(function);
  FunctionFacts facts{
      .name = function.name,
      .type = function.type ? function_type_name(*function.type) : "unknown",
      .hash = to_hex(function.hash),
      .hash_matches = sha256(module.blob) == function.hash,
      .versions = function.versions,
      .module_offset = layout[Section::bitcode].offset + layout.module_offsets[function.module],
      .module_size = module.blob.size(),
      .bitcode_size = module.bitcode().size(),
  };
  for (const Tag& tag : function.tags) facts.tags.emplace_back(tag.name.text());
  SMELT_TRY(facts.constants, constants_of(library.public_of(function)));
  SMELT_TRY(facts.vertex_attributes, vertex_attributes_of(library.public_of(function)));
  const std::vector<Tag>& closed = library.private_of(function).tags;
  if (const Tag* tag = find_tag(closed, tag::debug_location)) {
    SMELT_TRY(const DebugLocation location, parse_debug_location(tag->payload));
    facts.source_path = location.path;
    facts.source_line = location.line;
  }
  if (const Tag* tag = find_tag(closed, tag::dependency)) {
    SMELT_TRY(facts.air_path, parse_text(tag->payload, "path of the .air file"));
  }
  facts.source_archive = function.source;
  if (function.reflection) {
    const Tag* buffer = find_tag(library.reflection->entries[*function.reflection], tag::reflection_buffer);
    if (buffer) {
      SMELT_TRY(facts.reflection, parse_reflection(buffer->payload));
    }
  }
  return facts;
}

Result<void> inspect_sources(const Sources& sources, LibraryFacts& facts) {
  facts.link_command = sources.command;
  facts.link_directory = sources.directory.value_or("");
  for (const std::vector<Tag>& archive : sources.archives) {
    const Tag* tag = find_tag(archive, tag::source_archive);
    if (!tag) continue;
    Cursor cursor(tag->payload, "source archive");
    SMELT_TRY(const std::string_view id, cursor.read_cstring());
    facts.source_archives.push_back({.id = std::string(id),
                                     .compression = as_text(cursor.rest()).starts_with("BZh") ? "bzip2" : "unknown",
                                     .size = cursor.left()});
  }
  return {};
}

}  // namespace

Result<LibraryFacts> inspect(const Library& library) {
  SMELT_TRY(const Layout layout, layout_of(library));
  LibraryFacts facts{
      .container = fmt::format("1.2.{}", library.patch),
      .dialect = dialect_of(library),
      .file_type = file_type_name(library.file_type),
      .platform = platform_name(library.platform),
      .built_for_macos = library.built_for_macos,
      .stub = library.stub,
      .is_64bit = library.is_64bit,
      .os_major = library.os_major,
      .os_minor = library.os_minor,
      .os_patch = library.os_patch,
      .file_size = layout.file_size,
  };
  if (const auto uuid = library.uuid()) facts.uuid = uuid_text(*uuid);
  for (const Place& place : library.order.empty() ? library.standard_order() : library.order)
    facts.sections.push_back(
        {std::string(to_string(place.section)), layout[place.section].offset, layout[place.section].size});
  for (const Function& function : library.functions) {
    SMELT_TRY(FunctionFacts one, inspect_function(library, layout, function));
    facts.functions.push_back(std::move(one));
  }
  if (library.extension)
    for (const Tag& tag : *library.extension) facts.extension_tags.emplace_back(tag.name.text());
  if (library.sources) SMELT_TRY_VOID(inspect_sources(*library.sources, facts));
  if (library.dynamic_header)
    for (const Tag& tag : *library.dynamic_header) {
      if (tag.name == tag::name) {
        SMELT_TRY(facts.install_name, parse_text(tag.payload, "install name"));
      } else if (tag.name == tag::dynamic_library) {
        SMELT_TRY(const std::string_view linked, parse_text(tag.payload, "linked library"));
        facts.linked_libraries.emplace_back(linked);
      }
    }
  return facts;
}

}  // namespace smelt::metallib
