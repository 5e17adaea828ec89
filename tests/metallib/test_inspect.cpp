// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/metallib/check.hpp"
#include "smelt/metallib/inspect.hpp"
#include "smelt/metallib/names.hpp"
#include "smelt/metallib/reader.hpp"
#include "smelt/metallib/text.hpp"

#include "files.hpp"
#include "real_files.hpp"
#include "skips.hpp"

#include <doctest/doctest.h>

using namespace smelt;
using namespace smelt::metallib;

namespace {

LibraryFacts facts_of(const std::filesystem::path& path) {
  const Bytes image = test::must_read(path);
  return inspect(read(image).value()).value();
}

}  // namespace

TEST_CASE("Apple's libraries leave nothing to find, and their sections cover the file") {
  for (const auto& path : test::real_files()) {
    CAPTURE(path);
    const Bytes image = test::must_read(path);
    for (const Finding& finding : check_file(image))
      FAIL_CHECK(path.filename(), ": ", finding.place, ": ", finding.message);
    const auto facts = inspect(read(image).value());
    REQUIRE(facts);
    uint64_t at = sizeof(Header);
    for (const SectionFacts& section : facts->sections) {
      CHECK(section.offset == at);
      at += section.size;
    }
    CHECK(at == image.size());
    for (const FunctionFacts& function : facts->functions) CHECK(function.hash_matches);
  }
}

TEST_CASE("the dialect is that of the metadata, where there is some") {
  const std::filesystem::path cases = std::filesystem::path(SMELT_SOURCE_DIR) / "tests/metallib/cases";
  const auto dialect_of = [&](const char* name) {
    const Bytes text = test::must_read(cases / name);
    const Bytes image = from_text(as_text(text)).value();
    return inspect(read(image).value()).value().dialect;
  };
  CHECK(dialect_of("ok_no_functions.txt") == "unknown");
  CHECK(dialect_of("ok_one_function.txt") == "linker");
  CHECK(dialect_of("ok_everything.txt") == "mixed");
}

TEST_CASE("what is known of the fixtures is said") {
  const auto folder = test::shared("data/metallibs");
  if (!folder) {
    smelt::test::skipped("tests/data/metallibs is absent");
    return;
  }
  const LibraryFacts constants = facts_of(*folder / "constants.15.metallib");
  CHECK(constants.container == "1.2.8");
  CHECK(constants.dialect == "linker");
  CHECK(constants.platform == "macos");
  CHECK(constants.os_major == 15);
  REQUIRE(constants.functions.size() == 1);
  const FunctionFacts& vadd = constants.functions[0];
  CHECK(vadd.name == "vadd");
  CHECK(vadd.type == "kernel");
  CHECK(vadd.versions == Versions{2, 7, 3, 2});
  CHECK(vadd.constants == std::vector<Constant>{{"foo", 3, 0, true}, {"bar", 3, 2, true}});
  REQUIRE(vadd.reflection);
  CHECK(vadd.reflection->version == std::array<uint32_t, 3>{0, 3, 0});
  CHECK(vadd.reflection->node_types == std::vector<uint32_t>{2, 262144, 262144, 262144, 266240, 524288, 524288});
  CHECK(vadd.reflection->kernels == std::vector<uint32_t>{0});
  CHECK(vadd.reflection->constants == std::vector<uint32_t>{5, 6});

  const LibraryFacts debug = facts_of(*folder / "debuginfo.14.metallib");
  CHECK(debug.functions[0].source_line > 0);
  CHECK(debug.functions[0].source_path.ends_with(".metal"));

  const LibraryFacts sources = facts_of(*folder / "sources.26.metallib");
  CHECK(sources.link_command.find("air-lld") != std::string::npos);
  CHECK(sources.link_directory.starts_with("/"));
  CHECK(sources.install_name == "sources.26.metallib");
  REQUIRE(sources.source_archives.size() == 2);
  CHECK(sources.source_archives[0].compression == "bzip2");
  CHECK(sources.functions[0].air_path.ends_with(".air"));
}

TEST_CASE("the corpus is what its makers' tools are known to write") {
  for (const auto& path : test::corpus_files()) {
    const LibraryFacts facts = facts_of(path);
    CHECK(facts.container == "1.2.7");
    CHECK(facts.dialect == "tool");
    CHECK(facts.functions.size() == (path.string().find("llama") != std::string::npos ? 574 : 385));
    CHECK(facts.uuid.empty());
  }
}

TEST_CASE("numbers have names, and names are read back") {
  CHECK(data_type_name(3) == "float");
  CHECK(data_type_name(6) == "float4");
  CHECK(data_type_name(53) == "bool");
  CHECK(data_type_name(200) == "200");
  for (int i = 0; i < 20; ++i) {
    const auto value = static_cast<uint8_t>(i);
    CHECK(parse_function_type(function_type_name(value)) == value);
    CHECK(parse_platform(platform_name(value)) == value);
    CHECK(parse_file_type(file_type_name(value)) == value);
  }
  CHECK_FALSE(parse_platform("256"));
  CHECK_FALSE(parse_platform(""));
}

TEST_CASE("bytes that are something else are called by their name") {
  const std::pair<std::string_view, std::string_view> samples[] = {
      {"BC\xC0\xDE....", "LLVM bitcode"},
      {"\xDE\xC0\x17\x0B....", "LLVM bitcode in its wrapper"},
      {"\xCA\xFE\xBA\xBE....", "a universal Mach-O file"},
      {"\xCF\xFA\xED\xFE....", "a Mach-O file"},
      {"\x7F"
       "ELF\x02",
       "an ELF file"},
      {"\x28\xB5\x2F\xFD....", "zstd-compressed data"},
      {"  {\"a\": 1}", "JSON"},
      {"version https://git-lfs.github.com/spec/v1\n", "a Git LFS pointer, not the file itself"},
      {"<!DOCTYPE html>\n", "HTML"},
      {"; ModuleID = 'x'\n", "LLVM IR text"},
      {"using namespace metal;\nkernel void f() {}", "Metal Shading Language source"},
      {"hello, world", "text"},
      {"SMLT....", "a smelt package"},
      {"\x01\x02\x03\x04", "unknown data starting with 01 02 03 04"},
  };
  for (const auto& [bytes, name] : samples) CHECK(looks_like(as_bytes(bytes)) == name);
}

TEST_CASE("the size of a module belongs to functions from AIR 2.0 on") {
  const Bytes text =
      test::must_read(std::filesystem::path(SMELT_SOURCE_DIR) / "tests/metallib/cases/ok_one_function.txt");
  const Bytes image = from_text(as_text(text)).value();
  for (const uint16_t air : {1, 2, 3}) {
    Library library = read(image).value();
    Function& function = library.functions.front();
    function.versions.air_major = air;
    std::erase_if(function.tags, [](const Tag& tag) { return tag.name == tag::module_size; });
    const auto findings = check_library(library);
    const bool is_told = std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
      return finding.message == "no MDSZ, with AIR 2.0 or later";
    });
    CHECK(is_told == (air >= 2));
  }
}

TEST_CASE("a type of function that Metal does not have is a finding, and the last that it has is none") {
  const Bytes text =
      test::must_read(std::filesystem::path(SMELT_SOURCE_DIR) / "tests/metallib/cases/ok_one_function.txt");
  const Bytes image = from_text(as_text(text)).value();
  const auto findings_of_type = [&](uint8_t type) {
    Library library = read(image).value();
    library.functions.front().type = type;
    std::string found;
    for (const Finding& finding : check_library(library))
      if (finding.message.starts_with("TYPE")) found += finding.message;
    return std::pair(found, kind_of(library.functions.front()));
  };
  CHECK(findings_of_type(8) == std::pair(std::string(), FunctionKind::object));
  CHECK(findings_of_type(9) == std::pair(std::string("TYPE 9; want 0 to 8"), FunctionKind::unqualified));
}
