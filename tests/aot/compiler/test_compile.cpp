// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The compile API from outside: kernels in, libraries out; the same bytes however they are asked for.
#include "smelt/aot/compile.hpp"
#include "smelt/metallib/reader.hpp"

#include "files.hpp"
#include "skips.hpp"

#include <doctest/doctest.h>

#include <clocale>
#include <filesystem>
#include <string>
#include <thread>

using namespace smelt;
using namespace smelt::aot;

namespace {

constexpr std::string_view kAdd =
    "define void @add(ptr addrspace(1) %x, ptr addrspace(1) %y, ptr addrspace(1) %z, i32 %n) \"smelt.kernel\" {\n"
    "entry:\n"
    "  %i = call i32 @smelt.builtin.thread_position_in_grid.x()\n"
    "  %inside = icmp samesign ult i32 %i, %n\n"
    "  br i1 %inside, label %work, label %done\n"
    "work:\n"
    "  %at = zext i32 %i to i64\n"
    "  %px = getelementptr inbounds float, ptr addrspace(1) %x, i64 %at\n"
    "  %a = load float, ptr addrspace(1) %px, align 4\n"
    "  %py = getelementptr inbounds float, ptr addrspace(1) %y, i64 %at\n"
    "  %b = load float, ptr addrspace(1) %py, align 4\n"
    "  %s = fadd float %a, %b\n"
    "  %pz = getelementptr inbounds float, ptr addrspace(1) %z, i64 %at\n"
    "  store float %s, ptr addrspace(1) %pz, align 4\n"
    "  br label %done\n"
    "done:\n"
    "  ret void\n"
    "}\n"
    "declare i32 @smelt.builtin.thread_position_in_grid.x()\n";

Bytes data(const std::string& name) {
  return test::must_read(std::filesystem::path(SMELT_SOURCE_DIR) / "tests/aot/ir/data" / name);
}

/// `count` kernels in one module.
std::string many_kernels(int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += fmt::format(
        "define void @k{0}(ptr addrspace(1) %p) \"smelt.kernel\" {{\n"
        "  %v = call float @helper(float {0}.0)\n  store float %v, ptr addrspace(1) %p, align 4\n  ret void\n}}\n",
        i);
  return text + "define internal float @helper(float %x) noinline {\n  %y = fmul float %x, 3.0\n  ret float %y\n}\n";
}

std::vector<Target> targets(std::initializer_list<std::string_view> names) {
  std::vector<Target> result;
  for (const auto name : names) result.push_back(parse_target(name).value());
  return result;
}

Compiled must_compile(std::vector<Source> sources, const CompileOptions& options = {}) {
  auto compiled = compile(sources, options);
  if (!compiled) FAIL(compiled.error().message);
  return std::move(*compiled);
}

}  // namespace

TEST_CASE("every known target: versions in the library and in the module") {
  CompileOptions options;
  for (const Target& target : known_targets()) options.targets.push_back(target);
  const Compiled compiled = must_compile({{"add.ll", as_bytes(kAdd)}}, options);
  REQUIRE(compiled.targets.size() == known_targets().size());
  for (const CompiledTarget& one : compiled.targets) {
    CAPTURE(one.target.name);
    const auto library = metallib::read(one.metallib);
    if (!library) FAIL(library.error().message);
    REQUIRE(library->functions.size() == 1);
    const metallib::Function& function = library->functions[0];
    CHECK(function.name == "add");
    CHECK(function.type == 2);
    CHECK(library->patch == one.target.container_patch);
    CHECK(library->os_major == one.target.os.major);
    CHECK(library->built_for_macos == (one.target.platform == Platform::macos));
    CHECK(function.versions == metallib::Versions{one.target.air.major, one.target.air.minor, one.target.language.major,
                                                  one.target.language.minor});
    const auto text = disassemble(one.metallib, "add.metallib", "add");
    if (!text) FAIL(text.error().message);
    CHECK(text->find(fmt::format("target triple = \"{}\"", one.target.triple)) != std::string::npos);
    CHECK(text->find(fmt::format("!{{i32 2, i32 {}, i32 0}}", one.target.air.minor)) != std::string::npos);
  }
}

TEST_CASE("what a kernel takes is read back from the finished module") {
  const Compiled compiled = must_compile({{"add.ll", as_bytes(kAdd)}}, {.threads_per_threadgroup = 128});
  REQUIRE(compiled.targets.size() == 1);
  CHECK(compiled.targets[0].target.name == "macos14");
  const KernelInfo& info = compiled.targets[0].functions.at(0).info;
  CHECK(info.name == "add");
  CHECK(info.stage == "kernel");
  CHECK(info.max_threads == 128);
  REQUIRE(info.arguments.size() == 5);
  for (uint32_t i = 0; i < 3; ++i) {
    CHECK(info.arguments[i].kind == ArgumentKind::buffer);
    CHECK(info.arguments[i].location == i);
    CHECK(info.arguments[i].address_space == 1);
  }
  CHECK(info.arguments[0].name == "x");
  CHECK(info.arguments[0].access == ArgumentAccess::read);
  CHECK(info.arguments[2].access == ArgumentAccess::read_write);
  CHECK(info.arguments[3].name == "n");
  CHECK(info.arguments[3].address_space == 2);
  CHECK(info.arguments[3].size == 4);
  CHECK(info.arguments[4].kind == ArgumentKind::builtin);
  CHECK(info.arguments[4].air_kind == "air.thread_position_in_grid");
}

TEST_CASE("the same bytes: one call or many, one thread or two, any folder and locale, targets together or apart") {
  const std::string many = many_kernels(20);
  const Bytes nvvm = data("llvm22-nvptx64.ll");
  const std::vector<Source> sources = {{"a/add.ll", as_bytes(kAdd)}, {"many.ll", as_bytes(many)}, {"nvvm.ll", nvvm}};
  CompileOptions options;
  options.targets = targets({"macos13", "macos15"});
  options.threadgroup_memory = 1024;
  const Compiled once = must_compile(sources, options);
  REQUIRE(once.targets.size() == 2);
  CHECK(once.targets[0].functions.size() == 22);

  SUBCASE("threads") {
    options.threads = 2;
    const Compiled again = must_compile(sources, options);
    CHECK(again.targets[0].metallib == once.targets[0].metallib);
    CHECK(again.targets[1].metallib == once.targets[1].metallib);
  }
  SUBCASE("targets apart") {
    options.targets = targets({"macos15"});
    CHECK(must_compile(sources, options).targets[0].metallib == once.targets[1].metallib);
  }
  SUBCASE("names, folders, locale") {
    test::TemporaryFolder folder;
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(folder.path());
    const std::string locale = std::setlocale(LC_ALL, nullptr);
    const char* other = std::setlocale(LC_ALL, "de_DE.UTF-8");
    if (!other) smelt::test::skipped("the locale de_DE.UTF-8 is not installed");
    const Compiled again =
        must_compile({{"/else/where.ll", sources[0].bytes}, {"b", sources[1].bytes}, {"", nvvm}}, options);
    std::setlocale(LC_ALL, locale.c_str());
    std::filesystem::current_path(before);
    CHECK(again.targets[0].metallib == once.targets[0].metallib);
    CHECK(again.targets[1].metallib == once.targets[1].metallib);
  }
  SUBCASE("inputs apart give the same modules") {
    size_t at = 0;
    for (const Source& source : sources) {
      const Compiled alone = must_compile({source}, options);
      for (const CompiledFunction& function : alone.targets[0].functions) {
        CHECK(function.bitcode == once.targets[0].functions[at].bitcode);
        CHECK(function.info == once.targets[0].functions[at].info);
        ++at;
      }
    }
    CHECK(at == 22);
  }
}

TEST_CASE("kernels by name, in any of several inputs") {
  const std::string_view plain = "define void @plain(ptr addrspace(1) %p) {\n  ret void\n}\n";
  const Compiled compiled =
      must_compile({{"add.ll", as_bytes(kAdd)}, {"plain.ll", as_bytes(plain)}}, {.kernels = {"plain"}});
  CHECK(compiled.targets[0].functions.size() == 2);
  const std::vector<Source> sources = {{"add.ll", as_bytes(kAdd)}};
  const auto wrong = compile(sources, {.kernels = {"plain"}});
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().message.find("'plain'") != std::string::npos);
}

TEST_CASE("Triton's metadata: threadgroup memory and threads") {
  const std::string_view text =
      "@global_smem = external addrspace(3) global [0 x i8], align 16\n"
      "define void @k(ptr addrspace(1) %p, i32 %i) \"smelt.kernel\" {\n"
      "  %at = getelementptr i8, ptr addrspace(3) @global_smem, i32 %i\n"
      "  %v = load float, ptr addrspace(3) %at, align 4\n  store float %v, ptr addrspace(1) %p, align 4\n  ret "
      "void\n}\n";
  const Compiled compiled = must_compile({{"k.ll", as_bytes(text)}},
                                         {.metadata_json = R"({"shared": 2048, "num_warps": 4, "warp_size": 32})"});
  const KernelInfo& info = compiled.targets[0].functions.at(0).info;
  CHECK(info.threadgroup_bytes == 2048);
  CHECK(info.max_threads == 128);
  const std::vector<Source> sources = {{"k.ll", as_bytes(text)}};
  for (const auto& [json, wanted] : std::initializer_list<std::pair<const char*, const char*>>{
           {R"({"num_warps": "4"})", "num_warps"},
           {R"({"warp_size": 64})", "64 lanes"},
           {R"({"global_scratch_size": 16})", "global_scratch_size"},
           {"[1]", "not a JSON object"},
           {"{\"shared\": ", "not a JSON object"}}) {
    const auto refused = compile(sources, {.metadata_json = json});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.find(wanted) != std::string::npos);
  }
}

TEST_CASE("a library goes in again and keeps its target") {
  CompileOptions options;
  options.targets = targets({"macos15"});
  const std::string many = many_kernels(3);
  const Compiled first = must_compile({{"many.ll", as_bytes(many)}}, options);
  const Bytes& library = first.targets[0].metallib;
  const Compiled second = must_compile({{"many.metallib", library}});
  CHECK(second.targets[0].target.triple == first.targets[0].target.triple);
  CHECK(second.targets[0].target.container_patch == first.targets[0].target.container_patch);
  CHECK(second.targets[0].metallib == library);
}

TEST_CASE("text of one entry point; several need a name") {
  const std::string many = many_kernels(3);
  const std::vector<Source> sources = {{"many.ll", as_bytes(many)}};
  REQUIRE_FALSE(emit_ll(sources, {}));
  const auto text = emit_ll(sources, {}, "k1");
  if (!text) FAIL(text.error().message);
  CHECK(text->find("define void @k1(") != std::string::npos);
  CHECK(text->find("@k2") == std::string::npos);
  CHECK(text->find("!air.kernel") != std::string::npos);
}

TEST_CASE("text after any pass, by the pass's name") {
  const std::string one = many_kernels(1);
  const std::vector<Source> sources = {{"one.ll", as_bytes(one)}};
  const auto passes = pass_names();
  REQUIRE(passes.size() > 20);
  std::string before;
  size_t changed = 0;
  for (const std::string_view pass : passes) {
    CompileOptions options;
    options.stop_after = pass;
    const auto text = emit_ll(sources, options);
    if (!text) FAIL(text.error().message);
    changed += *text != before;
    before = *text;
  }
  CHECK(changed > 2);
  CHECK(before == emit_ll(sources, {}).value());  // the last pass is the whole
  CompileOptions wrong;
  wrong.stop_after = "no_such_pass";
  const auto refused = emit_ll(sources, wrong);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Errc::invalid_argument);
  CHECK(refused.error().message.find("kernel_arguments") != std::string::npos);
}
