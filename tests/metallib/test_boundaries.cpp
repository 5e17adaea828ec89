// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the rules of the container's parts begin and end: the last value that is read, the first that is refused.
#include "smelt/metallib/check.hpp"
#include "smelt/metallib/metadata.hpp"
#include "smelt/metallib/reader.hpp"
#include "smelt/metallib/text.hpp"
#include "smelt/metallib/writer.hpp"

#include <doctest/doctest.h>

using namespace smelt;
using namespace smelt::metallib;

namespace {

/// A reflection buffer with two nodes, a kernel and two constants; each table where the comments say.
Bytes reflection() {
  ByteWriter out;
  const auto words = [&](std::initializer_list<uint32_t> values) {
    for (const uint32_t value : values) out.put<uint32_t>(value);
  };
  const auto halves = [&](std::initializer_list<uint16_t> values) {
    for (const uint16_t value : values) out.put<uint16_t>(value);
  };
  words({32});  // the root table
  out.put_text("AIRR");
  halves({24, 28, 4, 16, 0, 0, 20, 0, 0, 0, 0, 24});  // 8: its vtable
  words({24, 2, 8, 1, 60 - 48, 72 - 52, 80 - 56});    // 32: version 2.8.1, nodes, kernels, constants
  words({2, 100 - 64, 116 - 68});                     // 60: nodes
  words({1, 1});                                      // 72: kernels
  words({2, 0, 1});                                   // 80: constants
  halves({8, 12, 4, 8});                              // 92: vtable of the first node
  words({8, 7, 120 - 108});                           // 100: it; its type, its typed table
  halves({4, 4});                                     // 112: vtable without fields
  words({4});                                         // 116: the second node
  words({8});                                         // 120: the typed table
  return out.take();
}

template <class T>
std::string said_of_reflection(size_t at, T value) {
  Bytes bytes = reflection();
  store_le<T>(bytes.data() + at, value);
  const auto view = parse_reflection(bytes, 1000);
  return view ? std::string() : view.error().message;
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != text.npos;
}

/// A magic and one empty block.
Bytes bitcode() {
  ByteWriter out;
  out.put<uint32_t>(kBitcodeMagic);
  out.put<uint32_t>(1 | 8 << 2 | 3 << 10);
  out.put<uint32_t>(0);
  return out.take();
}

NewLibrary request_for(ByteView module) {
  NewLibrary request{.patch = 8, .platform = Platform::macos, .os_major = 14};
  request.functions.push_back({.name = "f", .bitcode = module, .versions = {2, 6, 3, 1}});
  return request;
}

}  // namespace

TEST_CASE("a reflection buffer is read, and no prefix of it") {
  const Bytes whole = reflection();
  REQUIRE(whole.size() == 124);
  const auto view = parse_reflection(whole);
  REQUIRE_MESSAGE(view, view.error().message);
  CHECK(view->version == std::array<uint32_t, 3>{2, 8, 1});
  CHECK(view->node_types == std::vector<uint32_t>{7, 0});
  CHECK(view->kernels == std::vector<uint32_t>{1});
  CHECK(view->constants == std::vector<uint32_t>{0, 1});
  for (size_t size = 0; size < whole.size(); ++size) {
    const Bytes prefix(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    const auto cut = parse_reflection(prefix, 1000);
    REQUIRE_FALSE(cut);
    CHECK(contains(cut.error().message, "want identifier AIRR at its byte 4") == (size < 8));
    CHECK(cut.error().code == Errc::corrupt);
  }
}

TEST_CASE("sizes and offsets of a reflection buffer are read up to its end and not one further") {
  const auto ok = [](size_t at, auto value) { return said_of_reflection(at, value).empty(); };
  CHECK(ok(80, uint32_t{10}));  // elements of the vector of constants: 40 bytes follow it
  CHECK(contains(said_of_reflection(80, uint32_t{11}), "vector at its byte 80 claims 11 elements, the buffer has 124"));
  CHECK(contains(said_of_reflection(0, uint32_t{0}), "reflection at byte 1000: offset at its byte 0 leads to 0"));
  CHECK(contains(said_of_reflection(0, uint32_t{121}), "offset at its byte 0 leads to 121, it has 124 bytes"));
  CHECK(contains(said_of_reflection(0, uint32_t{124}), "offset at its byte 0 leads to 124, it has 124 bytes"));
  CHECK(contains(said_of_reflection(108, uint32_t{0}), "offset at its byte 108 leads to 108"));
  CHECK(contains(said_of_reflection(68, uint32_t{1000}), "offset at its byte 68 leads to 1068"));

  CHECK(ok(8, uint16_t{116}));  // the root's vtable: 116 bytes to the buffer's end
  CHECK(contains(said_of_reflection(8, uint16_t{118}), "leaves the buffer"));
  CHECK(contains(said_of_reflection(8, uint16_t{25}), "leaves the buffer"));
  CHECK(contains(said_of_reflection(8, uint16_t{2}), "leaves the buffer"));
  CHECK(ok(112, uint16_t{4}));
  CHECK(ok(10, uint16_t{92}));  // the root table itself
  CHECK(contains(said_of_reflection(10, uint16_t{93}), "leaves the buffer"));
  CHECK(contains(said_of_reflection(114, uint16_t{3}), "leaves the buffer"));
  CHECK(ok(114, uint16_t{4}));

  CHECK(ok(12, uint16_t{16}));  // the version, of 12 bytes in a table of 28
  CHECK(contains(said_of_reflection(12, uint16_t{17}), "field 0 of the table at its byte 32 is outside the table"));
  CHECK(contains(said_of_reflection(12, uint16_t{29}), "field 0 of the table at its byte 32 is outside the table"));
  CHECK(ok(12, uint16_t{0}));  // none
  CHECK(ok(98, uint16_t{0}));  // the first node without a typed table
  CHECK(contains(said_of_reflection(32, uint32_t{33}), "has its vtable before the buffer"));
  CHECK(contains(said_of_reflection(32, 0xffffff00u), "want 2 bytes at its byte 288, it has 124"));
}

TEST_CASE("vertex attributes are read back as they were given") {
  const Bytes module = bitcode();
  NewLibrary request = request_for(module);
  request.functions[0].type = FunctionType::vertex;
  request.functions[0].vertex_attributes = {{"position", 0, 0, true, 5},
                                            {"last", 0x1fff, 3, true, 255},
                                            {"patch", 1, 1, false, 0},
                                            {"control", 4096, 2, false, 30}};
  const auto made = make_library(request);
  REQUIRE_MESSAGE(made, made.error().message);
  const Bytes image = write(*made).value();
  const auto library = read(image);
  REQUIRE(library);
  CHECK(vertex_attributes_of(library->public_of(library->functions[0])).value() ==
        request.functions[0].vertex_attributes);
  request.functions[0].vertex_attributes = {{"a", 0x2000, 0, true, 5}};
  CHECK_FALSE(make_library(request));
  request.functions[0].vertex_attributes = {{"a", 0, 4, true, 5}};
  CHECK_FALSE(make_library(request));
}

TEST_CASE("function constants of every number are read back") {
  const Bytes module = bitcode();
  NewLibrary request = request_for(module);
  request.functions[0].constants = {{"first", 29, 0, true}, {"last", 255, 65535, false}};
  const Bytes image = write(make_library(request).value()).value();
  const auto library = read(image);
  REQUIRE(library);
  CHECK(constants_of(library->public_of(library->functions[0])).value() == request.functions[0].constants);
}

TEST_CASE("bitcode is whole words that begin with its magic") {
  const Bytes module = bitcode();
  CHECK(make_library(request_for(module)));
  CHECK(make_library(request_for(ByteView(module).first(4))));
  for (const size_t size : {0, 2, 3, 5, 6, 7, 10})
    CHECK(contains(make_library(request_for(ByteView(module).first(size))).error().message,
                   fmt::format("{} bytes are not LLVM bitcode", size)));
  Bytes other = module;
  other[0] = std::byte{'X'};
  CHECK(contains(make_library(request_for(other)).error().message, "are not LLVM bitcode"));
  const auto said = [&](uint32_t head, uint32_t words) {
    Bytes changed = module;
    store_le<uint32_t>(changed.data() + 4, head);
    store_le<uint32_t>(changed.data() + 8, words);
    const auto made = make_library(request_for(changed));
    return made ? std::string() : made.error().message;
  };
  const uint32_t block = 1 | 8 << 2 | 3 << 10;
  CHECK(said(block, 0).empty());
  CHECK(contains(said(block, 1), "bitcode at byte 20: block at byte 24 claims 4 bytes, 0 are left"));
  for (const unsigned bit : {1u, 9u, 13u, 14u, 31u})
    CHECK(contains(said(block | 1u << bit, 0), "bitcode at byte 20: want a block at byte 24"));
  CHECK(contains(said(block & ~1u, 0), "want a block"));
  CHECK_FALSE(make_library(request_for(ByteView(module).first(8))));  // a block without its length
}

TEST_CASE("names have one to 65534 bytes") {
  const Bytes module = bitcode();
  NewLibrary request = request_for(module);
  request.functions[0].name = std::string(65534, 'n');
  const auto made = make_library(request);
  REQUIRE(made);
  CHECK(read(write(*made).value()).value().functions[0].name.size() == 65534);
  request.functions[0].name += 'n';
  CHECK_FALSE(make_library(request));
  request.functions[0].name = std::string("a\0b", 3);
  CHECK_FALSE(make_library(request));
}

TEST_CASE("containers from 1.2.2 to 1.2.9 are made, and what each has is as Apple's have it") {
  const Bytes module = bitcode();
  for (uint16_t patch = 0; patch < 12; ++patch) {
    CAPTURE(patch);
    NewLibrary request = request_for(module);
    request.patch = patch;
    request.functions[0].versions = {2, 0, 2, 0};
    const auto made = make_library(request);
    CHECK(made.has_value() == (patch >= 2 && patch <= 9));
    if (!made) continue;
    CHECK(made->platform == (patch >= 6 ? static_cast<uint8_t>(Platform::macos) : 0));
    for (const bool with_extension : {true, false}) {
      Library library = *made;
      if (!with_extension) library.extension.reset();
      size_t notes = 0;
      for (const Finding& finding : check_library(library)) notes += finding.place == "header extension";
      CHECK(notes == (with_extension == (patch >= 3) ? 0 : 1));
    }
  }
}

TEST_CASE("names with any byte survive the text form") {
  const Bytes module = bitcode();
  NewLibrary request = request_for(module);
  request.functions[0].name = "a\x01\x1f \x7e\x7f\"\\\xc3\xa9z";
  const Library library = make_library(request).value();
  const std::string text = to_text(library).value();
  CHECK(contains(text, "\"a\\x01\\x1f ~\\x7f\\\"\\\\\xc3\xa9z\""));
  CHECK(from_text(text).value() == write(library).value());
}

TEST_CASE("each kind of file that is no Metal library has a name") {
  const std::pair<std::string_view, std::string_view> samples[] = {
      {"", "an empty file"},
      {"abc", "a file of 3 bytes"},
      {"  \n\t ", "blank text"},
      {"<html>", "HTML"},
      {"<?xml version", "XML"},
      {"metallib text 1", "the text form of a Metal library"},
      {"[1, 2]", "JSON"},
      {"[[kernel]] void f()", "Metal Shading Language source"},
      {".version 8.0", "PTX assembly"},
      {"//\n// Generated by LLVM NVPTX", "PTX assembly"},
      {"module {", "MLIR"},
      {"module attributes {}", "MLIR"},
      {"#loc = loc(unknown)", "MLIR"},
      {".text", "assembly"},
      {".amdgcn_target \"x\"", "assembly"},
      {"target triple = \"x\"", "LLVM IR text"},
      {"define void @f() {}", "LLVM IR text"},
      {"define nothing here", "text"},
      {"an at @ alone", "text"},
      {"text\f\r\n", "text"},
      {"text\x7f", "unknown data starting with 74 65 78 74"},
      {"text\x1f", "unknown data starting with 74 65 78 74"},
      {std::string_view("te\0t", 4), "unknown data starting with 74 65 00 74"},
  };
  for (const auto& [bytes, name] : samples) CHECK(looks_like(as_bytes(bytes)) == name);
}
