// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keys: the same for what compiles to the same, another for anything that changes code.
#include "smelt/aot/fingerprint.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <set>
#include <string>

using namespace smelt;
using namespace smelt::aot;

namespace {

constexpr std::string_view kText =
    "source_filename = \"a/kernel.c\"\n"
    "define void @k(ptr addrspace(1) %p, i32 %n) \"smelt.kernel\" {\n"
    "  store i32 %n, ptr addrspace(1) %p, align 4\n  ret void\n}\n";

Digest normalised(std::string_view text, const CompileOptions& options = {},
                  std::span<const FingerprintField> more = {}) {
  const std::vector<Source> sources = {{"k.ll", as_bytes(text)}};
  const auto digest = normalised_fingerprint(sources, options, more);
  if (!digest) FAIL(digest.error().message);
  return *digest;
}
Digest raw(std::string_view text, const CompileOptions& options = {}, std::span<const FingerprintField> more = {}) {
  const std::vector<Source> sources = {{"k.ll", as_bytes(text)}};
  return raw_fingerprint(sources, options, more);
}

std::string replaced(std::string_view from, std::string_view to) {
  std::string text(kText);
  text.replace(text.find(from), from.size(), to);
  return text;
}

}  // namespace

TEST_CASE("another comment, blank, path or file name: same normalised key, another raw one") {
  for (const std::string& other :
       {std::string("; a comment\n") + std::string(kText), replaced("a/kernel.c", "/b/other.c"),
        replaced("  store", "\n\t\tstore"), replaced(" i32 %n)", " i32\n%n)")}) {
    CAPTURE(other);
    CHECK(normalised(other) == normalised(kText));
    CHECK(raw(other) != raw(kText));
  }
  const std::vector<Source> elsewhere = {{"/another/folder/name.txt", as_bytes(kText)}};
  CHECK(raw_fingerprint(elsewhere, {}) == raw(kText));
  // A newer spelling of the same.
  CHECK(normalised(replaced("ptr addrspace(1) %p, i32", "ptr addrspace(1) captures(none) %p, i32")) ==
        normalised(replaced("ptr addrspace(1) %p, i32", "ptr addrspace(1) nocapture %p, i32")));
}

TEST_CASE("line numbers of debug info count only when they are kept") {
  const auto with_line = [](int line) {
    return fmt::format(
        "define void @k(ptr addrspace(1) %p) \"smelt.kernel\" !dbg !3 {{\n"
        "  store i32 1, ptr addrspace(1) %p, align 4, !dbg !4\n  ret void, !dbg !4\n}}\n"
        "!llvm.dbg.cu = !{{!0}}\n!llvm.module.flags = !{{!2}}\n"
        "!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !1, emissionKind: LineTablesOnly)\n"
        "!1 = !DIFile(filename: \"a.c\", directory: \"\")\n!2 = !{{i32 2, !\"Debug Info Version\", i32 3}}\n"
        "!3 = distinct !DISubprogram(name: \"k\", file: !1, line: 1, unit: !0, spFlags: DISPFlagDefinition)\n"
        "!4 = !DILocation(line: {}, column: 1, scope: !3)\n",
        line);
  };
  CHECK(normalised(with_line(2)) == normalised(with_line(9)));
  CHECK(normalised(with_line(2), {.debug_lines = true}) != normalised(with_line(9), {.debug_lines = true}));
}

TEST_CASE("what changes code changes both keys") {
  std::set<Digest> seen = {normalised(kText), raw(kText)};
  const auto differs = [&](std::string_view what, const Digest& digest) {
    CAPTURE(what);
    CHECK(seen.insert(digest).second);
  };
  for (const std::string& other : {replaced("align 4", "align 2"), replaced("i32 %n, ptr", "i32 7, ptr"),
                                   replaced("@k", "@k2"), replaced("%p, i32 %n)", "%q, i32 %n, i32 %m)")}) {
    if (other.find("%q") != std::string::npos) continue;  // the store still names %p
    differs("text", normalised(other));
    differs("text", raw(other));
  }
  const std::pair<std::string_view, std::function<void(CompileOptions&)>> changes[] = {
      {"target", [](CompileOptions& o) { o.targets = {parse_target("macos15").value()}; }},
      {"minor version", [](CompileOptions& o) { o.targets = {parse_target("macos15.1").value()}; }},
      {"two targets",
       [](CompileOptions& o) { o.targets = {parse_target("macos15").value(), parse_target("ios17").value()}; }},
      {"relaxed math", [](CompileOptions& o) { o.math.mode = MathMode::relaxed; }},
      {"fast math", [](CompileOptions& o) { o.math.mode = MathMode::fast; }},
      {"fast functions", [](CompileOptions& o) { o.math.fast_functions = true; }},
      {"debug lines", [](CompileOptions& o) { o.debug_lines = true; }},
      {"pack scalars", [](CompileOptions& o) { o.pack_scalars = true; }},
      {"overlap", [](CompileOptions& o) { o.buffers_do_not_overlap = true; }},
      {"atomics", [](CompileOptions& o) { o.relaxed_atomics = true; }},
      {"for the CPU alone", [](CompileOptions& o) { o.cpu_only = true; }},
      {"language", [](CompileOptions& o) { o.language = Version{3, 0, 0}; }},
      {"threadgroup memory", [](CompileOptions& o) { o.threadgroup_memory = 0; }},
      {"more of it", [](CompileOptions& o) { o.threadgroup_memory = 64; }},
      {"threads", [](CompileOptions& o) { o.threads_per_threadgroup = 64; }},
      {"kernel", [](CompileOptions& o) { o.kernels = {"k"}; }},
  };
  for (const auto& [what, change] : changes) {
    CompileOptions options;
    change(options);
    differs(what, normalised(kText, options));
    differs(what, raw(kText, options));
  }
  const FingerprintField level{"cpu", "x86-64-v3"};
  differs("field", normalised(kText, {}, {&level, 1}));
  differs("field", raw(kText, {}, {&level, 1}));
  const FingerprintField moved{"cpux86", "-64-v3"};
  differs("another split of the same text", raw(kText, {}, {&moved, 1}));
}

TEST_CASE("the name of Metal source counts where the result may show it") {
  const auto keys = [](std::string_view name, const std::string& body, const CompileOptions& options) {
    const std::string text =
        "#include <metal_stdlib>\n// a comment\nkernel void k(device int* x) { x[0] = " + body + "; }\n";
    const std::vector<Source> sources = {{std::string(name), as_bytes(text)}};
    const auto normal = normalised_fingerprint(sources, options);
    if (!normal) FAIL(normal.error().message);
    return std::pair(raw_fingerprint(sources, options), *normal);
  };
  CompileOptions lines, macro;
  lines.debug_lines = true;
  macro.definitions = {"WHERE=__LINE__"};
  CHECK(keys("a.metal", "1", {}) == keys("b/c.metal", "1", {}));
  for (const char* body : {"__LINE__", "__FILE__[0]", "__FILE_NAME__[0]", "__builtin_LINE()", "__builtin_FILE()[0]"}) {
    CAPTURE(body);
    const auto one = keys("a.metal", body, {}), other = keys("b.metal", body, {});
    CHECK(one.first != other.first);
    CHECK(one.second != other.second);
  }
  CHECK(keys("a.metal", "1", lines).second != keys("b.metal", "1", lines).second);
  CHECK(keys("a.metal", "WHERE", macro).second != keys("b.metal", "WHERE", macro).second);
}

TEST_CASE("what does not change code changes neither") {
  CompileOptions a, b;
  a.targets = {parse_target("macos15").value(), parse_target("ios17").value()};
  b.targets = {parse_target("ios17").value(), parse_target("macos15").value(), parse_target("ios17").value()};
  b.threads = 7;
  b.progress = [](size_t, size_t) {};
  CHECK(raw(kText, a) == raw(kText, b));
  CHECK(normalised(kText, a) == normalised(kText, b));
  const FingerprintField one[] = {{"a", "1"}, {"b", "2"}}, other[] = {{"b", "2"}, {"a", "1"}};
  CHECK(raw(kText, a, one) == raw(kText, a, other));
  // The metadata's words count, not its spelling.
  a.metadata_json = R"({"shared": 16, "num_warps": 2, "name": "x"})";
  b.metadata_json = R"({ "num_warps":2,"shared":16 })";
  CHECK(normalised(kText, a) == normalised(kText, b));
  CHECK(raw(kText, a) != raw(kText, b));
}

TEST_CASE("the compiler says who it is") {
  const std::string identity(compiler_identity());
  CHECK(identity.starts_with("smelt "));
  CHECK(identity.find("LLVM 19.") != std::string::npos);
  CHECK(identity.find('/') == std::string::npos);
  const size_t open = identity.find('(');
  REQUIRE(open != std::string::npos);
  CHECK(identity.find(')') - open - 1 == 64);
}
