// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Library to text; the grammar is in text.hpp.
#include "smelt/metallib/metadata.hpp"
#include "smelt/metallib/names.hpp"
#include "smelt/metallib/text.hpp"
#include "smelt/metallib/writer.hpp"

#include <algorithm>
#include <iterator>

namespace smelt::metallib {
namespace {

constexpr size_t kBytesPerLine = 48;
constexpr size_t kInline = 32;           // a payload up to here stays on its tag's line
constexpr size_t kShortestZeroRun = 24;  // shorter runs are written out

void put_hex(std::string& out, ByteView bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  for (const std::byte byte : bytes) {
    out += kDigits[std::to_integer<unsigned>(byte) >> 4];
    out += kDigits[std::to_integer<unsigned>(byte) & 15];
  }
}

std::string in_quotes(std::string_view text) {
  const bool utf8 = is_utf8(text);
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if ((byte >= 0x20 && byte < 0x7F) || (byte >= 0x80 && utf8))
      out += c;
    else
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", byte);
  }
  return out + '"';
}

std::string tag_name(Fourcc name) {
  const bool plain = std::all_of(name.letters.begin(), name.letters.end(),
                                 [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); });
  return plain ? std::string(name.text()) : "tag " + in_quotes(name.text());
}

class Printer {
 public:
  explicit Printer(const Library& library) : library_(library) {}

  Result<std::string> print() {
    SMELT_TRY(layout_, layout_of(library_));
    print_header();
    for (const Function& function : library_.functions) print_function(function);
    if (library_.extension) print_extension();
    print_groups(library_.public_metadata, "public");
    print_groups(library_.private_metadata, "private");
    for (size_t i = 0; i < library_.modules.size(); ++i) print_module(i);
    print_rest();
    return std::move(out_);
  }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    out_ += '\n';
  }

  void print_header();
  void print_function(const Function& function);
  void print_function_tag(const Function& function, const Tag& tag);
  void print_extension();
  void print_groups(const std::vector<TagGroup>& groups, std::string_view keyword);
  void print_module(size_t index);
  void print_rest();
  void print_tag(const Tag& tag, std::string_view indent);
  /// The payload as readable items, when its shape is known; else empty.
  static std::string items_of(const Tag& tag);
  /// " 0102" or " { ... }", and the line's end.
  void put_payload(ByteView bytes, std::string_view indent);
  void put_block(ByteView bytes, std::string_view indent);

  const Library& library_;
  Layout layout_;
  std::string out_;
};

void Printer::print_header() {
  line("metallib text 1");
  line("container 1.2.{}", library_.patch);
  line("built_for_macos {}", library_.built_for_macos ? "yes" : "no");
  if (library_.stub) line("stub yes");
  line("file_type {}", file_type_name(library_.file_type));
  line("platform {}", platform_name(library_.platform));
  line("64_bit {}", library_.is_64bit ? "yes" : "no");
  line("os {}.{}.{}", library_.os_major, library_.os_minor, library_.os_patch);
}

void Printer::print_function(const Function& function) {
  line("\nfunction {}", in_quotes(function.name));
  for (const Tag& tag : function.tags) print_function_tag(function, tag);
}

void Printer::print_function_tag(const Function& f, const Tag& tag) {
  if (tag.name == tag::name || tag.name == tag::module_size)
    line("  {}", tag.name.text());
  else if (tag.name == tag::type)
    line("  TYPE {}", function_type_name(f.type.value_or(0)));
  else if (tag.name == tag::hash)
    line("  HASH {}", to_hex(f.hash));
  else if (tag.name == tag::offsets)
    line("  OFFT public {} private {} module {}", f.public_group, f.private_group, f.module);
  else if (tag.name == tag::versions)
    line("  VERS air {}.{} language {}.{}", f.versions.air_major, f.versions.air_minor, f.versions.language_major,
         f.versions.language_minor);
  else if (tag.name == tag::source_offset)
    line("  SOFF {}", f.source.value_or(0));
  else if (tag.name == tag::reflection_offset)
    line("  RFLT {}", f.reflection.value_or(0));
  else if (tag.name == tag::tessellation)
    line("  TESS {}", f.tessellation.value_or(0));
  else if (tag.name == tag::layer)
    line("  LAYR {}", f.layer_type.value_or(0));
  else
    print_tag(tag, "  ");
}

void Printer::print_extension() {
  line("\nextension");
  for (const Tag& tag : *library_.extension) {
    if (section_of(tag.name))
      line("  {}", tag.name.text());
    else
      print_tag(tag, "  ");
  }
}

void Printer::print_groups(const std::vector<TagGroup>& groups, std::string_view keyword) {
  if (!groups.empty()) out_ += '\n';
  for (const TagGroup& group : groups) {
    line("{} {}", keyword, group.counts_itself ? "linker" : "tool");
    for (const Tag& tag : group.tags) print_tag(tag, "  ");
  }
}

void Printer::print_module(size_t index) {
  const Module& module = library_.modules[index];
  const ByteView bitcode = module.bitcode();
  const Bytes wrapped = wrap_bitcode(bitcode);
  const bool usual = std::equal(wrapped.begin(), wrapped.end(), module.blob.begin(), module.blob.end());
  fmt::format_to(std::back_inserter(out_), "\nmodule {}", usual ? "wrapped" : "blob");
  put_block(usual ? bitcode : module.blob, "");
}

void Printer::print_rest() {
  if (library_.sources) {
    const Sources& sources = *library_.sources;
    line("\nsources {}{}", in_quotes(sources.command), sources.directory ? " " + in_quotes(*sources.directory) : "");
    for (const std::vector<Tag>& archive : sources.archives) {
      line("  archive");
      for (const Tag& tag : archive) print_tag(tag, "    ");
    }
  }
  if (library_.dynamic_header) {
    line("\ndynamic");
    for (const Tag& tag : *library_.dynamic_header) print_tag(tag, "  ");
  }
  if (library_.reflection) {
    line("\nreflection");
    for (const std::vector<Tag>& entry : library_.reflection->entries) {
      line("  entry");
      for (const Tag& tag : entry) print_tag(tag, "    ");
    }
  }
  const std::pair<std::string_view, const std::optional<ByteView>*> raw[] = {
      {"variables", &library_.variables}, {"imports", &library_.imports}, {"scripts", &library_.scripts}};
  for (const auto& [keyword, bytes] : raw) {
    if (!*bytes) continue;
    fmt::format_to(std::back_inserter(out_), "\n{}", keyword);
    put_block(**bytes, "");
  }
  if (!library_.order.empty()) {
    out_ += "\nplace";
    for (const Place& place : library_.order) {
      if (place.padding_before != 0) fmt::format_to(std::back_inserter(out_), " pad:{}", place.padding_before);
      fmt::format_to(std::back_inserter(out_), " {}", section_keyword(place.section));
    }
    out_ += '\n';
  }
  if (library_.padding_after != 0) line("pad_after {}", library_.padding_after);
}

void Printer::print_tag(const Tag& tag, std::string_view indent) {
  out_ += indent;
  out_ += tag_name(tag.name);
  if (const std::string items = items_of(tag); !items.empty()) {
    out_ += items;
    out_ += '\n';
  } else if (tag.name == tag::source_archive) {
    const std::string_view text = as_text(tag.payload);
    const size_t id = text.find('\0');
    if (id != std::string_view::npos) fmt::format_to(std::back_inserter(out_), " z{}", in_quotes(text.substr(0, id)));
    put_payload(tag.payload.subspan(id == std::string_view::npos ? 0 : id + 1), indent);
  } else {
    put_payload(tag.payload, indent);
  }
}

std::string Printer::items_of(const Tag& tag) {
  std::string items;
  const auto put = [&]<class... Args>(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(items), format, std::forward<Args>(args)...);
  };
  if (tag.name == tag::constants) {
    const auto constants = parse_constants(tag.payload);
    if (!constants) return {};
    put(" u16:{}", constants->size());
    for (const Constant& c : *constants)
      put(" z{} u8:{} u16:{} u8:{}", in_quotes(c.name), c.type, c.index, c.active ? 1 : 0);
  } else if (tag.name == tag::debug_location) {
    const auto location = parse_debug_location(tag.payload);
    if (!location) return {};
    put(" u32:{} z{}", location->line, in_quotes(location->path));
  } else if (tag.name == tag::dependency || tag.name == tag::name || tag.name == tag::dynamic_library) {
    const auto text = parse_text(tag.payload, "");
    if (!text) return {};
    put(" z{}", in_quotes(*text));
  }
  return items;
}

void Printer::put_payload(ByteView bytes, std::string_view indent) {
  if (bytes.size() > kInline) return put_block(bytes, indent);
  if (!bytes.empty()) out_ += ' ';
  put_hex(out_, bytes);
  out_ += '\n';
}

void Printer::put_block(ByteView bytes, std::string_view indent) {
  out_ += " {\n";
  while (!bytes.empty()) {
    fmt::format_to(std::back_inserter(out_), "{}  ", indent);
    const auto nonzero = std::find_if(bytes.begin(), bytes.end(), [](std::byte b) { return b != std::byte{0}; });
    const size_t zeros = nonzero - bytes.begin();
    if (zeros >= kShortestZeroRun) {
      fmt::format_to(std::back_inserter(out_), "zero:{}\n", zeros);
      bytes = bytes.subspan(zeros);
      continue;
    }
    const size_t count = std::min(kBytesPerLine, bytes.size());
    put_hex(out_, bytes.first(count));
    out_ += '\n';
    bytes = bytes.subspan(count);
  }
  line("{}}}", indent);
}

}  // namespace

Result<std::string> to_text(const Library& library) {
  return Printer(library).print();
}

}  // namespace smelt::metallib
