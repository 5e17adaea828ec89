// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where everything of a library goes: sizes first, then offsets in file order.
#include "smelt/metallib/writer.hpp"

#include "read_sections.hpp"
#include "tags.hpp"

#include <bitset>

namespace smelt::metallib {
namespace {

/// Bytes of a function tag's payload; those made from fields have fixed lengths.
uint64_t function_payload(const Function& function, const Tag& tag) {
  if (tag.name == tag::name) return function.name.size() + 1;
  if (tag.name == tag::type || tag.name == tag::tessellation || tag.name == tag::layer) return 1;
  if (tag.name == tag::hash) return 32;
  if (tag.name == tag::offsets) return 24;
  if (tag.name == tag::versions || tag.name == tag::module_size || tag.name == tag::source_offset ||
      tag.name == tag::reflection_offset)
    return 8;
  return tag.payload.size();
}

Result<uint64_t> checked_tag(TagList list, Fourcc name, uint64_t payload) {
  const uint64_t most = has_wide_length(list, name) ? 0xFFFFFFFFu : 0xFFFFu;
  if (payload > most)
    return fail(Errc::invalid_argument, "{}: payload of {} bytes; the container holds at most {}", name.text(), payload,
                most);
  return tag_size(list, name, payload);
}

Result<uint64_t> tags_size(TagList list, const std::vector<Tag>& tags) {
  uint64_t size = kEndSize;
  for (const Tag& tag : tags) {
    const uint64_t payload = list == TagList::extension && section_of(tag.name) ? 16 : tag.payload.size();
    SMELT_TRY(const uint64_t one, checked_tag(list, tag.name, payload));
    size += one;
  }
  return size;
}

Result<void> check_index(uint64_t index, size_t count, std::string_view function, std::string_view what) {
  if (index < count) return {};
  return fail(Errc::invalid_argument, "function '{}': {} {} of {}", function, what, index, count);
}

Result<void> check_function(const Library& library, const Function& f) {
  SMELT_TRY_VOID(check_index(f.public_group, library.public_metadata.size(), f.name, "public metadata group"));
  SMELT_TRY_VOID(check_index(f.private_group, library.private_metadata.size(), f.name, "private metadata group"));
  SMELT_TRY_VOID(check_index(f.module, library.modules.size(), f.name, "module"));
  if (f.source && library.sources)
    SMELT_TRY_VOID(check_index(*f.source, library.sources->archives.size(), f.name, "source archive"));
  if (f.reflection)
    SMELT_TRY_VOID(check_index(*f.reflection, library.reflection ? library.reflection->entries.size() : 0, f.name,
                               "reflection entry"));
  const std::pair<Fourcc, bool> optional[] = {{tag::type, f.type.has_value()},
                                              {tag::source_offset, f.source.has_value()},
                                              {tag::reflection_offset, f.reflection.has_value()},
                                              {tag::tessellation, f.tessellation.has_value()},
                                              {tag::layer, f.layer_type.has_value()}};
  for (const auto& [name, present] : optional)
    if (!present && find_tag(f.tags, name))
      return fail(Errc::invalid_argument, "function '{}': lists {} and has no value for it", f.name, name.text());
  if (f.name.find('\0') != std::string::npos)
    return fail(Errc::invalid_argument, "function '{}': a name cannot contain a NUL", f.name);
  return {};
}

class Placer {
 public:
  explicit Placer(const Library& library) : library_(library) {}

  Result<Layout> place() {
    SMELT_TRY_VOID(check_sections());
    uint64_t at = sizeof(Header);
    const std::vector<Place> order = library_.order.empty() ? library_.standard_order() : library_.order;
    for (const Place& place : order) {
      at += place.padding_before;
      SMELT_TRY(const uint64_t size, size_of(place.section, at));
      layout_.sections[static_cast<size_t>(place.section)] = {at, size};
      at += size;
    }
    layout_.file_size = at + library_.padding_after;
    return std::move(layout_);
  }

 private:
  /// Each section that exists is placed once, and is named by the extension where it must be.
  Result<void> check_sections() const {
    std::bitset<kSectionCount> placed, named;
    for (const Place& place : library_.order.empty() ? library_.standard_order() : library_.order) {
      if (placed[static_cast<size_t>(place.section)])
        return fail(Errc::invalid_argument, "{}: has two places", to_string(place.section));
      placed.set(static_cast<size_t>(place.section));
    }
    if (library_.extension)
      for (const Tag& tag : *library_.extension)
        if (const auto section = section_of(tag.name)) named.set(static_cast<size_t>(*section));
    for (size_t i = 0; i < kSectionCount; ++i) {
      const auto section = static_cast<Section>(i);
      if (placed[i] != library_.has(section))
        return fail(Errc::invalid_argument, "{}: {}", to_string(section),
                    placed[i] ? "has a place and does not exist" : "has no place in the file");
      if (section >= Section::sources && named[i] != library_.has(section))
        return fail(
            Errc::invalid_argument, "{}: {}", to_string(section),
            named[i] ? "is named by the header extension and does not exist" : "is not named by the header extension");
    }
    return {};
  }

  Result<uint64_t> size_of(Section section, uint64_t at) {
    switch (section) {
      case Section::functions:
        return functions_size();
      case Section::public_metadata:
        return metadata_size(library_.public_metadata, layout_.public_offsets);
      case Section::private_metadata:
        return metadata_size(library_.private_metadata, layout_.private_offsets);
      case Section::bitcode:
        return modules_size();
      case Section::sources:
        return sources_size();
      case Section::dynamic_header:
        return tags_size(TagList::dynamic_header, *library_.dynamic_header);
      case Section::variables:
        return library_.variables->size();
      case Section::imports:
        return library_.imports->size();
      case Section::reflection:
        return reflection_size(at);
      case Section::scripts:
        return library_.scripts->size();
    }
    return uint64_t{0};
  }

  Result<uint64_t> functions_size() {
    uint64_t size = 0;
    for (const Function& function : library_.functions) {
      SMELT_TRY_VOID(check_function(library_, function));
      size += 4 + kEndSize;
      for (const Tag& tag : function.tags) {
        SMELT_TRY(const uint64_t one, checked_tag(TagList::function, tag.name, function_payload(function, tag)));
        size += one;
      }
    }
    layout_.list_size = size;
    size += 4;
    if (!library_.extension) return size;
    SMELT_TRY(const uint64_t extension, tags_size(TagList::extension, *library_.extension));
    return size + extension;
  }

  static Result<uint64_t> metadata_size(const std::vector<TagGroup>& groups, std::vector<uint64_t>& offsets) {
    uint64_t size = 0;
    for (const TagGroup& group : groups) {
      offsets.push_back(size);
      SMELT_TRY(const uint64_t tags, tags_size(TagList::metadata, group.tags));
      size += 4 + tags;
    }
    return size;
  }

  uint64_t modules_size() {
    uint64_t size = 0;
    for (const Module& module : library_.modules) {
      layout_.module_offsets.push_back(size);
      size += module.blob.size();
    }
    return size;
  }

  Result<uint64_t> sources_size() {
    const Sources& sources = *library_.sources;
    uint64_t size = 4 + sources.command.size() + 1;
    if (sources.directory) size += sources.directory->size() + 1;
    for (const std::vector<Tag>& archive : sources.archives) {
      layout_.archive_offsets.push_back(size + 4);
      SMELT_TRY(const uint64_t tags, tags_size(TagList::source_archive, archive));
      size += 4 + tags;
    }
    return size;
  }

  Result<uint64_t> reflection_size(uint64_t at) {
    uint64_t size = 4;
    for (const std::vector<Tag>& entry : library_.reflection->entries) {
      layout_.reflection_offsets.push_back(size);
      size += 4;
      for (const Tag& tag : entry) {
        uint64_t payload = tag.payload.size();
        if (tag.name == tag::reflection_buffer) payload += reflection_padding(at + size + 8);
        SMELT_TRY(const uint64_t one, checked_tag(TagList::reflection_entry, tag.name, payload));
        size += one;
      }
      size += kEndSize;
    }
    return size;
  }

  const Library& library_;
  Layout layout_;
};

}  // namespace

Result<Layout> layout_of(const Library& library) {
  return Placer(library).place();
}

}  // namespace smelt::metallib
