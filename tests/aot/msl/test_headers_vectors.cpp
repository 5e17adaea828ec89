// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vectors are types of the language: what templates deduce from them, and whose function a call with one finds.
#include "msl.hpp"

#include <doctest/doctest.h>

namespace smelt::test {
namespace {

const std::string kHead = "#include <metal_stdlib>\nusing namespace metal;\n";

/// What kernel "k" writes into int buffer 0, run by one thread.
std::vector<int32_t> numbers(const std::string& text, size_t count) {
  const Msl source(kHead + text);
  std::vector<int32_t> out(count, -1);
  source.run("k", Launch{.grid = {1, 1, 1}, .group = {1, 1, 1}}.bind(0, out));
  return out;
}

}  // namespace

TEST_CASE("a vector's width is deduced into a parameter of any integer type") {
  CHECK(numbers(R"(
template <typename T, int N> T sum_int(vec<T, N> v) { T s = 0; for (int i = 0; i < N; i++) s += v[i]; return s; }
template <typename T, uint N> T sum_uint(vec<T, N> v) { T s = 0; for (uint i = 0; i < N; i++) s += v[i]; return s; }
template <typename T, short N> T sum_short(vec<T, N> v) { T s = 0; for (int i = 0; i < N; i++) s += v[i]; return s; }
template <typename T, uchar N> T sum_uchar(vec<T, N> v) { T s = 0; for (int i = 0; i < N; i++) s += v[i]; return s; }
template <typename T, size_t N> T sum_size(vec<T, N> v) { T s = 0; for (uint i = 0; i < N; i++) s += v[i]; return s; }
template <typename T, ulong N> T sum_packed(packed_vec<T, N> v) { T s = 0; for (uint i = 0; i < N; i++) s += v[i]; return s; }
template <uint N> vec<ushort, N> narrow(vec<bool, N> v) { return vec<ushort, N>(v); }
template <uint N> int space(device vec<int, N>* v) { return N; }
template <uint N> int space(thread vec<int, N>* v) { return 10 * N; }
template <typename T, uint N> int reference(const thread vec<T, N>& v) { return N; }
template <typename T, auto N> int any(vec<T, N>) { return N; }
kernel void k(device int* out, device int3* p) {
  out[0] = sum_int(int4(1, 2, 3, 4));
  out[1] = sum_uint(float3(1));
  out[2] = sum_short(char2(3));
  out[3] = sum_uchar(half4(2));
  out[4] = sum_size(bool3(true, false, true)) ? 1 : 0;
  out[5] = sum_packed(packed_float3(1, 2, 4));
  out[6] = narrow(bool3(true)).z;
  int2 t = 0;
  out[7] = space(p);
  out[8] = space(&t);
  out[9] = reference(t);
  out[10] = any(ulong4(0));
  out[11] = sum_uint(float4(1, 2, 3, 4).wx);
}
)",
                12) == std::vector<int32_t>{10, 3, 6, 8, 1, 7, 1, 3, 20, 2, 4, 5});
}

TEST_CASE("the overload for vectors is taken in front of the one for everything") {
  CHECK(numbers(R"(
template <typename T> int pick(T v) { return 1; }
template <uint N> int pick(vec<long, N> v) { return 2; }
template <typename T, ushort N> int pick(vec<T, N> v) { return 3; }
template <typename T> int both(T v) { return 1; }
template <typename T, int N> int both(vec<T, N> v) { return 2; }
template <typename T, uint N> int both(packed_vec<T, N> v) { return 3; }
kernel void k(device int* out) {
  out[0] = pick(1.0f);
  out[1] = pick(float2(1));
  out[2] = pick(long3(1));
  out[3] = both(1);
  out[4] = both(half3(1));
  out[5] = both(packed_half3(half3(1)));
}
)",
                6) == std::vector<int32_t>{1, 3, 2, 1, 2, 3});
}

TEST_CASE("classes are specialised on vectors, by widths of any integer type") {
  CHECK(numbers(R"(
template <typename T> struct Width { static constexpr constant int value = 1; };
template <typename T, uint N> struct Width<vec<T, N>> { static constexpr constant int value = N; };
template <typename T, size_t N> struct Width<packed_vec<T, N>> { static constexpr constant int value = 10 * N; };
template <typename T> struct Element { typedef T type; };
template <typename T, short N> struct Element<vec<T, N>> { typedef T type; };
template <> struct Width<uchar4> { static constexpr constant int value = 7; };
template <template <typename, int> class V> struct Holder { V<int, 3> v; };
template <typename T, uint N> struct Row { alignas(vec<T, N>) T v[N]; };
kernel void k(device int* out) {
  out[0] = Width<float>::value;
  out[1] = Width<bool3>::value;
  out[2] = Width<packed_float4>::value;
  out[3] = Width<uchar4>::value;
  out[4] = sizeof(typename Element<half4>::type);
  Holder<vec> h = {int3(1, 2, 3)};
  out[5] = h.v.z;
  out[6] = alignof(Row<float, 3>);
  decltype(h.v) list{4, 5, 6};
  vec<decltype(list)::value_type, 2> braces = {7, 8};
  out[7] = list.y + braces.y;
  out[8] = is_same_v<vec<float, 3u>, float3> && is_same_v<vec<float, sizeof(int)>, float4>;
}
)",
                9) == std::vector<int32_t>{1, 3, 40, 7, 2, 3, 16, 13, 1});
}

TEST_CASE("a width that is not the vector's is not deduced") {
  CHECK(msl_error(kHead + "template <typename T> int two(vec<T, 2> v) { return 2; }\n"
                          "kernel void k(device int* out) { out[0] = two(float3(1)); }")
            .find("no matching function for call to 'two'") != std::string::npos);
}

TEST_CASE("a user's own function of lanes is called where metal has one of that name: metal's are templates") {
  CHECK(numbers(R"(
static inline float simd_sum(float x) { return x + 1; }
static inline int quad_max(int x) { return x + 2; }
static inline float simd_shuffle_xor(float x, ushort lane) { return x + lane; }
static inline float simd_shuffle_and_fill_up(float x, float y, ushort lane) { return x + y + lane; }
kernel void k(device int* out) {
  out[0] = simd_sum(1.0f);
  out[1] = quad_max(1);
  out[2] = simd_shuffle_xor(1.0f, 5);
  out[3] = simd_shuffle_and_fill_up(1.0f, 2.0f, 5);
  out[4] = simd_sum(5);
  out[5] = metal::simd_sum(1.0f);
  out[6] = simd_max(true);
}
)",
                7) == std::vector<int32_t>{2, 3, 6, 8, 5, 1, 1});
}

TEST_CASE("a call with a vector finds none of metal's functions by its argument") {
  CHECK(numbers(R"(
namespace mine {
float4 clamp(float4 x, float4 low, float4 high) { return x + 1; }
int2 max(int2 a, int2 b) { return 5; }
template <typename T> T saturate(T x) { return x + 7; }
template <typename T> int later(T x) { return dot(x, x); }
int dot(int2 a, int2 b) { return 9; }
int run(device int* out) {
  out[0] = clamp(float4(1), float4(0), float4(0.5)).x;
  out[1] = max(int2(1), int2(2)).y;
  out[2] = saturate(float2(3)).x;
  return later(float2(2));
}
}
kernel void k(device int* out) { out[3] = mine::run(out); }
)",
                4) == std::vector<int32_t>{2, 5, 10, 8});
  // Where both are in sight, Metal's own functions of one type are no worse.
  CHECK(msl_error(kHead + "float max(float a, float b) { return a; }\n"
                          "kernel void k(device float* x) { x[0] = max(x[0], x[1]); }")
            .find("call to 'max' is ambiguous") != std::string::npos);
}

TEST_CASE("vectors of more than four components are storage") {
  CHECK(numbers(R"(
template <typename T> struct Frag {
  typedef vec<T, 64> store_t;
  store_t t;
  thread vec<T, 2>* pair() thread { return reinterpret_cast<thread vec<T, 2>*>(&t); }
};
kernel void k(device int* out) {
  Frag<float> f;
  *f.pair() = float2(3, 5);
  out[0] = (*f.pair()).x + f.t[1];
  vec<half, 8> h = vec<half, 8>(2);
  h[7] = 4;
  vec<half, 8> g = h;
  out[1] = g[0] + g[7];
  out[2] = sizeof(vec<float, 64>);
  out[3] = alignof(vec<char, 16>);
}
)",
                4) == std::vector<int32_t>{8, 6, 256, 16});
}

TEST_CASE("limits of vectors are vectors") {
  CHECK(numbers(R"(
kernel void k(device int* out) {
  int3 low = numeric_limits<int3>::lowest();
  out[0] = low.z;
  out[1] = numeric_limits<uchar4>::max().w;
  out[2] = all(isinf(numeric_limits<float4>::infinity()));
  out[3] = numeric_limits<packed_short2>::max().y;
  out[4] = numeric_limits<half2>::is_specialized && !numeric_limits<int2>::has_infinity;
  constexpr half2 e = numeric_limits<half2>::epsilon();
  out[5] = e.y == HALF_EPSILON;
}
)",
                6) == std::vector<int32_t>{INT32_MIN, 255, 1, 32767, 1, 1});
}

TEST_CASE("lists of numbers and lists in braces") {
  CHECK(numbers(R"(
template <typename F, int... Is> void each(F f, metal::integer_sequence<int, Is...>) { (f(Is), ...); }
template <size_t... Is> int sum(index_sequence<Is...>) { return (int(Is) + ...); }
struct Columns {
  float4 c[2];
  Columns(initializer_list<float4> l) { int i = 0; for (auto v : l) c[i++] = v; }
};
int count(initializer_list<int> l) { return int(l.size()); }
kernel void k(device int* out) {
  out[0] = 0;
  each([&](int j) { out[0] += j; }, metal::make_integer_sequence<int, 4>{});
  out[1] = sum(make_index_sequence<5>()) + sum(index_sequence_for<int, float>());
  Columns c = {float4(1), float4(2)};
  out[2] = c.c[1].w;
  out[3] = count({1, 2, 3}) + count({});
  int total = 0;
  for (int v : {5, 6}) total += v;
  out[4] = total;
}
)",
                5) == std::vector<int32_t>{6, 11, 2, 3, 11});
}

TEST_CASE("simd/simd.h: all names of vectors, matrices and quaternions") {
  std::string text = "#include <simd/simd.h>\n";
  std::string checks;
  for (const std::string type : {"char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half", "float"}) {
    for (const std::string n : {"2", "3", "4"})
      for (const std::string& name : {"vector_" + type + n, "simd_" + type + n, "simd::" + type + n})
        text += "static_assert(metal::is_same_v<" + name + ", " + type + n + ">);\n";
    text += "static_assert(sizeof(vector_" + type + "8) == 8 * sizeof(" + type + "));\n";
    for (const std::string n : {"2", "4"})
      for (const std::string& name : {"simd_packed_" + type + n, "simd::packed_" + type + n})
        text += "static_assert(metal::is_same_v<" + name + ", packed_" + type + n + ">);\n";
  }
  for (const std::string type : {"half", "float"})
    for (const std::string c : {"2", "3", "4"})
      for (const std::string r : {"2", "3", "4"})
        for (const std::string prefix : {"matrix_", "simd_", "simd::"})
          text += "static_assert(metal::is_same_v<" + prefix + type + c + "x" + r + ", " + type + c + "x" + r + ">);\n";
  text += R"(
typedef struct { vector_float2 position; vector_float4 color; matrix_float4x4 view; simd_ulong2 n; simd_quatf q; } Shared;
static_assert(sizeof(Shared) == 128 && sizeof(simd_quath) == 8);
#include <metal_stdlib>
kernel void k(device int* out) {
  Shared s;
  s.view = matrix_float4x4(2.0f);
  s.n = simd_ulong2(3);
  s.q.vector = simd_float4(4);
  out[0] = s.view.columns[1].y + s.n.y + s.q.vector.w;
}
)";
  const Msl source(text);
  std::vector<int32_t> out(1);
  source.run("k", Launch{.grid = {1, 1, 1}, .group = {1, 1, 1}}.bind(0, out));
  CHECK(out[0] == 9);
}

}  // namespace smelt::test
