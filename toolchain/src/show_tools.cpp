// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tools that look into files: metal-nm, metal-objdump, metal-lipo, metal-source, metal-config, metal-dsymutil.
#include "smelt/base/files.hpp"
#include "smelt/metallib/names.hpp"
#include "smelt/metallib/reader.hpp"
#include "smelt/metallib/universal.hpp"

#include "tools.hpp"

#include <algorithm>
#include <cstdio>

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

/// A file's modules by name: itself, its members, or its library's functions.
Result<void> print_symbols(const std::string& name, ByteView bytes, bool with_name) {
  if (aot::is_archive(bytes)) {
    SMELT_TRY(const auto members, aot::read_archive(bytes, name));
    for (const aot::ArchiveMember& member : members)
      SMELT_TRY_VOID(print_symbols(fmt::format("{}({})", name, member.name), member.bytes, true));
    return {};
  }
  if (with_name) fmt::print("\n{}:\n", printable(name));
  const auto line = [](char kind, std::string_view symbol) {
    fmt::print("{} {} {}\n", kind == 'U' ? "                " : "----------------", kind, printable(symbol));
  };
  if (!metallib::is_metallib(bytes)) {
    SMELT_TRY(const auto symbols, aot::object_symbols(bytes, name));
    for (const aot::ObjectSymbol& symbol : symbols)
      line(symbol.kind == aot::ObjectSymbol::Kind::undefined ? 'U' : 'T', symbol.name);
    return {};
  }
  auto library = metallib::read(bytes);
  if (!library) return tl::unexpected(std::move(library).error().in(name));
  for (const metallib::Function& function : library->functions) line('T', function.name);
  return {};
}

Result<void> nm(const Call& call) {
  SMELT_TRY(const Words words, split(call, std::array<std::string_view, 4>{"-g", "-U", "-u", "--defined-only"}));
  if (words.files.empty()) return fail(Errc::invalid_argument, "no input files");
  for (const std::string& file : words.files) {
    SMELT_TRY(const Bytes bytes, read_file(file));
    SMELT_TRY_VOID(print_symbols(file, bytes, words.files.size() > 1));
  }
  return {};
}

void print_library(const metallib::Library& library) {
  for (const metallib::Function& function : library.functions)
    fmt::print("{:<12} AIR {}.{} Metal {}.{} {:>8} bytes  {}\n",
               metallib::function_type_name(function.type.value_or(3)), function.versions.air_major,
               function.versions.air_minor, function.versions.language_major, function.versions.language_minor,
               library.module_of(function).bitcode().size(), printable(function.name));
}

Result<void> objdump(const Call& call) {
  SMELT_TRY(const Words words,
            split(call, std::array<std::string_view, 7>{"--metallib", "-d", "--disassemble", "-disassemble-all",
                                                        "--disassemble-all", "-t", "--syms"}));
  if (words.files.empty()) return fail(Errc::invalid_argument, "no input files");
  const bool code =
      words.has("-d") || words.has("--disassemble") || words.has("-disassemble-all") || words.has("--disassemble-all");
  for (const std::string& file : words.files) {
    SMELT_TRY(const Bytes bytes, read_file(file));
    const bool is_library = metallib::is_metallib(bytes);
    fmt::print("\n{}:\tfile format {}\n\n", printable(file), is_library ? "MetalLib" : "AIR bitcode");
    if (words.has("-t") || words.has("--syms")) SMELT_TRY_VOID(print_symbols(file, bytes, false));
    if (is_library && (words.has("--metallib") || !code)) {
      SMELT_TRY(const metallib::Library library, metallib::read(bytes));
      print_library(library);
    }
    if (code) {
      SMELT_TRY(const std::string text, aot::disassemble(bytes, file));
      fmt::print("{}", text);
    }
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
int run_dsymutil(const Call& call) {
  return exit_code(
      call,
      fail(Errc::unsupported,
           "symbol companions are not written here; with metal -frecord-sources the library itself has the sources"));
}

}  // namespace smelt::toolchain
