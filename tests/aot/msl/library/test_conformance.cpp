// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The thirty sourced cases of docs/formats/metal-language.md section 7, by number: P compiles, R is rejected, V is a
// value, T a type. Cases of binding and function constants (24, 25) also belong to the front end; here is what the
// library has to do.
#include "msl_library.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <bit>
#include <cmath>

namespace smelt::test {
namespace {

constexpr const char* kHead = "#include <metal_stdlib>\nusing namespace metal;\n";

/// A function that holds `body`, with variables of the usual types.
std::string function(const std::string& body) {
  return std::string(kHead) +
         "kernel void k(device float* out [[buffer(0)]], device const float* in [[buffer(1)]]) {\n"
         "  float f = in[0]; half h = half(in[1]); bfloat b = bfloat(in[2]); int i = int(in[3]); uint u = "
         "uint(in[4]);\n"
         "  int4 i4(i); float4 f4(f); bool c = in[5] > 0; ulong ul = ulong(u);\n  (void)f; (void)h; (void)b; (void)i; "
         "(void)u; "
         "(void)i4; (void)f4; (void)c; (void)ul;\n" +
         body + "\n  out[0] = f;\n}\n";
}
void compiles(const std::string& body) {
  const std::string errors = msl_errors(function(body));
  CHECK_MESSAGE(errors.empty(), body, "\n", errors);
}
void rejected(const std::string& body) {
  CHECK_MESSAGE(!msl_errors(function(body)).empty(), "compiles: ", body);
}
void compiles_whole(const std::string& text) {
  const std::string errors = msl_errors(kHead + text);
  CHECK_MESSAGE(errors.empty(), text, "\n", errors);
}

/// The values of float expressions, computed in a kernel from operands that it cannot fold: x[0], x[1], ...
std::vector<float> values(const std::vector<std::string>& expressions, const std::vector<float>& x,
                          const MslSettings& settings = {}) {
  std::string text =
      std::string(kHead) + "kernel void k(device float* out [[buffer(0)]], device const float* x [[buffer(1)]]) {\n";
  for (size_t i = 0; i < expressions.size(); ++i) text += fmt::format("  out[{}] = {};\n", i, expressions[i]);
  const MslLibrary library(text + "}\n", settings);
  std::vector<float> out(expressions.size()), in = x;
  Launch launch;
  library.run("k", launch.bind(0, out).bind(1, in));
  return out;
}

TEST_CASE("1, 2: bfloat takes no implicit conversion") {
  rejected("bfloat r = 1.0f;");
  rejected("bfloat r = 0.0;");
  rejected("b = h;");
  rejected("b = f;");
  compiles("bfloat r = bfloat(1.0); float g = r; r = static_cast<bfloat>(g); r = 1.0bf; f = r;");
}
TEST_CASE("3, 4: arms and operands of different small floats") {
  rejected("bfloat r = c ? b : 0.0;");
  compiles("bfloat r = c ? b : static_cast<bfloat>(0.0); f = r;");
  rejected("auto r = h + b;");
  rejected("bool r = h == b;");
  rejected("auto r = c ? h : b;");
}
TEST_CASE("5: types of literals and of mixed arithmetic") {
  compiles(
      "static_assert(is_same_v<decltype(1.0), float> && is_same_v<decltype(1.0h), half>);"
      "static_assert(is_same_v<decltype(1.0bf), bfloat> && is_same_v<decltype(h * 2.0), float>);"
      "static_assert(is_same_v<decltype(h * 2), half>);");
}
TEST_CASE("6, 7: the math library has no bfloat, and a user's own overload wins") {
  compiles("static_assert(is_same_v<decltype(metal::max(b, b)), float> && is_same_v<decltype(metal::exp(b)), float>);");
  rejected("bfloat m = metal::max(b, b);");
  compiles_whole(R"(
namespace metal {
inline bfloat exp(bfloat x) { return bfloat(2.0f); }
inline bfloat max(bfloat x, bfloat y) { return x < y ? y : x; }
namespace fast { inline bfloat exp(bfloat x) { return static_cast<bfloat>(__metal_exp(static_cast<float>(x), __METAL_FAST_MATH__)); } }
namespace precise { inline bfloat exp(bfloat x) { return static_cast<bfloat>(__metal_exp(static_cast<float>(x), __METAL_PRECISE_MATH__)); } }
inline bfloat simd_sum(bfloat x) { return static_cast<bfloat>(__metal_simd_sum(static_cast<float>(x))); }
}
kernel void k(device bfloat* p [[buffer(0)]]) {
  bfloat x = p[0];
  static_assert(is_same_v<decltype(metal::exp(x)), bfloat> && is_same_v<decltype(fast::exp(x)), bfloat>);
  static_assert(is_same_v<decltype(metal::max(x, x)), bfloat> && is_same_v<decltype(simd_sum(x)), bfloat>);
  p[0] = metal::exp(x);
})");
}
TEST_CASE("8: vectors do not convert to each other by themselves") {
  rejected("float4 r = i4;");
  compiles("float4 r = float4(i4); f = r.x;");
  rejected("auto r = i4 * uint4(1);");
  compiles("auto r = uint4(i4) * 2u; f = float(r.x);");
}
TEST_CASE("9: swizzles") {
  rejected("f4.xx = float2(1);");
  rejected("auto r = f4.xg;");
  rejected("auto r = &f4.xy;");
  rejected("float2 r(1, 2); f = r.z;");
  rejected("f4.xy = f4;");
  const auto got = values({"[&]{ float2 v(x[0], x[1]); v.xy = v.yx; return v.x * 10 + v.y; }()",
                           "[&]{ float4 v(x[0]); v.wx = float2(7, 8); return v.x * 10 + v.w; }()"},
                          {1, 2});
  CHECK(got == std::vector<float>{21, 87});
}
TEST_CASE("10: sizes") {
  compiles(
      "static_assert(sizeof(float3) == 16 && sizeof(packed_float3) == 12 && sizeof(half3) == 8 && sizeof(packed_half3) "
      "== 6);"
      "static_assert(sizeof(bool3) == 4 && sizeof(long3) == 32 && sizeof(float3x3) == 48 && sizeof(half3x2) == 12);"
      "static_assert(alignof(packed_float4) == 4);");
}
TEST_CASE("11: as_type") {
  rejected("auto r = as_type<float4>(half4(0));");
  const auto got =
      values({"as_type<float3>(float4(x[0], 2, 3, 4)).z", "float(as_type<uint>(x[0]) == 0x3f800000u)"}, {1});
  CHECK(got == std::vector<float>{3, 1});
}
TEST_CASE("12, 13, 14: shifts, division, conversion") {
  const auto got =
      values({"float(int(x[0]) << int(x[1]))", "float(uint(x[2]) >> uint(x[3]))", "float(ulong(x[0]) << ulong(x[4]))",
              "float(int(x[0]) / int(x[5])) * 0", "float(INT_MIN / int(-x[0])) * 0", "float(int(x[0]) % int(x[5])) * 0",
              "float(int(x[6]))", "float(int(x[7]))", "float(uint(half(x[8])))", "float(int(x[9]) == INT_MAX)"},
             {1, 33, 64, 35, 65, 0, NAN, -1.9f, 3.7f, 3e9f});
  CHECK(got == std::vector<float>{2, 8, 2, 0, 0, 0, 0, -1, 3, 1});
}
TEST_CASE("15, 16: sign, fract, round, and NaN in minimum and clamp") {
  const auto got =
      values({"1 / sign(x[0])", "sign(x[1])", "fract(x[2])", "round(x[3])", "rint(x[4])", "fmax(x[1], x[5])",
              "float(isnan(fmax(x[1], x[1])))", "precise::clamp(x[1], 0.0f, 1.0f)", "precise::saturate(x[1])"},
             {-0.0f, NAN, -0.25f, -2.5f, 2.5f, 1});
  CHECK(got == std::vector<float>{-INFINITY, 0, 0.75f, -3, 2, 1, 1, 0, 0});
}
TEST_CASE("17: isnan works in fast mode") {
  CHECK(values({"float(isnan(x[0]))", "float(isnan(half(x[0])))", "float(isinf(x[1]))"}, {NAN, INFINITY},
               {.fast_math = true}) == std::vector<float>{1, 1, 1});
}
TEST_CASE("18, 19: pow and ldexp at the edges") {
  for (const char* call : {"precise::pow({}, {})", "fast::pow({}, {})", "float(metal::pow(half({}), half({})))"}) {
    const auto of = [&](const char* a, const char* b) { return fmt::format(fmt::runtime(call), a, b); };
    const auto got = values({of("x[0]", "x[1]"), "float(isnan(" + of("x[0]", "x[2]") + "))", of("x[3]", "-x[1]"),
                             of("x[4]", "x[2]"), of("x[5]", "x[5]")},
                            {-2, 3, 0.5f, -0.0f, -INFINITY, 0});
    CHECK_MESSAGE(got == std::vector<float>({-8, 1, -INFINITY, INFINITY, 1}), call);
  }
  const auto got = values({"ldexp(x[0], int(x[1]))", "ldexp(x[2], -int(x[1]))"}, {1e-30f, 200, 1e30f});
  CHECK(got[0] == 1.6069381e30f);
  CHECK(got[1] == 6.2230154e-31f);
}
TEST_CASE("20: bits of nothing") {
  const auto got =
      values({"float(clz(uint(x[0])))", "float(clz(ushort(x[0])))", "float(ctz(uchar(x[0])))",
              "float(clz(ulong(x[0])))", "float(extract_bits(int(x[1]), 0u, 0u))",
              "float(insert_bits(int(x[2]), int(x[1]), 3u, 0u))", "float(extract_bits(int(x[3]), 4u, 4u))"},
             {0, -1, 77, 0xF0});
  CHECK(got == std::vector<float>{32, 16, 8, 64, 0, 77, -1});
}
TEST_CASE("21, 22, 23: what is ambiguous, and what is not") {
  rejected("f = clamp(f, -1, 1);");
  rejected("f = clamp(f, h, h);");
  rejected("f = min(h, f);");
  rejected("ul = select(ul, 1u, true);");
  compiles("static_assert(is_same_v<decltype(precise::atan2(h, h)), float>); f = precise::abs(float2(f)).x;");
  rejected("f4 = bool4(true) ? f4 : f4;");
  compiles("auto r = c ? float4(1) : 0.5f; static_assert(is_same_v<decltype(r), float4>); f = r.x;");
  CHECK(values({"dot(select(float4(x[0]), float4(x[1]), bool4(1, 0, 1, 0)), float4(1, 10, 100, 1000))"}, {1, 2}) ==
        std::vector<float>{1212});
}
TEST_CASE("25: function constants") {
  const MslLibrary library(std::string(kHead) + R"(
constant int a [[function_constant(0)]];
constant bool has [[function_constant(1)]];
constant int b = a + 2;
kernel void k(device int* out [[buffer(0)]], device int* q [[buffer(1), function_constant(has)]]) {
  out[0] = is_function_constant_defined(a) ? b : 40;
  out[1] = is_function_constant_defined(a);
  out[2] = is_function_constant_defined(has) && has ? q[0] : -1;
})");
  std::vector<int32_t> out(3), q = {9};
  Launch without;
  library.run("k", without.bind(0, out));
  CHECK(out == std::vector<int32_t>{40, 0, -1});
  Launch with;
  with.bind(0, out).bind(1, q).constant<int32_t>(0, 5).constant<uint8_t>(1, 1);
  library.run("k", with);
  CHECK(out == std::vector<int32_t>{7, 1, 9});
}
TEST_CASE("26, 27, 28: shapes of real code") {
  compiles_whole(R"(
template <typename T> [[kernel]] void f(device T* p [[buffer(0)]], uint i [[thread_position_in_grid]]) { p[i] = p[i] + T(1); }
template [[host_name("k_f")]] [[kernel]] decltype(f<float>) f<float>;
namespace c10 { namespace metal { template <typename T> kernel void g(device T* p, uint i [[thread_position_in_grid]]) { p[i] = -p[i]; } } }
template [[host_name("x")]] kernel void c10::metal::g<half>(device half*, uint);
template <typename T> T twice(T a, T b) { return a + b; }
template <typename T> T h(int pos[4], T (*op)(T, T), const float c[]) { return op(T(pos[0]), T(c[1])); }
kernel void k(device float* p [[buffer(0)]]) {
  int pos[4] = {1, 2, 3, 4};
  constexpr float c[] = {1.0e-18, 2.0};
  p[0] = h<float>(pos, twice<float>, c);
}
struct complex_t {
  float real, imag;
  constexpr complex_t(float r, float i) : real(r), imag(i) {}
  complex_t() = default;
  template <typename U> constexpr complex_t(U x) thread : real(x), imag(0) {}
  template <typename U> constexpr complex_t(U x) threadgroup : real(x), imag(0) {}
  template <typename U> constexpr complex_t(U x) device : real(x), imag(0) {}
};
constexpr complex_t operator+(complex_t a, complex_t b) { return {a.real + b.real, a.imag + b.imag}; }
kernel void m(device complex_t* p [[buffer(0)]], uint t [[thread_index_in_threadgroup]]) {
  threadgroup complex_t shared[32];
  shared[t] = p[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  p[t] = shared[31 - t] + p[t];
})");
}
// 29: the lanes are in test_lanes.cpp; here the worked values.
TEST_CASE("29: shuffles and votes of a partial SIMD-group") {
  const MslLibrary library(std::string(kHead) + R"(
kernel void k(device uint* out [[buffer(0)]], uint lane [[thread_index_in_simdgroup]]) {
  out[lane] = simd_shuffle_down(lane, 2);
  out[32 + lane] = simd_shuffle_and_fill_up(lane, 100 + lane, 2);
  out[64 + lane] = simd_shuffle_and_fill_up(lane, 100 + lane, 2, 8);
  out[96 + lane] = simd_sum(1) * 100 + simd_ballot(true).all() * 10 + simd_all(true);
})");
  std::vector<uint32_t> out(128);
  Launch launch{.grid = {32, 1, 1}, .group = {32, 1, 1}};
  library.run("k", launch.bind(0, out));
  CHECK(out[30] == 30);
  CHECK(out[31] == 31);
  CHECK(out[29] == 31);
  CHECK(out[32] == 130);
  CHECK(out[33] == 131);
  CHECK(out[34] == 0);
  CHECK(out[64 + 8] == 114);
  CHECK(out[64 + 9] == 115);
  CHECK(out[96] == 3211);
  Launch partial{.grid = {20, 1, 1}, .group = {20, 1, 1}};
  library.run("k", partial.bind(0, out));
  CHECK(out[96] == 2001);
}
TEST_CASE("30: ballots convert explicitly; a matrix loads from an int origin") {
  rejected("ulong m = simd_ballot(c); f = float(m);");
  compiles("ulong m = (ulong)simd_ballot(c); m += static_cast<ulong>(simd_ballot(c)); f = float(m);");
  compiles_whole(
      "kernel void k(device const half* p [[buffer(0)]], device half* o [[buffer(1)]]) { simdgroup_half8x8 m; "
      "simdgroup_load(m, p, 8, 0, true); simdgroup_store(m, o, 8, 0, false); }");
}
TEST_CASE("further seeds") {
  const auto got = values({"precise::tanh(x[0])", "step(x[1], x[2])", "max(-x[3], x[3])",
                           "[&]{ uint4 v(1); v.zw = uint2(5, 6); return float(v.z * 10 + v.w); }()"},
                          {50, 0.5f, NAN, 0});
  CHECK(got[0] == 1);
  CHECK(got[1] == 0);
  CHECK(got[2] == 0);
  CHECK(got[3] == 56);
  compiles(
      "constexpr uint2 k = {0x9E3779B9, 0xBB67AE85}; f = float(k.x); "
      "auto m = make_filled_simdgroup_matrix<half, 8>((half)0); (void)m; char4 s = char4(1) + char4(2); f = s.x;");
  // Names that users define themselves must be free.
  compiles_whole(
      "inline float erf(float x) { return x; } inline float log1p(float x) { return x; } struct pair { int a, b; };"
      "template <typename T> struct is_empty { static constant constexpr bool value = true; };"
      "kernel void k(device float* p [[buffer(0)]]) { float forward = erf(p[0]); p[0] = log1p(forward); }");
}

TEST_CASE("every version of the language has its library") {
  const std::string kernel = std::string(kHead) +
                             "kernel void k(device float4* p [[buffer(0)]]) { p[0] = exp(p[1].wzyx) + "
                             "simd_sum(p[2]); }";
  for (const aot::Version language : {aot::Version{2, 4}, aot::Version{3, 0}, aot::Version{3, 1}, aot::Version{4, 0}}) {
    if (!full_sweep() && (language.major == 3)) continue;
    const std::string errors = msl_errors(kernel, {.target = "macos26", .language = language});
    CHECK_MESSAGE(errors.empty(), language.major, ".", language.minor, "\n", errors);
  }
  // What a version does not have is not there.
  CHECK(
      !msl_errors(std::string(kHead) + "kernel void k(device float* p [[buffer(0)]]) { p[0] = nextafter(p[0], p[1]); }",
                  {.language = aot::Version{2, 4}})
           .empty());
  CHECK(!msl_errors(std::string(kHead) + "kernel void k(device atomic_float* p [[buffer(0)]]) { "
                                         "atomic_thread_fence(mem_flags::mem_device, memory_order_relaxed); }",
                    {.language = aot::Version{2, 4}})
             .empty());
}

}  // namespace
}  // namespace smelt::test
