// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Objects and links from outside: symbols, calls across objects, archives, and files that are cut short.
#include "smelt/aot/object.hpp"
#include "smelt/metallib/reader.hpp"

#include "files.hpp"
#include "skips.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

using namespace smelt;
using namespace smelt::aot;

namespace {

CompileOptions unit_options() {
  CompileOptions options;
  options.targets = {parse_target("macos14").value()};
  options.object = true;
  return options;
}

/// A Metal source as the bytes of its .air file.
Bytes object_of(std::string_view text) {
  const CompileOptions options = unit_options();
  const Source source{"unit.metal", as_bytes(text)};
  const auto unit = compile(std::span(&source, 1), options);
  if (!unit) FAIL(unit.error().message);
  auto object = make_object(unit->targets[0].metallib, options.targets[0], options);
  if (!object) FAIL(object.error().message);
  return std::move(*object);
}

std::vector<std::string> names_in(ByteView metallib) {
  const auto library = metallib::read(metallib);
  if (!library) FAIL(library.error().message);
  std::vector<std::string> names;
  for (const metallib::Function& function : library->functions) names.push_back(function.name);
  return names;
}

Result<Bytes> link(const std::vector<Source>& files) {
  SMELT_TRY(const std::vector<Linked> linked, resolve_objects(files));
  std::vector<Source> sources;
  for (const Linked& one : linked) sources.push_back({one.name, one.bytes});
  CompileOptions options;
  options.targets = {parse_target("macos14").value()};
  SMELT_TRY(Compiled compiled, compile(sources, options));
  return std::move(compiled.targets[0].metallib);
}

std::vector<std::string> must_link(const std::vector<Source>& files) {
  const auto library = link(files);
  if (!library) FAIL(library.error().message);
  return names_in(*library);
}

Error refused(const std::vector<Source>& files) {
  const auto library = link(files);
  REQUIRE_FALSE(library);
  CHECK_MESSAGE(library.error().message.find('\n') == std::string::npos, library.error().message);
  return library.error();
}

bool says(const Error& error, std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts)
    if (error.message.find(part) == std::string::npos) {
      MESSAGE("no '", part, "' in: ", error.message);
      return false;
    }
  return true;
}

using Names = std::vector<std::string>;

constexpr std::string_view kFill = "kernel void fill(device float* x) { x[0] = 7; }\n";
constexpr std::string_view kTwo = "float two() { return 2; }\n";
constexpr std::string_view kCaller = "float two();\nkernel void caller(device float* x) { x[0] = two(); }\n";

}  // namespace

TEST_CASE("an object's symbols: entries, functions for others, and what is called elsewhere") {
  const Bytes object = object_of(
      "float two();\nfloat three() { return two() + 1; }\nstatic float own() { return 4; }\n"
      "kernel void k(device float* x) { x[0] = three() + own(); }\n");
  const auto symbols = object_symbols(object, "k.air");
  REQUIRE(symbols);
  std::set<std::pair<std::string, ObjectSymbol::Kind>> found;
  for (const ObjectSymbol& symbol : *symbols) {
    found.emplace(symbol.name, symbol.kind);
    CHECK(symbol.stage == (symbol.kind == ObjectSymbol::Kind::entry ? "kernel" : ""));
  }
  CHECK(found == std::set<std::pair<std::string, ObjectSymbol::Kind>>{{"k", ObjectSymbol::Kind::entry},
                                                                      {"_Z5threev", ObjectSymbol::Kind::function},
                                                                      {"_Z3twov", ObjectSymbol::Kind::undefined}});
  CHECK(is_link_input(object));
  CHECK(built_for(object)->name == "macos14");
}

TEST_CASE("a function of another object is called, and none but kernels are in the library") {
  const Bytes caller = object_of(kCaller), two = object_of(kTwo), fill = object_of(kFill);
  const std::vector<Source> files = {{"caller.air", caller}, {"fill.air", fill}, {"two.air", two}};
  const auto linked = resolve_objects(files);
  REQUIRE(linked);
  REQUIRE(linked->size() == 2);  // caller and two are one; fill stays as it was
  CHECK(!linked->at(0).joined.empty());
  CHECK(linked->at(1).joined.empty());
  CHECK(linked->at(1).bytes.data() == fill.data());
  CHECK(must_link(files) == Names{"caller", "fill"});
  const auto library = link(files);
  const auto text = disassemble(*library, "x.metallib", "caller");
  REQUIRE(text);
  CHECK(text->find("_Z3twov") == std::string::npos);
  CHECK(text->find("2.000000e+00") != std::string::npos);
}

TEST_CASE("a symbol that two objects have") {
  const Bytes two = object_of(kTwo), other = object_of("float two() { return 3; }\n"), fill = object_of(kFill);
  const Error function = refused({{"a.air", two}, {"fill.air", fill}, {"b.air", other}});
  CHECK(function.code == Errc::compile_failed);
  CHECK(says(function, {"duplicate symbol '_Z3twov'", "in a.air", "in b.air"}));
  CHECK(says(refused({{"a.air", fill}, {"b.air", fill}}), {"duplicate symbol 'fill'", "in a.air", "in b.air"}));
}

TEST_CASE("symbols that no object has are named all at once") {
  const Bytes object =
      object_of("float two();\nfloat three();\nkernel void k(device float* x) { x[0] = two() + three(); }\n");
  const Error error = refused({{"k.air", object}});
  CHECK(error.code == Errc::compile_failed);
  CHECK(says(error, {"undefined symbol '_Z3twov', which k.air calls", "undefined symbol '_Z5threev'"}));
}

TEST_CASE("three objects in a ring") {
  const auto part = [](const char* own, const char* next) {
    return object_of(
        fmt::format("float {1}(float v);\nfloat {0}(float v) {{ return v + 1; }}\n"
                    "kernel void k{0}(device float* x) {{ x[0] = {1}(x[1]); }}\n",
                    own, next));
  };
  const Bytes a = part("a", "b"), b = part("b", "c"), c = part("c", "a"), fill = object_of(kFill);
  const std::vector<Source> files = {{"a.air", a}, {"fill.air", fill}, {"b.air", b}, {"c.air", c}};
  const auto linked = resolve_objects(files);
  REQUIRE(linked);
  CHECK(linked->size() == 2);
  CHECK(must_link(files) == Names{"ka", "kb", "kc", "fill"});
}

TEST_CASE("functions of three objects that call each other in a ring") {
  const Bytes a = object_of(
      "int b(int n);\nint a(int n) { return n <= 0 ? 1 : b(n - 1) * 2; }\n"
      "kernel void k(device int* x) { x[0] = a(x[1]); }\n");
  const Bytes b = object_of("int c(int n);\nint b(int n) { return n <= 0 ? 3 : c(n - 1) + 5; }\n");
  const Bytes c = object_of("int a(int n);\nint c(int n) { return n <= 0 ? 7 : a(n - 1) ^ 11; }\n");
  CHECK(must_link({{"a.air", a}, {"b.air", b}, {"c.air", c}}) == Names{"k"});
}

TEST_CASE("an archive gives its members back, whatever their names and sizes") {
  const Bytes fill = object_of(kFill), two = object_of(kTwo);
  const std::string text = "odd";
  const std::vector<ArchiveMember> members = {
      {"fill.air", fill}, {std::string(60, 'n') + ".air", two}, {"odd", as_bytes(text)}, {"empty", {}}};
  const auto archive = write_archive(members);
  REQUIRE(archive);
  CHECK(is_archive(*archive));
  CHECK(is_link_input(*archive));
  const auto read = read_archive(*archive, "x.metalar");
  REQUIRE(read);
  REQUIRE(read->size() == members.size());
  for (size_t i = 0; i < members.size(); ++i) {
    CHECK(read->at(i).name == members[i].name);
    CHECK(to_bytes(read->at(i).bytes) == to_bytes(members[i].bytes));
  }
  CHECK(write_archive(*read).value() == *archive);
  CHECK(must_link({{"x(fill.air)", read->at(0).bytes}, {"x(two.air)", read->at(1).bytes}}) == Names{"fill"});
}

TEST_CASE("no prefix of an archive has all of its members") {
  const Bytes fill = object_of(kFill);
  const std::vector<ArchiveMember> members = {{"a.air", fill}, {"b.air", fill}};
  const Bytes whole = write_archive(members).value();
  // At the end of a header of a member, or of the member itself, an archive may end.
  size_t fewer = 0;
  for (size_t size = 8; size < whole.size(); ++size) {
    const auto read = read_archive(Bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size)), "cut.metalar");
    if (!read) {
      CHECK_MESSAGE(read.error().message.starts_with("cut.metalar: "), read.error().message);
      continue;
    }
    CHECK_MESSAGE(read->size() < 2, size);
    ++fewer;
  }
  CHECK(fewer <= 4);
}

TEST_CASE("every prefix of an object is an error that names it") {
  const Bytes whole = object_of(kCaller);
  // What follows the module that the wrapper places is padding.
  const size_t end = load_le<uint32_t>(whole.data() + 8) + load_le<uint32_t>(whole.data() + 12);
  REQUIRE(end <= whole.size());
  REQUIRE(object_symbols(Bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(end)), "cut.air"));
  for (size_t size = 0; size < end; ++size) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
    const auto symbols = object_symbols(cut, "cut.air");
    CAPTURE(size);
    REQUIRE_FALSE(symbols);
    CHECK_MESSAGE(symbols.error().message.starts_with("cut.air: "), symbols.error().message);
    CHECK_FALSE(built_for(cut));
    if (size % 16 != 0) continue;
    const Source file{"cut.air", cut};
    CHECK_FALSE(link({file}));
    CHECK_FALSE(disassemble(cut, "cut.air"));
  }
}

TEST_CASE("a library of Apple's compiler is an input like any other") {
  const auto folder = test::shared("data/metallibs");
  if (!folder) {
    smelt::test::skipped("tests/data/metallibs is absent");
    return;
  }
  const Bytes apple = test::must_read(*folder / "kernels.14.metallib");
  const Names theirs = names_in(apple);
  REQUIRE(theirs.size() > 1);
  CHECK(is_link_input(apple));
  CHECK(built_for(apple)->name == "macos14");
  const Bytes fill = object_of(kFill);
  Names all = theirs;
  all.emplace_back("fill");
  CHECK(must_link({{"apple.metallib", apple}, {"fill.air", fill}}) == all);
  // A name that both have.
  const Bytes same = object_of(fmt::format("kernel void {}(device float* x) {{ x[0] = 1; }}\n", theirs[0]));
  CHECK(says(refused({{"apple.metallib", apple}, {"same.air", same}}), {theirs[0], "apple.metallib"}));
}

TEST_CASE("what is for the linker, by its first bytes") {
  for (const char* text : {"", "kernel void k() {}\n", "define void @k() {\n", "!<arch", "PK\x03\x04"})
    CHECK_FALSE(is_link_input(as_bytes(std::string_view(text))));
  for (const std::string_view text : {std::string_view("!<arch>\n"), std::string_view("!<thin>\n"),
                                      std::string_view("BC\xC0\xDE"), std::string_view("MTLB")})
    CHECK(is_link_input(as_bytes(text)));
}

TEST_CASE("objects_an_object_that_cannot_be_read_behind_a_good_one_is_an_error") {
  const Bytes good = object_of(
      "[[clang::noinline]] float f(float x) { return x; }\nkernel void k(device float* x) { x[0] = "
      "f(x[1]); }");
  Bytes bad = object_of("kernel void l(device float* x) { x[0] = 1; }");
  for (size_t i = bad.size() / 2; i < bad.size(); ++i) bad[i] = std::byte{0xA5};
  const auto linked = link({{"good.air", good}, {"bad.air", bad}});
  REQUIRE_FALSE(linked);
  CHECK(linked.error().message.find("bad.air") != std::string::npos);
}
