// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Includes, definitions, language versions and platforms, and what of them the store's keys see.
#include "smelt/aot/fingerprint.hpp"
#include "smelt/base/files.hpp"

#include "files.hpp"
#include "msl.hpp"

#include <doctest/doctest.h>

namespace smelt::test {
namespace {

void put(const std::filesystem::path& path, std::string_view text) {
  std::filesystem::create_directories(path.parent_path());
  REQUIRE(write_file(path, as_bytes(text)).has_value());
}

const std::string kUser =
    "#include <metal_stdlib>\n#include \"factor.h\"\n#include \"deep/more.h\"\n"
    "kernel void f(device float* x, uint i [[thread_position_in_grid]]) { x[i] *= kFactor + more() + EXTRA; }\n";

}  // namespace

TEST_CASE("includes are found next to the source and in -I folders; they count in the keys and are told") {
  const TemporaryFolder folder;
  put(folder / "factor.h", "constant float kFactor = 2;\n");
  put(folder.path() / "lib/deep/more.h", "#include \"even_more.h\"\ninline float more() { return even_more(); }\n");
  put(folder.path() / "lib/deep/even_more.h", "inline float even_more() { return 1; }\n");
  const aot::Source source{(folder / "user.metal").string(), as_bytes(kUser)};
  aot::CompileOptions options = msl_options();
  options.include_folders = {(folder / "lib").string()};
  options.definitions = {"EXTRA=3"};
  const auto compiled = aot::compile(std::span(&source, 1), options);
  REQUIRE_MESSAGE(compiled.has_value(), compiled.error().message);
  CHECK(compiled->dependencies.size() == 3);
  CHECK(aot::source_dependencies(source, options) ==
        std::vector<std::string>{(folder / "factor.h").string(), (folder.path() / "lib/deep/more.h").string(),
                                 (folder.path() / "lib/deep/even_more.h").string()});

  const std::span<const aot::Source> sources(&source, 1);
  const Digest raw = aot::raw_fingerprint(sources, options);
  const auto normal = aot::normalised_fingerprint(sources, options);
  REQUIRE(normal.has_value());
  put(folder.path() / "lib/deep/even_more.h", "// the same\ninline float even_more() { return  1; }\n");
  CHECK(aot::raw_fingerprint(sources, options) != raw);
  CHECK(*aot::normalised_fingerprint(sources, options) == *normal);
  put(folder.path() / "lib/deep/even_more.h", "inline float even_more() { return 7; }\n");
  CHECK(*aot::normalised_fingerprint(sources, options) != *normal);
  options.definitions = {"EXTRA=4"};
  CHECK(aot::raw_fingerprint(sources, options) != raw);
}

TEST_CASE("a file that is not there is an error at its line") {
  CHECK(msl_error("#include \"nowhere.h\"\n").find("test.metal:1:10: error: 'nowhere.h' file not found") == 0);
}

TEST_CASE("language version and platform, as macros see them") {
  const std::string text =
      "#if __METAL_VERSION__ != WANTED || !defined(PLATFORM) || !defined(__METAL__)\n#error not so\n#endif\n"
      "kernel void f(device float* x) { x[0] = 1; }\n";
  struct Row {
    const char* target;
    std::optional<aot::Version> language;
    const char* number;
    const char* platform;
  };
  for (const Row& row :
       {Row{"macos14", std::nullopt, "310", "__METAL_MACOS__"}, Row{"ios18", std::nullopt, "320", "__METAL_IOS__"},
        Row{"macos15", aot::Version{3, 0, 0}, "300", "__METAL_MACOS__"}}) {
    aot::CompileOptions options;
    options.targets = {*aot::parse_target(row.target)};
    options.language = row.language;
    options.definitions = {std::string("WANTED=") + row.number, std::string("PLATFORM=") + row.platform};
    const std::string checked = std::string("#ifndef ") + row.platform + "\n#error wrong platform\n#endif\n" + text;
    const auto compiled = compile_msl(checked, options);
    CHECK_MESSAGE(compiled.has_value(), row.target << ": " << compiled.error().message);
  }
}

TEST_CASE("assert is there with the library, and does nothing") {
  const std::string kernel = "kernel void f(device int* x) { assert(++x[0] == 7); x[0] += 1; }\n";
  const auto compiled = compile_msl("#include <metal_stdlib>\n" + kernel);
  CHECK_MESSAGE(compiled.has_value(), compiled.error().message);
  CHECK(compile_msl("#include <metal_assert>\n" + kernel).has_value());
  CHECK(compile_msl("#define assert(condition) own(condition)\ninline void own(bool) {}\n" + kernel).has_value());
  CHECK_FALSE(compile_msl("#include <metal_stdlib>\nkernel void f(device int* x) { assert(x[0] == 7) x[0] += 1; }\n")
                  .has_value());
}

TEST_CASE("what candle's kernels ask of the library") {
  const std::string text = R"(
#include <metal_stdlib>
using namespace metal;
constant bool has_mask [[function_constant(20)]];
template <typename T> struct indexed { uint i; T val; };
template <typename T>
struct _numeric_limits_impl<indexed<T>> {
  static constexpr METAL_FUNC indexed<T> lowest() { return indexed<T>{0, numeric_limits<T>::lowest()}; }
};
static_assert(vec_elements<float>::value == 1 && vec_elements<uint4>::value == 4 && vec_elements<packed_half3>::value == 3, "");
static_assert(__is_valid_simdgroup_type<half4>::value && __is_valid_simdgroup_type<uchar>::value, "");
static_assert(!__is_valid_simdgroup_type<long>::value && !__is_valid_simdgroup_type<bool>::value &&
              !__is_valid_simdgroup_type<bfloat>::value && !__is_valid_simdgroup_type<indexed<float>>::value, "");
template <typename T>
[[kernel]] void f(const constant int& n, const device bool* mask [[function_constant(has_mask)]],
                  const constant int& stride [[function_constant(has_mask)]], device T* out) {
  out[0] = n + numeric_limits<indexed<T>>::lowest().val;
  if (has_mask) out[1] = mask[stride];
}
template [[host_name("f_float")]] [[kernel]] void f<float>(const constant int&, const device bool*, const constant int&, device float*);
)";
  const auto compiled = compile_msl(text);
  CHECK_MESSAGE(compiled.has_value(), compiled.error().message);
}

TEST_CASE("several sources make one library") {
  const std::string a = "kernel void a(device float* x) { x[0] = 1; }";
  const std::string b = "kernel void b(device float* x) { x[0] = 2; }";
  const aot::Source sources[] = {{"a.metal", as_bytes(a)}, {"b.metal", as_bytes(b)}};
  const auto compiled = aot::compile(sources, msl_options());
  REQUIRE(compiled.has_value());
  CHECK(compiled->targets[0].functions.size() == 2);
  const aot::Source same[] = {{"a.metal", as_bytes(a)}, {"c.metal", as_bytes(a)}};
  const auto refused = aot::compile(same, msl_options());
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().message == "c.metal: entry point 'a' is already in a.metal; names in a library are unique");
}

}  // namespace smelt::test
