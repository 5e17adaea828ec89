// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which C++ Metal source is: C++14 up to Metal 3.2, C++17 from 4.0, and not the C++20 of our own headers.
#include "msl.hpp"

#include <doctest/doctest.h>

namespace smelt::test {
namespace {

aot::CompileOptions with_language(const char* target, Version language) {
  aot::CompileOptions options = msl_options();
  options.targets = {aot::parse_target(target).value()};
  options.language = language;
  return options;
}

}  // namespace

TEST_CASE(
    "a class is an aggregate with constructors that are declared and not written: candle's reductions are made of "
    "such") {
  const Msl source(R"(
#include <metal_stdlib>
using namespace metal;
template <typename T> struct indexed {
  uint i;
  T value;
  constexpr indexed<T>() = default;
  constexpr indexed<T>() threadgroup = default;
};
struct Pair {
  float first;
  int second;
  Pair() = default;
  static Pair make(float x) { return {x, 2}; }
};
struct Never {
  int value;
  Never() = delete;
};
kernel void f(device float* out, uint i [[thread_position_in_grid]]) {
  threadgroup indexed<float> shared[2];
  shared[i] = indexed<float>{i, 1.5f};
  const Pair list = {3.0f, 4};
  const Pair shorter{5.0f};
  const Never one{6};
  out[0] = shared[0].value;
  out[1] = list.first + list.second;
  out[2] = shorter.first + shorter.second;
  out[3] = one.value;
  out[4] = Pair::make(7.0f).first;
}
)");
  std::vector<float> out(5);
  source.run("f", Launch{.grid = {1, 1, 1}, .group = {1, 1, 1}}.bind(0, out));
  CHECK(out == std::vector<float>{1.5f, 7, 5, 6, 7});
}

TEST_CASE("what C++20 made words of the language are names, and == has no reversed form") {
  const Msl source(R"(
#include <metal_stdlib>
using namespace metal;
struct char8_t { int requires; };
static int concept(int consteval) { return consteval + 1; }
kernel void f(device int* out) {
  char8_t made = {4};
  int constinit = concept(made.requires), co_await = 3;
  out[0] = constinit + co_await;
  out[1] = u8"\xff"[out[2]];
}
)");
  std::vector<int32_t> out(3, 0);
  source.run("f", Launch{.grid = {1, 1, 1}, .group = {1, 1, 1}}.bind(0, out));
  CHECK(out == std::vector<int32_t>{8, -1, 0});
  CHECK(msl_error("template <class T> requires(sizeof(T) == 4) T same(T x) { return x; }\n").find("requires") !=
        std::string::npos);
  const std::string compared = msl_error(
      "struct A { bool operator==(int) const { return true; } };\n"
      "kernel void f(device int* out) { out[0] = 5 == A{}; }\n");
  CHECK(compared.find("invalid operands") != std::string::npos);
}

TEST_CASE("__cplusplus is the version that Metal says") {
  const std::string text = R"(
static_assert(__cplusplus == EXPECTED, "");
kernel void f(device int* out) { if constexpr (sizeof(int) == 4) out[0] = 1; }
)";
  for (const auto& [target, language, expected] :
       {std::tuple{"macos12", Version{2, 4}, "201402L"}, std::tuple{"macos15", Version{3, 2}, "201402L"},
        std::tuple{"macos26", Version{4, 0}, "201703L"}, std::tuple{"macos27", Version{4, 1}, "201703L"}}) {
    CAPTURE(std::string(target));
    const auto made = compile_msl("#define EXPECTED " + std::string(expected) + text, with_language(target, language));
    CHECK_MESSAGE(made.has_value(), (made ? "" : made.error().message));
  }
}

TEST_CASE("vectors and matrices are constant expressions in C++17 too") {
  const Msl source(R"(
#include <metal_stdlib>
using namespace metal;
constexpr constant float4 kOne = float4(1.0f);
constexpr constant float4 kSum = kOne * 2 + float4(1, 2, 3, 4);
constexpr constant int3 kCut = int3(float3(1.5f, 2, 3));
constexpr constant float4 kParts = float4(kSum.xy, float2(8, 9));
constexpr packed_float3 kPacked = packed_float3(float3(1, 2, 3));
constexpr float2 swapped(float2 a) { return a.yx; }
constexpr float2 changed(float2 a) { a += 1; a.x = 3; ++a; return -a; }
static_assert(kCut.x == 1 && kCut.z == 3 && kSum[1] == 4 && kParts.w == 9 && kPacked.y == 2, "");
static_assert(swapped(float2(1, 2)).x == 2 && changed(float2(1, 2)).x == -4 && changed(float2(1, 2)).y == -4, "");
static_assert(all(kSum.xy == float2(3, 4)) && !bool2(true, false).y, "");
constexpr constant float3 kTable[2] = {float3(1), {1, 2, 3}};
kernel void f(device float* out, uint i [[thread_position_in_grid]]) { out[i] = kSum[i] + kTable[i & 1].y; }
)");
  std::vector<float> out(4);
  source.run("f", Launch{.grid = {4, 1, 1}, .group = {4, 1, 1}}.bind(0, out));
  CHECK(out == std::vector<float>{4, 6, 6, 8});
}

TEST_CASE("a constant is filled in by a function that picks its members through pointers") {
  const Msl source(R"(
#include <metal_stdlib>
using namespace metal;
struct Sums { float a, b, c; };
static Sums sums(int first) {
  Sums r;
  r.a = r.b = r.c = 0;
  for (int i = 0; i < 5; ++i) {
    thread float* p;
    switch ((i + first) % 3) {
      case 0: p = &r.a; break;
      case 1: p = &r.b; break;
      default: p = &r.c;
    }
    *p += float(i);
  }
  return r;
}
constant Sums kSums = sums(2);
constant float3x3 kTurned = transpose(float3x3(float3(1, 2, 3), float3(4, 5, 6), float3(7, 8, 9)));
kernel void f(device float* out) {
  out[0] = kSums.a; out[1] = kSums.b; out[2] = kSums.c; out[3] = kTurned[0].y; out[4] = kTurned[2].x;
}
)");
  std::vector<float> out(5);
  source.run("f", Launch{.grid = {1, 1, 1}, .group = {1, 1, 1}}.bind(0, out));
  CHECK(out == std::vector<float>{5, 2, 3, 4, 3});
}

}  // namespace smelt::test
