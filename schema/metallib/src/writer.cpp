// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One pass from front to back; every number comes from the layout. See layout.hpp for the drawing.
#include "smelt/metallib/writer.hpp"

#include "read_sections.hpp"
#include "tags.hpp"

namespace smelt::metallib {
namespace {

class Writer {
 public:
  Writer(const Library& library, const Layout& layout, std::vector<Field>* fields)
      : library_(library), layout_(layout), fields_(fields) {}

  Bytes write() {
    put_header();
    for (const Place& place : library_.order.empty() ? library_.standard_order() : library_.order) {
      put_zeros(place.padding_before);
      put_section(place.section);
    }
    put_zeros(library_.padding_after);
    return out_.take();
  }

 private:
  template <std::unsigned_integral T, class... Args>
  void put(T value, fmt::format_string<Args...> path, Args&&... args) {
    if (fields_) fields_->push_back({fmt::format(path, std::forward<Args>(args)...), out_.size(), sizeof(T)});
    out_.put<T>(value);
  }
  void put_zeros(uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) out_.put<uint8_t>(0);
  }
  void put_section(Section section);
  void put_header();
  void put_span(const Layout::Span& span, std::string_view path);
  void put_functions();
  void put_function(size_t index);
  void put_function_tag(size_t index, const Tag& tag);
  void put_extension();
  void put_metadata(const std::vector<TagGroup>& groups, std::string_view path);
  void put_sources();
  void put_reflection();
  void put_tag_head(TagList list, Fourcc name, uint64_t payload, std::string_view path);
  void put_tags(TagList list, const std::vector<Tag>& tags, std::string_view path);
  void put_end() { out_.put_text(tag::end.text()); }

  const Library& library_;
  const Layout& layout_;
  std::vector<Field>* fields_;
  ByteWriter out_;
};

void Writer::put_section(Section section) {
  switch (section) {
    case Section::functions:
      return put_functions();
    case Section::public_metadata:
      return put_metadata(library_.public_metadata, "public");
    case Section::private_metadata:
      return put_metadata(library_.private_metadata, "private");
    case Section::bitcode:
      for (const Module& module : library_.modules) out_.put_bytes(module.blob);
      return;
    case Section::sources:
      return put_sources();
    case Section::dynamic_header:
      return put_tags(TagList::dynamic_header, *library_.dynamic_header, "dynamic");
    case Section::variables:
      return out_.put_bytes(*library_.variables);
    case Section::imports:
      return out_.put_bytes(*library_.imports);
    case Section::reflection:
      return put_reflection();
    case Section::scripts:
      return out_.put_bytes(*library_.scripts);
  }
}

void Writer::put_span(const Layout::Span& span, std::string_view path) {
  put<uint64_t>(span.offset, "{}.offset", path);
  put<uint64_t>(span.size, "{}.size", path);
}

void Writer::put_header() {
  if (fields_) fields_->push_back({"header.magic", 0, kMagic.size()});
  out_.put_text(kMagic);
  put<uint16_t>(kContainerMajor | (library_.built_for_macos ? kMacosBit : 0), "header.macos_and_major");
  put<uint16_t>(kContainerMinor, "header.minor");
  put<uint16_t>(library_.patch, "header.patch");
  put<uint8_t>((library_.file_type & ~kStubBit) | (library_.stub ? kStubBit : 0), "header.stub_and_type");
  put<uint8_t>((library_.platform & ~kWideBit) | (library_.is_64bit ? kWideBit : 0), "header.wide_and_platform");
  put<uint16_t>(library_.os_major, "header.os_major");
  put<uint8_t>(library_.os_minor, "header.os_minor");
  put<uint8_t>(library_.os_patch, "header.os_patch");
  put<uint64_t>(layout_.file_size, "header.file_size");
  put_span({layout_[Section::functions].offset, layout_.list_size}, "header.function_list");
  put_span(layout_[Section::public_metadata], "header.public_metadata");
  put_span(layout_[Section::private_metadata], "header.private_metadata");
  put_span(layout_[Section::bitcode], "header.bitcode");
}

void Writer::put_tag_head(TagList list, Fourcc name, uint64_t payload, std::string_view path) {
  out_.put_text(name.text());
  if (has_wide_length(list, name))
    put<uint32_t>(static_cast<uint32_t>(payload), "{}.{}.length", path, name.text());
  else
    put<uint16_t>(static_cast<uint16_t>(payload), "{}.{}.length", path, name.text());
}

void Writer::put_tags(TagList list, const std::vector<Tag>& tags, std::string_view path) {
  for (const Tag& tag : tags) {
    put_tag_head(list, tag.name, tag.payload.size(), path);
    if (fields_ && !tag.payload.empty())
      fields_->push_back({fmt::format("{}.{}", path, tag.name.text()), out_.size(), tag.payload.size()});
    out_.put_bytes(tag.payload);
  }
  put_end();
}

void Writer::put_functions() {
  put<uint32_t>(static_cast<uint32_t>(library_.functions.size()), "functions.count");
  for (size_t i = 0; i < library_.functions.size(); ++i) put_function(i);
  if (library_.extension) put_extension();
}

void Writer::put_function(size_t index) {
  const size_t size_at = out_.size();
  put<uint32_t>(0, "function[{}].size", index);
  for (const Tag& tag : library_.functions[index].tags) put_function_tag(index, tag);
  put_end();
  out_.patch<uint32_t>(size_at, static_cast<uint32_t>(out_.size() - size_at));
}

void Writer::put_function_tag(size_t index, const Tag& tag) {
  const Function& f = library_.functions[index];
  const std::string path = fields_ ? fmt::format("function[{}]", index) : std::string();
  const auto head = [&](uint64_t payload) { put_tag_head(TagList::function, tag.name, payload, path); };
  if (tag.name == tag::name) {
    head(f.name.size() + 1);
    out_.put_cstring(f.name);
  } else if (tag.name == tag::type) {
    head(1);
    put<uint8_t>(f.type.value_or(0), "{}.TYPE", path);
  } else if (tag.name == tag::hash) {
    head(32);
    if (fields_) fields_->push_back({path + ".HASH", out_.size(), f.hash.bytes.size()});
    out_.put_bytes(f.hash.bytes);
  } else if (tag.name == tag::offsets) {
    head(24);
    put<uint64_t>(layout_.public_offsets[f.public_group], "{}.OFFT.public", path);
    put<uint64_t>(layout_.private_offsets[f.private_group], "{}.OFFT.private", path);
    put<uint64_t>(layout_.module_offsets[f.module], "{}.OFFT.module", path);
  } else if (tag.name == tag::versions) {
    head(8);
    put<uint16_t>(f.versions.air_major, "{}.VERS.air_major", path);
    put<uint16_t>(f.versions.air_minor, "{}.VERS.air_minor", path);
    put<uint16_t>(f.versions.language_major, "{}.VERS.language_major", path);
    put<uint16_t>(f.versions.language_minor, "{}.VERS.language_minor", path);
  } else if (tag.name == tag::module_size) {
    head(8);
    put<uint64_t>(library_.modules[f.module].blob.size(), "{}.MDSZ", path);
  } else if (tag.name == tag::source_offset) {
    head(8);
    put<uint64_t>(library_.sources ? layout_.archive_offsets[f.source.value_or(0)] : f.source.value_or(0), "{}.SOFF",
                  path);
  } else if (tag.name == tag::reflection_offset) {
    head(8);
    put<uint64_t>(layout_.reflection_offsets[f.reflection.value_or(0)], "{}.RFLT", path);
  } else if (tag.name == tag::tessellation) {
    head(1);
    put<uint8_t>(f.tessellation.value_or(0), "{}.TESS", path);
  } else if (tag.name == tag::layer) {
    head(1);
    put<uint8_t>(f.layer_type.value_or(0), "{}.LAYR", path);
  } else {
    head(tag.payload.size());
    out_.put_bytes(tag.payload);
  }
}

void Writer::put_extension() {
  for (const Tag& tag : *library_.extension) {
    const auto section = section_of(tag.name);
    put_tag_head(TagList::extension, tag.name, section ? 16 : tag.payload.size(), "extension");
    if (section)
      put_span(layout_[*section], fields_ ? fmt::format("extension.{}", tag.name.text()) : std::string());
    else
      out_.put_bytes(tag.payload);
  }
  put_end();
}

void Writer::put_metadata(const std::vector<TagGroup>& groups, std::string_view path) {
  for (size_t i = 0; i < groups.size(); ++i) {
    const size_t size_at = out_.size();
    const std::string group_path = fields_ ? fmt::format("{}[{}]", path, i) : std::string();
    put<uint32_t>(0, "{}.size", group_path);
    put_tags(TagList::metadata, groups[i].tags, group_path);
    const size_t whole = out_.size() - size_at;
    out_.patch<uint32_t>(size_at, static_cast<uint32_t>(groups[i].counts_itself ? whole : whole - 4));
  }
}

void Writer::put_sources() {
  const Sources& sources = *library_.sources;
  put<uint32_t>(static_cast<uint32_t>(sources.archives.size()), "sources.count");
  out_.put_cstring(sources.command);
  if (sources.directory) out_.put_cstring(*sources.directory);
  for (size_t i = 0; i < sources.archives.size(); ++i) {
    const std::string path = fields_ ? fmt::format("archive[{}]", i) : std::string();
    const size_t size_at = out_.size();
    put<uint32_t>(0, "{}.size", path);
    put_tags(TagList::source_archive, sources.archives[i], path);
    out_.patch<uint32_t>(size_at, static_cast<uint32_t>(out_.size() - size_at - 4));
  }
}

void Writer::put_reflection() {
  const auto& entries = library_.reflection->entries;
  put<uint32_t>(static_cast<uint32_t>(entries.size()), "reflection.count");
  for (size_t i = 0; i < entries.size(); ++i) {
    const std::string path = fields_ ? fmt::format("reflection[{}]", i) : std::string();
    const size_t size_at = out_.size();
    put<uint32_t>(0, "{}.size", path);
    for (const Tag& tag : entries[i]) {
      const uint64_t zeros = tag.name == tag::reflection_buffer ? reflection_padding(out_.size() + 8) : 0;
      put_tag_head(TagList::reflection_entry, tag.name, zeros + tag.payload.size(), path);
      put_zeros(zeros);
      if (fields_ && !tag.payload.empty())
        fields_->push_back({fmt::format("{}.{}", path, tag.name.text()), out_.size(), tag.payload.size()});
      out_.put_bytes(tag.payload);
    }
    put_end();
    out_.patch<uint32_t>(size_at, static_cast<uint32_t>(out_.size() - size_at));
  }
}

}  // namespace

Result<Bytes> write(const Library& library, std::vector<Field>* fields) {
  SMELT_TRY(const Layout layout, layout_of(library));
  return Writer(library, layout, fields).write();
}

}  // namespace smelt::metallib
