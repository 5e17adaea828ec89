// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tools that look into files: metal-nm, metal-objdump, metal-lipo, metal-readobj, metal-source, metal-config.
#include "smelt/aot/ready.hpp"
#include "smelt/base/files.hpp"
#include "smelt/metallib/names.hpp"
#include "smelt/metallib/reader.hpp"
#include "smelt/metallib/universal.hpp"
#include "smelt/service/reading_child.hpp"
#include "smelt/service/session.hpp"

#include "tools.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>

namespace smelt::toolchain {
namespace {

/// Words into options (with a dash) and files.
struct Words {
  std::vector<std::string> options, files;
  bool has(std::string_view option) const { return std::find(options.begin(), options.end(), option) != options.end(); }
};

Result<Words> split(const Call& call, std::span<const std::string_view> known) {
  Words words;
  for (const std::string& word : call.arguments) {
    if (word.size() < 2 || word[0] != '-') {
      words.files.push_back(word);
      continue;
    }
    if (std::find(known.begin(), known.end(), word) == known.end()) {
      std::string list;
      for (const std::string_view one : known) list += fmt::format("{}{}", list.empty() ? "" : ", ", one);
      return fail(Errc::invalid_argument, "unknown argument: '{}'; there are {}", word, list);
    }
    words.options.push_back(word);
  }
  return words;
}

/// Prints what is said of a file that anybody may have made, from a child unless $SMELT_SANDBOX says never.
Result<void> print_apart(const std::function<Result<std::string>()>& say) {
  const char* const word = std::getenv("SMELT_SANDBOX");
  const auto mode = service::parse_sandbox(word == nullptr || *word == 0 ? "auto" : word);
  if (!mode) return tl::unexpected(Error(mode.error()).in("SMELT_SANDBOX"));
  const auto read = [&]() -> Result<Bytes> {
    SMELT_TRY(const std::string text, say());
    return to_bytes(as_bytes(text));
  };
  const auto warn = [](std::string_view why) { fmt::print(stderr, "warning: {}\n", printable(why)); };
  aot::be_ready();
  SMELT_TRY(const Bytes text, *mode == service::Sandbox::never ? read()
                              : *mode == service::Sandbox::always
                                  ? service::read_in_child({}, read)
                                  : service::read_in_child_if_there_is_one({}, read, warn));
  fmt::print("{}", service::plain_lines(text));
  return {};
}

/// A file's modules by name: itself, its members, or its library's functions.
Result<std::string> symbols_of(const std::string& name, ByteView bytes, bool with_name) {
  std::string text;
  if (aot::is_archive(bytes)) {
    SMELT_TRY(const auto members, aot::read_archive(bytes, name));
    for (const aot::ArchiveMember& member : members) {
      SMELT_TRY(const std::string symbols, symbols_of(fmt::format("{}({})", name, member.name), member.bytes, true));
      text += symbols;
    }
    return text;
  }
  if (with_name) text += fmt::format("\n{}:\n", printable(name));
  const auto line = [&](char kind, std::string_view symbol) {
    text += fmt::format("{} {} {}\n", kind == 'U' ? "                " : "----------------", kind, printable(symbol));
  };
  if (!metallib::is_metallib(bytes)) {
    SMELT_TRY(const auto symbols, aot::object_symbols(bytes, name));
    for (const aot::ObjectSymbol& symbol : symbols)
      line(symbol.kind == aot::ObjectSymbol::Kind::undefined ? 'U' : 'T', symbol.name);
    return text;
  }
  auto library = metallib::read(bytes);
  if (!library) return tl::unexpected(std::move(library).error().in(name));
  for (const metallib::Function& function : library->functions) line('T', function.name);
  return text;
}

Result<void> nm(const Call& call) {
  SMELT_TRY(const Words words, split(call, std::array<std::string_view, 4>{"-g", "-U", "-u", "--defined-only"}));
  if (words.files.empty()) return fail(Errc::invalid_argument, "no input files");
  for (const std::string& file : words.files) {
    SMELT_TRY(const Bytes bytes, read_file(file));
    SMELT_TRY_VOID(print_apart([&] { return symbols_of(file, bytes, words.files.size() > 1); }));
  }
  return {};
}

/// A section of a library, as its header or the header's extension places it.
struct SectionRow {
  std::string_view name;
  uint64_t offset = 0, size = 0;
};

/// The ranges in the bytes of a library that was read: everything lies where they say.
std::vector<SectionRow> sections_of(const metallib::Library& library, ByteView image) {
  metallib::Header header;
  std::memcpy(&header, image.data(), sizeof header);
  const auto row = [](metallib::Section section, const metallib::Range& range) {
    return SectionRow{metallib::section_keyword(section), range.offset, range.size};
  };
  using metallib::Section;
  std::vector<SectionRow> rows = {
      row(Section::functions, header.function_list), row(Section::public_metadata, header.public_metadata),
      row(Section::private_metadata, header.private_metadata), row(Section::bitcode, header.bitcode)};
  if (!library.extension) return rows;
  constexpr std::pair<metallib::Fourcc, Section> kTags[] = {
      {metallib::tag::sources, Section::sources},     {metallib::tag::sources_with_directory, Section::sources},
      {metallib::tag::variables, Section::variables}, {metallib::tag::dynamic_header, Section::dynamic_header},
      {metallib::tag::imports, Section::imports},     {metallib::tag::reflection, Section::reflection},
      {metallib::tag::scripts, Section::scripts}};
  // The list's size leaves out its count.
  size_t at = rows[0].offset + rows[0].size + sizeof(uint32_t);
  while (at + 6 <= image.size() && as_text(image.subspan(at, 4)) != metallib::tag::end.text()) {
    const std::string_view name = as_text(image.subspan(at, 4));
    const size_t size = load_le<uint16_t>(image.data() + at + 4);
    const std::byte* const payload = image.data() + at + 6;
    at += 6 + size;
    if (size != 16 || at > image.size()) continue;
    for (const auto& [tag, section] : kTags)
      if (tag.text() == name)
        rows.push_back(
            {metallib::section_keyword(section), load_le<uint64_t>(payload), load_le<uint64_t>(payload + 8)});
  }
  return rows;
}

std::string lines_of_sections(const metallib::Library& library, ByteView image) {
  std::string text = "Sections:\nIdx Name                 Size     Offset\n";
  size_t index = 0;
  for (const SectionRow& row : sections_of(library, image))
    text += fmt::format("{:>3} {:<17} {:>08x} {:>08x}\n", index++, row.name, row.size, row.offset);
  return text;
}

std::string lines_of_header(const metallib::Library& library, ByteView image) {
  std::string text = "MetalLib header\n";
  const auto line = [&](std::string_view what, std::string_view value) {
    text += fmt::format("  {:<10} {}\n", what, value);
  };
  line("container", fmt::format("1.2.{}", library.patch));
  line("type", metallib::file_type_name(library.file_type));
  const std::string_view old = library.built_for_macos ? "macos" : "not macos";
  line("platform", library.platform == 0 ? std::string(old) : metallib::platform_name(library.platform));
  if (library.os_major != 0)
    line("system", fmt::format("{}.{}.{}", library.os_major, library.os_minor, library.os_patch));
  line("functions", fmt::format("{}", library.functions.size()));
  line("size", fmt::format("{}", image.size()));
  return text;
}

std::string lines_of_library(const metallib::Library& library) {
  std::string text;
  for (const metallib::Function& function : library.functions)
    text += fmt::format("{:<12} AIR {}.{} Metal {}.{} {:>8} bytes  {}\n",
                        metallib::function_type_name(function.type.value_or(3)), function.versions.air_major,
                        function.versions.air_minor, function.versions.language_major, function.versions.language_minor,
                        library.module_of(function).bitcode().size(), printable(function.name));
  return text;
}

Result<std::string> dump_of(const std::string& file, ByteView bytes, const Words& words) {
  const bool code =
      words.has("-d") || words.has("--disassemble") || words.has("-disassemble-all") || words.has("--disassemble-all");
  const bool header = words.has("-p") || words.has("--private-headers") || words.has("--private-header");
  const bool sections = words.has("-h") || words.has("--section-headers") || words.has("--headers");
  const bool is_library = metallib::is_metallib(bytes);
  std::string text = fmt::format("\n{}:\tfile format {}\n\n", printable(file), is_library ? "MetalLib" : "AIR bitcode");
  if (header || sections) {
    if (!is_library) return fail(Errc::not_metallib, "{}: not a Metal library; other files have no such headers", file);
    SMELT_TRY(const metallib::Library library, metallib::read(bytes));
    if (header) text += lines_of_header(library, bytes);
    if (sections) text += lines_of_sections(library, bytes);
  }
  if (words.has("-t") || words.has("--syms")) {
    SMELT_TRY(const std::string symbols, symbols_of(file, bytes, false));
    text += symbols;
  }
  if (is_library && (words.has("--metallib") || !(code || header || sections))) {
    SMELT_TRY(const metallib::Library library, metallib::read(bytes));
    text += lines_of_library(library);
  }
  if (code) {
    SMELT_TRY(const std::string air, aot::disassemble(bytes, file));
    text += air;
  }
  return text;
}

Result<void> objdump(const Call& call) {
  SMELT_TRY(const Words words,
            split(call, std::array<std::string_view, 15>{"--metallib", "-d", "--disassemble", "-disassemble-all",
                                                         "--disassemble-all", "-t", "--syms", "-m", "--macho", "-p",
                                                         "--private-header", "--private-headers", "-h", "--headers",
                                                         "--section-headers"}));
  if (words.files.empty()) return fail(Errc::invalid_argument, "no input files");
  for (const std::string& file : words.files) {
    SMELT_TRY(const Bytes bytes, read_file(file));
    SMELT_TRY_VOID(print_apart([&] { return dump_of(file, bytes, words); }));
  }
  return {};
}

/// In the form of llvm-readobj.
Result<std::string> described(const std::string& file, ByteView bytes, const Words& words) {
  const bool is_library = metallib::is_metallib(bytes);
  const bool all = words.has("-a") || words.has("--all");
  std::string text = fmt::format("\nFile: {}\nFormat: {}\nArch: air64\nAddressSize: 64bit\n", printable(file),
                                 is_library ? "MetalLib" : "AIR bitcode");
  if (!is_library && !aot::is_link_input(bytes))
    return fail(Errc::source_type, "{}: neither a Metal library nor an object", file);
  if (is_library) {
    SMELT_TRY(const metallib::Library library, metallib::read(bytes));
    if (all || words.has("-h") || words.has("--file-headers") || words.has("--file-header"))
      text += lines_of_header(library, bytes);
    if (all || words.has("-S") || words.has("--sections") || words.has("--section-headers"))
      text += lines_of_sections(library, bytes);
  }
  if (all || words.has("-s") || words.has("-t") || words.has("--syms") || words.has("--symbols")) {
    SMELT_TRY(const std::string symbols, symbols_of(file, bytes, false));
    text += symbols;
  }
  return text;
}

Result<void> readobj(const Call& call) {
  SMELT_TRY(const Words words, split(call, std::array<std::string_view, 12>{
                                               "-a", "--all", "-h", "--file-header", "--file-headers", "-S",
                                               "--sections", "--section-headers", "-s", "-t", "--syms", "--symbols"}));
  if (words.files.empty()) return fail(Errc::invalid_argument, "no input files");
  for (const std::string& file : words.files) {
    SMELT_TRY(const Bytes bytes, read_file(file));
    SMELT_TRY_VOID(print_apart([&] { return described(file, bytes, words); }));
  }
  return {};
}

Result<void> lipo(const Call& call) {
  std::vector<std::string> files;
  std::string operation, output;
  const std::vector<std::string>& words = call.arguments;
  for (size_t i = 0; i < words.size(); ++i) {
    if ((words[i] == "-o" || words[i] == "-output") && i + 1 < words.size())
      output = words[++i];
    else if (words[i] == "-info" || words[i] == "-archs" || words[i] == "-create")
      operation = words[i];
    else if (words[i].starts_with("-"))
      return fail(Errc::invalid_argument, "unknown argument: '{}'; there are -info, -archs, -create, -output",
                  words[i]);
    else
      files.push_back(words[i]);
  }
  if (files.empty() || operation.empty())
    return fail(Errc::invalid_argument, "usage: metal-lipo -info|-archs|-create files [-output file]");
  if (operation == "-create") {
    if (files.size() != 1 || output.empty())
      return fail(Errc::invalid_argument, "-create: one file and -output; air64 is the only architecture here");
    SMELT_TRY(const Bytes bytes, read_file(files[0]));
    return write_file(output, bytes);
  }
  for (const std::string& file : files) {
    SMELT_TRY(const Bytes bytes, read_file(file));
    size_t images = 1;
    if (!aot::is_archive(bytes) && !aot::built_for(bytes))
      return fail(Errc::source_type, "{}: neither a Metal library nor an object", file);
    if (auto found = metallib::find_images(bytes)) images = found->size();
    if (operation == "-archs")
      fmt::print("air64\n");
    else if (images > 1)
      fmt::print("Architectures in the fat file: {} are: air64 ({} slices)\n", printable(file), images);
    else
      fmt::print("Non-fat file: {} is architecture: air64\n", printable(file));
  }
  return {};
}

/// Libraries may hold their sources, as archives that nothing here unpacks.
Result<void> source(const Call& call) {
  std::string file;
  for (const std::string& word : call.arguments)
    if (!word.starts_with("-")) file = word;
  if (file.empty()) return fail(Errc::invalid_argument, "no input files");
  SMELT_TRY(const Bytes bytes, read_file(file));
  auto library = metallib::read(bytes);
  if (!library) return tl::unexpected(std::move(library).error().in(file));
  if (!library->sources) return fail(Errc::unsupported, "{}: the library has no sources in it", file);
  return fail(Errc::unsupported, "{}: has sources of {} compiles; they are not unpacked here", file,
              library->sources->archives.size());
}

Result<void> config(const Call& call) {
  SMELT_TRY(const Words words, split(call, std::array<std::string_view, 5>{"--version", "--bindir", "--prefix",
                                                                           "--host-target", "--targets-built"}));
  if (words.options.empty() || !words.files.empty())
    return fail(Errc::invalid_argument, "usage: metal-config --version | --bindir | --prefix | --host-target");
  for (const std::string& option : words.options) {
    if (option == "--version")
      fmt::print("{}\n", SMELT_VERSION);
    else if (option == "--host-target")
      fmt::print("{}\n", aot::default_target().triple);
    else if (option == "--targets-built")
      fmt::print("AIR\n");
    else
      fmt::print("{}\n", call.folder);
  }
  return {};
}

}  // namespace

int run_nm(const Call& call) {
  return exit_code(call, nm(call));
}
int run_objdump(const Call& call) {
  return exit_code(call, objdump(call));
}
int run_lipo(const Call& call) {
  return exit_code(call, lipo(call));
}
int run_source(const Call& call) {
  return exit_code(call, source(call));
}
int run_config(const Call& call) {
  return exit_code(call, config(call));
}
int run_readobj(const Call& call) {
  return exit_code(call, readobj(call));
}

}  // namespace smelt::toolchain
