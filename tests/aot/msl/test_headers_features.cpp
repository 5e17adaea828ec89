// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What smelt does not compile: one error that names the feature, and never a library without a function of its source.
#include "smelt/metallib/reader.hpp"

#include "msl.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>

namespace doctest {
template <>
struct StringMaker<std::vector<std::string>> {
  static String convert(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += "\n" + line;
    return text.c_str();
  }
};
}  // namespace doctest

namespace smelt::test {
namespace {

const std::string kHead = "#include <metal_stdlib>\nusing namespace metal;\n";

/// "line:column: message" of every error, in order.
std::vector<std::string> errors_of(const std::string& body) {
  std::vector<std::string> found;
  std::istringstream lines(msl_error(kHead + body));
  for (std::string line; std::getline(lines, line);)
    if (const size_t at = line.find(": error: "); line.starts_with("test.metal:") && at != std::string::npos)
      found.push_back(line.substr(11, at - 11) + ": " + line.substr(at + 9));
  return found;
}

using Errors = std::vector<std::string>;
const std::string kKernel = "kernel void k(device float* x [[buffer(0)]]) { x[0] = 1; }\n";

}  // namespace

TEST_CASE("each function that is no kernel is in the library, alone and beside a kernel") {
  struct Row {
    std::string function, name = "f";
  };
  const Row rows[] = {
      {"[[intersection(triangle, triangle_data)]] bool f() { return true; }\n"},
      {"[[maybe_unused, intersection(bounding_box)]] bool f() { return true; }\n"},
      {"[[intersection(bounding_box), maybe_unused]] bool f() { return true; }\n"},
      {"[[gnu::noinline, intersection(bounding_box)]] bool f() { return true; }\n"},
      {"[[intersection(bounding_box)]] [[maybe_unused]] static bool f() { return true; }\n"},
      {"[[maybe_unused]] [[intersection(bounding_box)]] bool f() { return true; }\n"},
      {"[[intersection(bounding_box)]] bool f();\nbool f() { return true; }\n"},
      {"namespace n { [[intersection(bounding_box)]] bool f() { return true; } }\n", "n::f"},
      {"template <class T> [[intersection(bounding_box)]] T f() { return {}; }\n"
       "template [[intersection(bounding_box), host_name(\"g\")]] bool f<bool>();\n",
       "g"},
  };
  for (const Row& row : rows) {
    for (const std::string& text : {row.function, row.function + kKernel, kKernel + row.function}) {
      CAPTURE(text);
      const auto made = compile_msl(kHead + text);
      REQUIRE_MESSAGE(made.has_value(), (made ? "" : made.error().message));
      const auto& functions = made->targets.at(0).functions;
      CHECK(std::any_of(functions.begin(), functions.end(),
                        [&](const aot::CompiledFunction& one) { return one.info.name == row.name; }));
    }
  }
  CHECK(errors_of("struct S { [[intersection(bounding_box)]] static bool f() { return true; } };\n" + kKernel) ==
        Errors{"3:55: intersection function 'f' cannot be a member function"});
}

TEST_CASE("a template that nobody instantiates is no function of the library; vertex is a name where it is no stage") {
  const Msl source(kHead + R"(
template <class T> [[visible]] T f(T x) { return 2 * x; }
struct Corner { float x; };
kernel void k(device float* x [[buffer(0)]]) {
  Corner vertex = {3.0f}, fragment = {4.0f};
  vertex.x += f(fragment.x);
  x[0] = vertex.x;
}
)");
  std::vector<float> x(1);
  source.run("k", Launch{.grid = {1, 1, 1}, .group = {1, 1, 1}}.bind(0, x));
  CHECK(x[0] == 11);
}

TEST_CASE("a feature that is missing is one error, about the feature") {
  CHECK(errors_of("kernel void k(device texture2d<float>* t, device float* x) {}").size() == 1);
  CHECK(errors_of("kernel void k(constant rasterization_rate_map_data& d, device float2* o) {\n"
                  "  rasterization_rate_map_decoder m(d); o[0] = m.map_screen_to_physical_coordinates(o[1]); }") ==
        Errors{"3:24: 'rasterization_rate_map_data': rasterization rate maps are not supported"});
  CHECK(
      errors_of("kernel void k(device command_buffer* t [[buffer(1)]], device float* x [[buffer(0)]]) {\n"
                "  x[0] = t->size(); }") ==
      Errors{
          "3:38: parameter 't': Metal has a 'command_buffer' in a structure that a buffer holds, not as an argument"});
}

TEST_CASE("what is wrong in front of a missing feature is told too") {
  const Errors errors = errors_of(
      "float f() { return undeclared; }\n"
      "kernel void k(constant rasterization_rate_map_data& s, device float* x) { x = y; }");
  CHECK(errors == Errors{"3:20: use of undeclared identifier 'undeclared'",
                         "4:24: 'rasterization_rate_map_data': rasterization rate maps are not supported"});
}

TEST_CASE("names of features that are the user's own") {
  const Msl source(kHead + R"(
struct ray { float x; };
template <class T> struct mesh { T x; };
struct sampler { float x; };
kernel void k(device float* x [[buffer(0)]]) {
  ::sampler s = {1};
  ray r = {2};
  ::mesh<float> m = {3}, imageblock = {4};
  x[0] = s.x + r.x + m.x + imageblock.x;
}
)");
  std::vector<float> x(1);
  source.run("k", Launch{.grid = {1, 1, 1}, .group = {1, 1, 1}}.bind(0, x));
  CHECK(x[0] == 10);
}

TEST_CASE("operations of AIR by a label: those that are known are called, with their types; others are an error") {
  const Msl source(kHead + R"(
struct token_t;
thread token_t* copy_in(ulong, ulong, threadgroup void*, const device void*, ulong)
    __asm("air.simdgroup_async_copy_1d.p3i8.p1i8");
thread token_t* copy_tile(ulong, ulong, threadgroup void*, ulong, ulong, ulong2, const device void*, ulong, ulong, ulong2,
                          long2, int) __asm("air.simdgroup_async_copy_2d.p3i8.p1i8");
void wait_all(int, thread token_t**) __asm("air.wait_simdgroup_events");
float inverse_root(float x) __asm("air.fast_rsqrt.f32");
float4 larger(float4, float4) __asm("air.fast_fmax.v4f32");
kernel void k(const device float* a, device float* b, uint i [[thread_position_in_threadgroup]]) {
  threadgroup float t[32], u[32];
  thread token_t* e = copy_in(4, 4, t, a, 32);
  wait_all(1, &e);
  e = copy_tile(4, 4, u, 8, 1, ulong2(8, 4), a, 8, 1, ulong2(8, 4), long2(0), 0);
  wait_all(1, &e);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  b[i] = t[31 - i] + 100 * u[i];
  if (i == 0) b[32] = inverse_root(a[4]);
  if (i == 0) b[33] = larger(float4(a[0], a[1], a[2], a[3]), float4(2)).w;
}
)");
  std::vector<float> a(32), b(34);
  for (int i = 0; i < 32; ++i) a[i] = static_cast<float>(i);
  source.run("k", Launch{.grid = {32, 1, 1}, .group = {32, 1, 1}}.bind(0, a).bind(1, b));
  for (int i = 0; i < 32; ++i) CHECK(b[i] == 31 - i + 100 * i);
  CHECK(b[32] == doctest::Approx(0.5));
  CHECK(b[33] == 3);

  CHECK(errors_of("float f(float) __asm(\"air.fast_frobnicate.f32\");\n" + kKernel) ==
        Errors{"3:22: 'air.fast_frobnicate.f32' is not a known operation of AIR"});
  CHECK(
      errors_of("float f(float x) __asm(\"air.fast_rsqrt.f32\");\nfloat f(float x) { return x; }\n" + kKernel).size() ==
      1);
  CHECK(msl_error(kHead + "float f(int) __asm(\"air.fast_rsqrt.f32\");\n"
                          "kernel void k(device float* x) { x[0] = f(1); }")
            .find("the operation 'air.fast_rsqrt.f32' is declared with other types than it has: float (float)") !=
        std::string::npos);
}

TEST_CASE("a source without entry points is a library without functions, and a warning") {
  const std::string text = kHead + "float helper(float x) { return x + 1; }\n";
  const auto compiled = compile_msl(text);
  REQUIRE(compiled.has_value());
  CHECK(compiled->warnings ==
        Errors{"test.metal: warning: it has no kernel, vertex or fragment function, so the library is empty"});
  CHECK(compiled->targets[0].functions.empty());
  const auto library = metallib::read(compiled->targets[0].metallib);
  REQUIRE(library.has_value());
  CHECK(library->functions.empty());
  // A kernel that is asked for by name is still missing.
  aot::CompileOptions options = msl_options();
  options.functions = {"k"};
  CHECK(msl_error(text, options).find("there is no kernel 'k'") != std::string::npos);
}

TEST_CASE("function constants of one type with one index have one value; of two types they are an error") {
  const Msl source(kHead + R"(
constant uint a [[function_constant(0)]];
constant uint b [[function_constant(0)]];
kernel void k(device uint* x [[buffer(0)]]) { x[0] = a; }
kernel void l(device uint* x [[buffer(0)]]) { x[0] = a + b; }
)");
  CHECK(source.info("k").constants.size() == 1);
  REQUIRE(source.info("l").constants.size() == 2);
  CHECK(source.info("l").constants[0].index == source.info("l").constants[1].index);
  CHECK(errors_of("constant uint a [[function_constant(0)]];\nconstant int b [[function_constant(0)]];\n" + kKernel) ==
        Errors{"4:14: function constants 'a' and 'b' have the same index 0 but different types"});
}

}  // namespace smelt::test
