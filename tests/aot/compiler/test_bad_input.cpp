// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bad input: one clear error that names the file and the line, and nothing written.
#include "smelt/aot/compile.hpp"

#include "files.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace smelt;
using namespace smelt::aot;

namespace {

Error refused(std::string_view name, ByteView bytes, const CompileOptions& options = {}) {
  const std::vector<Source> sources = {{std::string(name), bytes}};
  const auto compiled = compile(sources, options);
  REQUIRE_FALSE(compiled);
  const Error& error = compiled.error();
  CHECK_MESSAGE(error.message.starts_with(fmt::format("{}: ", name)), error.message);
  CHECK_MESSAGE(error.message.find('\n') == std::string::npos, error.message);
  CHECK(error.message.size() < 700);
  return error;
}
Error refused(std::string_view text, const CompileOptions& options = {}) {
  return refused("kernel.ll", as_bytes(text), options);
}

bool says(const Error& error, std::initializer_list<std::string_view> parts) {
  for (const auto part : parts)
    if (error.message.find(part) == std::string::npos) {
      MESSAGE("no '", part, "' in: ", error.message);
      return false;
    }
  return true;
}

}  // namespace

TEST_CASE("not IR") {
  CHECK(refused("readme.txt", as_bytes("{\"a\": 1}")).code == Errc::source_type);
  CHECK(says(refused("a.out", as_bytes(std::string_view("\x7f"
                                                        "ELF\x02\x01\x01\0",
                                                        8))),
             {"an ELF file"}));
  CHECK(says(refused("empty.ll", ByteView{}), {"empty"}));
  CHECK(says(refused("cut.metallib", as_bytes(std::string_view("MTLB\x01\x80\x02\0", 8))), {"cut.metallib"}));
}

TEST_CASE("text that does not parse names its line") {
  CHECK(says(refused("define void @k() {\n  %x = frobnicate i32 1\n  ret void\n}\n"), {"line 2", "'frobnicate'"}));
  CHECK(says(refused("define void @k() {\n  ret void\n}\n@g = global {"), {"line 4"}));
}

TEST_CASE("double precision") {
  const Error error = refused(
      "define void @k(ptr addrspace(1) %p) \"smelt.kernel\" {\n"
      "  %v = load double, ptr addrspace(1) %p, align 8\n  %w = fmul double %v, %v\n"
      "  store double %w, ptr addrspace(1) %p, align 8\n  ret void\n}\n");
  CHECK(error.code == Errc::compile_failed);
  CHECK(says(error, {"line 1", "'k'", "double"}));
}

TEST_CASE("an unknown operation") {
  const Error error = refused(
      "; a comment first\ndefine void @k() \"smelt.kernel\" {\n  call void @air.frobnicate(i32 1)\n  ret void\n}\n"
      "declare void @air.frobnicate(i32)\n");
  CHECK(says(error, {"line 3", "air.frobnicate"}));
  CHECK(says(refused("define void @k() \"smelt.kernel\" {\n  call void @elsewhere()\n  ret void\n}\n"
                     "declare void @elsewhere()\n"),
             {"elsewhere"}));
}

TEST_CASE("a target that is too old says which are not") {
  CompileOptions options;
  options.targets.push_back(parse_target("macos13").value());
  const Error error = refused(
      "define void @k(ptr addrspace(1) %p) \"smelt.kernel\" {\n"
      "  %v = load bfloat, ptr addrspace(1) %p, align 2\n"
      "  %f = fpext bfloat %v to float\n  store float %f, ptr addrspace(1) %p, align 4\n  ret void\n}\n",
      options);
  CHECK(error.code == Errc::unsupported);
  CHECK(says(error, {"'k'", "bfloat"}));
}

TEST_CASE("two entry points of one name") {
  const std::string_view text = "define void @k() \"smelt.kernel\" {\n  ret void\n}\n";
  const std::vector<Source> sources = {{"one.ll", as_bytes(text)}, {"two.ll", as_bytes(text)}};
  const auto compiled = compile(sources);
  REQUIRE_FALSE(compiled);
  CHECK(says(compiled.error(), {"two.ll", "'k'", "one.ll"}));
}

TEST_CASE("the first bad input is the one named, whatever finishes first") {
  const std::string_view good = "define void @g() \"smelt.kernel\" {\n  ret void\n}\n";
  const std::string_view bad = "define void @k( {\n";
  for (int i = 0; i < 8; ++i) {
    const std::vector<Source> sources = {{"good.ll", as_bytes(good)},
                                         {"bad1.ll", as_bytes(bad)},
                                         {"bad2.ll", as_bytes(bad)},
                                         {"bad3.ll", as_bytes(bad)}};
    const auto compiled = compile(sources, {.threads = 2});
    REQUIRE_FALSE(compiled);
    CHECK(compiled.error().message.starts_with("bad1.ll: line 1"));
  }
}

TEST_CASE("targets and options") {
  CHECK(says(parse_target("macos11").error(), {"macos11", "macos12", "ios26"}));
  CHECK(parse_target("macos14.2").value().triple == "air64-apple-macosx14.2.0");
  CHECK(parse_target("ios17").value().triple == "air64-apple-ios17.0.0");
  for (const char* name : {"", "macos", "macos14.", "macos14.x", "macos14.2.1", "macos140", "MACOS14", "ios18.999"})
    CHECK_FALSE(parse_target(name));
  const auto nothing = compile({});
  REQUIRE_FALSE(nothing);
  CHECK(nothing.error().code == Errc::invalid_argument);
}
