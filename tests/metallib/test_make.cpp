// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/metallib/check.hpp"
#include "smelt/metallib/inspect.hpp"
#include "smelt/metallib/reader.hpp"
#include "smelt/metallib/writer.hpp"

#include "real_files.hpp"

#include <doctest/doctest.h>

using namespace smelt;
using namespace smelt::metallib;

namespace {

/// A magic and one empty block; `id` makes it differ.
Bytes bitcode(uint32_t id, uint32_t words) {
  ByteWriter out;
  out.put<uint32_t>(kBitcodeMagic);
  out.put<uint32_t>(1 | id << 2 | 3 << 10);
  out.put<uint32_t>(words);
  for (uint32_t i = 0; i < words; ++i) out.put<uint32_t>(i);
  return out.take();
}

NewLibrary request_for(const std::vector<Bytes>& modules) {
  NewLibrary request{.patch = 8, .platform = Platform::ios, .os_major = 18, .os_minor = 2};
  for (size_t i = 0; i < modules.size(); ++i)
    request.functions.push_back({.name = fmt::format("f{}", i),
                                 .bitcode = modules[i],
                                 .versions = {2, 7, 3, 2},
                                 .constants = {{"n", 29, 0, true}, {"flag", 53, static_cast<uint16_t>(i), true}}});
  return request;
}

}  // namespace

TEST_CASE("fresh libraries of 0, 1 and 3 functions read back as they were asked for") {
  for (const size_t count : {0, 1, 3}) {
    std::vector<Bytes> modules;
    for (uint32_t i = 0; i < count; ++i) modules.push_back(bitcode(8, i));
    const auto made = make_library(request_for(modules));
    REQUIRE_MESSAGE(made, made.error().message);
    const Bytes image = write(*made).value();
    const auto library = read(image);
    REQUIRE_MESSAGE(library, library.error().message);
    CHECK(write(*library).value() == image);

    CHECK(library->patch == 8);
    CHECK(library->platform == static_cast<uint8_t>(Platform::ios));
    CHECK_FALSE(library->built_for_macos);
    CHECK(library->os_major == 18);
    CHECK(library->os_minor == 2);
    REQUIRE(library->functions.size() == count);
    for (size_t i = 0; i < count; ++i) {
      const Function& function = library->functions[i];
      CHECK(function.name == fmt::format("f{}", i));
      CHECK(function.versions == Versions{2, 7, 3, 2});
      CHECK(as_text(library->module_of(function).bitcode()) == as_text(modules[i]));
      CHECK(library->module_of(function).blob.size() % 16 == 0);
      CHECK(constants_of(library->public_of(function)).value() ==
            std::vector<Constant>{{"n", 29, 0, true}, {"flag", 53, static_cast<uint16_t>(i), true}});
    }
    const auto findings = check_file(image);
    CHECK(findings.size() == (count == 0 ? 1 : 0));  // an empty library is worth a word
  }
}

TEST_CASE("a function's group has the size that Apple's has") {
  // docs/formats/metallib.md 13: 121 bytes for `foo`, in the order NAME TYPE HASH OFFT VERS MDSZ.
  const Bytes module = bitcode(8, 0);
  NewLibrary request{.patch = 9, .os_major = 26};
  request.functions.push_back({.name = "foo", .bitcode = module, .versions = {2, 8, 4, 0}});
  const Library library = make_library(request).value();
  CHECK(layout_of(library).value().list_size == 121);
  const LibraryFacts facts = inspect(library).value();
  CHECK(facts.dialect == "linker");
  CHECK(facts.functions[0].tags == std::vector<std::string>{"NAME", "TYPE", "HASH", "OFFT", "VERS", "MDSZ"});
  CHECK(facts.functions[0].hash_matches);
}

TEST_CASE("equal requests give equal bytes, and the UUID follows the content") {
  const std::vector<Bytes> modules{bitcode(8, 1), bitcode(8, 2)};
  const auto image = [&](const NewLibrary& request) { return write(make_library(request).value()).value(); };
  const auto uuid = [&](const NewLibrary& request) { return inspect(make_library(request).value()).value().uuid; };
  const NewLibrary request = request_for(modules);
  CHECK(image(request) == image(request));
  CHECK(uuid(request)[14] == '8');  // RFC 9562 version
  CHECK(std::string_view("89ab").find(uuid(request)[19]) != std::string_view::npos);
  NewLibrary other = request;
  other.functions[1].name = "g";
  CHECK(uuid(other) != uuid(request));
  other = request;
  other.functions[1].bitcode = modules[0];
  CHECK(uuid(other) != uuid(request));
}

TEST_CASE("old containers carry no platform") {
  const std::vector<Bytes> modules{bitcode(8, 1)};
  NewLibrary request = request_for(modules);
  request.patch = 5;
  const Library library = make_library(request).value();
  CHECK(library.platform == 0);
  CHECK(library.os_major == 0);
  CHECK_FALSE(library.is_64bit);
}

TEST_CASE("a library that cannot be is not made") {
  const Bytes module = bitcode(8, 0);
  const auto message = [&](NewFunction function) {
    function.bitcode = function.bitcode.empty() ? ByteView(module) : function.bitcode;
    NewLibrary request;
    request.functions = {function, function};
    const auto library = make_library(request);
    return library ? std::string() : library.error().message;
  };
  CHECK(message({.name = "f"}) == "two functions named 'f'; names in a library are unique");
  CHECK(message({.name = ""}) == "function name of 0 bytes; want 1 to 65534 bytes of UTF-8 without NUL");
  CHECK(message({.name = "\xff"}) == "function name of 1 bytes; want 1 to 65534 bytes of UTF-8 without NUL");
  CHECK(message({.name = "f", .bitcode = as_bytes("hello")}) ==
        "function 'f': 5 bytes are not LLVM bitcode; want 'BC' C0 DE and whole words");
  const Bytes cut(module.begin(), module.begin() + 8);
  CHECK_FALSE(message({.name = "f", .bitcode = cut}).empty());
  CHECK_FALSE(make_library({.patch = 10}));
}

TEST_CASE("Apple's modules in a fresh library keep their hashes") {
  for (const auto& path : test::fixtures()) {
    CAPTURE(path);
    const Bytes image = test::must_read(path);
    const Library apple = read(image).value();
    NewLibrary request{.patch = apple.patch, .os_major = apple.os_major};
    for (const Function& function : apple.functions)
      request.functions.push_back({.name = function.name,
                                   .type = static_cast<FunctionType>(*function.type),
                                   .bitcode = apple.module_of(function).bitcode(),
                                   .versions = function.versions,
                                   .constants = constants_of(apple.public_of(function)).value()});
    const Library ours = make_library(request).value();
    const Bytes written = write(ours).value();
    REQUIRE(read(written));
    CHECK(check_file(written).empty());
    for (size_t i = 0; i < apple.functions.size(); ++i) CHECK(ours.functions[i].hash == apple.functions[i].hash);
  }
}
