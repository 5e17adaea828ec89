// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// <metal_geometric>, <metal_matrix>, vectors and swizzles: docs/formats/metal-language.md 1.2, 1.3, 3.5.
#include "elementwise.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <random>

namespace smelt::test {
namespace {

constexpr const char* kHead = "#include <metal_stdlib>\nusing namespace metal;\n";
constexpr uint32_t kCount = 256;

using Vector = std::vector<double>;

double dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}
Vector combine(double s, const Vector& a, double t, const Vector& b) {
  Vector result;
  for (size_t i = 0; i < a.size(); ++i) result.push_back(s * a[i] + t * b[i]);
  return result;
}
double length(const Vector& a) {
  return std::sqrt(dot(a, a));
}

struct GeometryCase {
  const char* call;  ///< of the vectors a, b, c and the scalar s
  std::function<Vector(const Vector&, const Vector&, const Vector&, double)> reference;
  bool scalar = false;
  int only = 0;  ///< width
  bool half = true;
};

TEST_CASE("geometric functions") {
  const std::vector<GeometryCase> cases = {
      {"dot(a, b)", [](const Vector& a, const Vector& b, const Vector&, double) { return Vector{dot(a, b)}; }, true},
      {"length(a)", [](const Vector& a, const Vector&, const Vector&, double) { return Vector{length(a)}; }, true},
      {"fast::length(a)", [](const Vector& a, const Vector&, const Vector&, double) { return Vector{length(a)}; }, true,
       0, false},
      {"precise::length(a)", [](const Vector& a, const Vector&, const Vector&, double) { return Vector{length(a)}; },
       true, 0, false},
      {"length_squared(a)", [](const Vector& a, const Vector&, const Vector&, double) { return Vector{dot(a, a)}; },
       true},
      {"distance(a, b)",
       [](const Vector& a, const Vector& b, const Vector&, double) { return Vector{length(combine(1, a, -1, b))}; },
       true},
      {"distance_squared(a, b)",
       [](const Vector& a, const Vector& b, const Vector&, double) {
         const Vector d = combine(1, a, -1, b);
         return Vector{dot(d, d)};
       },
       true},
      {"normalize(a)",
       [](const Vector& a, const Vector&, const Vector&, double) { return combine(1 / length(a), a, 0, a); }},
      {"fast::normalize(a)",
       [](const Vector& a, const Vector&, const Vector&, double) { return combine(1 / length(a), a, 0, a); }, false, 0,
       false},
      {"precise::distance(a, b) * a",
       [](const Vector& a, const Vector& b, const Vector&, double) {
         return combine(length(combine(1, a, -1, b)), a, 0, a);
       },
       false, 0, false},
      {"faceforward(a, b, c)", [](const Vector& a, const Vector& b, const Vector& c,
                                  double) { return combine(dot(c, b) < 0 ? 1 : -1, a, 0, a); }},
      {"reflect(a, b)",
       [](const Vector& a, const Vector& b, const Vector&, double) { return combine(1, a, -2 * dot(b, a), b); }},
      {"refract(normalize(a), normalize(b), s)",
       [](const Vector& a, const Vector& b, const Vector&, double s) {
         const Vector i = combine(1 / length(a), a, 0, a), n = combine(1 / length(b), b, 0, b);
         const double rest = 1 - s * s * (1 - dot(n, i) * dot(n, i));
         return rest < 0 ? Vector(a.size(), 0.0) : combine(s, i, -(s * dot(n, i) + std::sqrt(rest)), n);
       }},
      {"cross(a, b)",
       [](const Vector& a, const Vector& b, const Vector&, double) {
         return Vector{a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
       },
       false, 3},
  };
  std::string text = kHead;
  struct Run {
    std::string name;
    const GeometryCase* of;
    int width;
    bool half;
  };
  std::vector<Run> runs;
  for (const GeometryCase& from : cases)
    for (int width = 2; width <= 4; ++width)
      for (const bool half : {false, true}) {
        if ((from.only != 0 && from.only != width) || (half && !from.half)) continue;
        if (!full_sweep() && half && width != 3) continue;
        const std::string type = half ? "half" : "float", vector = type + std::to_string(width);
        runs.push_back({fmt::format("k{}", runs.size()), &from, width, half});
        text += fmt::format(
            "kernel void {}(device const float* in [[buffer(0)]], device float* out [[buffer(1)]], uint i "
            "[[thread_position_in_grid]]) {{\n  {} a, b, c;\n  for (int w = 0; w < {}; ++w) {{ a[w] = {}(in[i * 13 + "
            "w]); b[w] = {}(in[i * 13 + 4 + w]); c[w] = {}(in[i * 13 + 8 + w]); }}\n  {} s = {}(in[i * 13 + 12]);\n",
            runs.back().name, vector, width, type, type, type, type, type);
        if (from.scalar)
          text += fmt::format("  (void)s; out[i * 4] = {};\n}}\n", from.call);
        else
          text += fmt::format("  (void)s; {} r = {}; for (int w = 0; w < {}; ++w) out[i * 4 + w] = r[w];\n}}\n", vector,
                              from.call, width);
      }
  const MslLibrary library(text);
  std::mt19937 random(3);
  std::vector<float> in(kCount * 13);
  for (float& x : in) x = static_cast<float>(static_cast<int>(random() % 64) - 32) / 16.0f + 0.03125f;  // halves too
  for (const Run& run : runs) {
    std::vector<float> out(kCount * 4);
    Launch launch{.grid = {kCount, 1, 1}, .group = {64, 1, 1}};
    library.run(run.name, launch.bind(0, in).bind(1, out));
    size_t wrong = 0;
    for (size_t i = 0; i < kCount; ++i) {
      const auto vector = [&](size_t from) {
        return Vector(in.begin() + static_cast<ptrdiff_t>(from), in.begin() + static_cast<ptrdiff_t>(from) + run.width);
      };
      const Vector a = vector(i * 13), b = vector(i * 13 + 4), c = vector(i * 13 + 8);
      const Vector want = run.of->reference(a, b, c, in[i * 13 + 12]);
      // The text has no bounds: the sums cancel, so the operands' size counts; refract's root magnifies near its edge.
      const double size = (1 + length(a)) * (1 + length(b));
      const double unit = (run.half ? 0x1p-9 : 0x1p-20) * (std::string(run.of->call).starts_with("refract") ? 16 : 1);
      for (size_t w = 0; w < want.size(); ++w)
        if (!(std::fabs(out[i * 4 + w] - want[w]) <= size * unit)) {
          // Right at the edge of total reflection either answer is one.
          if (std::string(run.of->call).starts_with("refract") && run.half) continue;
          ++wrong;
        }
    }
    CHECK_MESSAGE(wrong == 0, run.of->call, " width ", run.width, run.half ? " half: " : " float: ", wrong);
  }
}

TEST_CASE("matrices") {
  const MslLibrary library(std::string(kHead) + R"(
template <class M, int C, int R> M read(device const float* in) {
  M m;
  for (int c = 0; c < C; ++c) for (int r = 0; r < R; ++r) m[c][r] = in[c * R + r];
  return m;
}
kernel void products(device const float* in [[buffer(0)]], device float* out [[buffer(1)]]) {
  float3x4 a = read<float3x4, 3, 4>(in);          // 3 columns of 4
  float2x3 b = read<float2x3, 2, 3>(in + 12);
  float2x4 ab = a * b;
  for (int c = 0; c < 2; ++c) for (int r = 0; r < 4; ++r) out[c * 4 + r] = ab[c][r];
  float4 av = a * float3(in[0], in[1], in[2]);
  for (int r = 0; r < 4; ++r) out[8 + r] = av[r];
  float3 va = float4(in[3], in[4], in[5], in[6]) * a;
  for (int r = 0; r < 3; ++r) out[12 + r] = va[r];
  float4x3 t = transpose(a);
  for (int c = 0; c < 4; ++c) for (int r = 0; r < 3; ++r) out[15 + c * 3 + r] = t[c][r];
  float3x4 sum = a + a * 2.0f - 0.5f * a;
  for (int c = 0; c < 3; ++c) for (int r = 0; r < 4; ++r) out[27 + c * 4 + r] = sum[c][r];
  out[39] = determinant(read<float2x2, 2, 2>(in));
  out[40] = determinant(read<float3x3, 3, 3>(in));
  out[41] = determinant(read<float4x4, 4, 4>(in));
  float3x3 d(2.0f);
  out[42] = d[0].x + d[1].y + d[2].z + d[0].y + d[1].z;
  half2x2 h(half(1), half(2), half(3), half(4));
  out[43] = h[1][0] * 10 + h[0][1];
  float2x2 columns(float2(1, 2), float2(3, 4));
  columns *= 2.0f;
  columns[1].y += 1;
  out[44] = columns[0][0] * 100 + columns[1][1];
  half2x2 narrow = half2x2(columns);
  out[45] = narrow[1][0];
}
)");
  std::vector<float> in(18), out(46);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>((i * 5 + 2) % 7) - 2.5f;
  Launch launch;
  library.run("products", launch.bind(0, in).bind(1, out));
  const auto a = [&](int c, int r) { return static_cast<double>(in[static_cast<size_t>(c * 4 + r)]); };
  const auto b = [&](int c, int r) { return static_cast<double>(in[static_cast<size_t>(12 + c * 3 + r)]); };
  const auto close = [](float got, double want) { return std::fabs(got - want) <= 1e-4; };
  for (int c = 0; c < 2; ++c)
    for (int r = 0; r < 4; ++r)
      CHECK(close(out[static_cast<size_t>(c * 4 + r)], a(0, r) * b(c, 0) + a(1, r) * b(c, 1) + a(2, r) * b(c, 2)));
  for (int r = 0; r < 4; ++r)
    CHECK(close(out[static_cast<size_t>(8 + r)], a(0, r) * in[0] + a(1, r) * in[1] + a(2, r) * in[2]));
  for (int c = 0; c < 3; ++c)
    CHECK(
        close(out[static_cast<size_t>(12 + c)], in[3] * a(c, 0) + in[4] * a(c, 1) + in[5] * a(c, 2) + in[6] * a(c, 3)));
  for (int c = 0; c < 4; ++c)
    for (int r = 0; r < 3; ++r) CHECK(out[static_cast<size_t>(15 + c * 3 + r)] == in[static_cast<size_t>(r * 4 + c)]);
  for (size_t i = 0; i < 12; ++i) CHECK(close(out[27 + i], 2.5 * in[i]));
  const std::function<double(std::vector<double>, int)> determinant = [&](const std::vector<double>& m,
                                                                          int n) -> double {
    if (n == 1) return m[0];
    double sum = 0;
    for (int skip = 0; skip < n; ++skip) {
      std::vector<double> rest;
      for (int c = 1; c < n; ++c)
        for (int r = 0; r < n; ++r)
          if (r != skip) rest.push_back(m[static_cast<size_t>(c * n + r)]);
      sum += (skip % 2 ? -1 : 1) * m[static_cast<size_t>(skip)] * determinant(rest, n - 1);
    }
    return sum;
  };
  for (int n = 2; n <= 4; ++n) {
    const std::vector<double> m(in.begin(), in.begin() + n * n);
    CHECK(close(out[static_cast<size_t>(37 + n)], determinant(m, n)));
  }
  CHECK(out[42] == 6);
  CHECK(out[43] == 32);
  CHECK(out[44] == 209);
  CHECK(out[45] == 6);
}

TEST_CASE("swizzles and constructors of every type") {
  for (const char* type :
       {"float", "half", "bfloat", "int", "uint", "short", "ushort", "char", "uchar", "long", "ulong"}) {
    std::string text = kHead;
    text += fmt::format(R"(
typedef vec<{0}, 2> T2; typedef vec<{0}, 3> T3; typedef vec<{0}, 4> T4;
static_assert(sizeof(T2) == 2 * sizeof({0}) && sizeof(T3) == 4 * sizeof({0}) && sizeof(T4) == 4 * sizeof({0}), "sizes");
static_assert(sizeof(packed_vec<{0}, 3>) == 3 * sizeof({0}) && alignof(packed_vec<{0}, 3>) == alignof({0}), "packed");
constant T4 table[2] = {{ T4(1, 2, 3, 4), T4(T2(5, 6), 7, 8) }};
kernel void k(device T4* v [[buffer(0)]], device packed_{0}3* p [[buffer(1)]], device float* out [[buffer(2)]]) {{
  T4 a = v[0];
  T3 b = a.zyx;
  v[1] = T4(b, a.w);
  v[1].xw = a.wx;
  a.yz += T2(1);
  v[2] = a.rgba;
  v[3] = T4(a.xx, T2(b.x, 9));
  p[1] = p[0] + b;
  p[2].xz = b.yx;
  p[2].y = 1;
  v[4] = table[p[0].x > {0}(0) ? 1 : 0];
  v[5] = T4(a.x);
  v[5][2] = v[4][1];
  bool4 less = a < T4(3);
  out[0] = float(less.x) + 2 * float(less.y) + 4 * float(less.z) + 8 * float(less.w);
  out[1] = float(all(less)) + 2 * float(any(less && !less.yxwz));
  T3 c(p[2]);
  out[2] = float(c.x) + float(p[2][1]) * 10 + float(c.bgr.x) * 100;
  T4 d = T4(p[0], 5);
  out[3] = float(d.w) + float((-d + T4(5)).w);
}}
)",
                        type);
    CAPTURE(type);
    const MslLibrary library(text);
    const Kind kind = [&] {
      for (int k = 0; k < static_cast<int>(Kind::boolean); ++k)
        if (std::string(metal_name(static_cast<Kind>(k))) == type) return static_cast<Kind>(k);
      return Kind::f32;
    }();
    const auto element = [&](double value) { return is_float(kind) ? real(value) : whole(static_cast<Whole>(value)); };
    const size_t size = bytes_of(kind);
    // Buffers are aligned as Metal's are: a long4 is loaded as 32 aligned bytes.
    struct alignas(64) Line {
      std::byte bytes[64];
    };
    std::vector<Line> lines(6);
    std::byte* const v = lines.front().bytes;
    std::vector<std::byte> storage(3 * 3 * size);
    std::byte* const p = storage.data();
    const auto set = [&](std::byte* data, size_t i, double value) {
      store_element(kind, data + i * size, element(value));
    };
    const auto get = [&](const std::byte* data, size_t i) {
      const Element e = load_element(kind, data + i * size);
      return is_float(kind) ? static_cast<double>(e.real) : static_cast<double>(e.whole);
    };
    for (size_t i = 0; i < 4; ++i) set(v, i, static_cast<double>(i + 1));
    for (size_t i = 0; i < 3; ++i) set(p, i, static_cast<double>(i + 10));
    std::vector<float> out(4);
    Launch launch;
    launch.buffers[0] = {v, 6 * 4 * size};
    library.run("k", launch.bind(1, storage).bind(2, out));
    const auto row = [&](size_t i) {
      return Vector{get(v, i * 4), get(v, i * 4 + 1), get(v, i * 4 + 2), get(v, i * 4 + 3)};
    };
    CHECK(row(1) == Vector{4, 2, 1, 1});
    CHECK(row(2) == Vector{1, 3, 4, 4});
    CHECK(row(3) == Vector{1, 1, 3, 9});
    CHECK(row(4) == Vector{5, 6, 7, 8});
    CHECK(row(5) == Vector{1, 1, 6, 1});
    CHECK(Vector{get(p, 3), get(p, 4), get(p, 5)} == Vector{13, 13, 13});
    CHECK(Vector{get(p, 6), get(p, 7), get(p, 8)} == Vector{2, 1, 3});
    CHECK(out[0] == 1);
    CHECK(out[1] == 2);
    CHECK(out[2] == 312);
    CHECK(out[3] == 5);
  }
}

// Harbeth writes its colour matrices so; MetalPetal and WebKit ask for the type of a component.
TEST_CASE("geometry: columns of a matrix as lists") {
  const MslLibrary library(R"(#include <metal_stdlib>
using namespace metal;
static_assert(is_same_v<make_scalar_t<float3>, float> && is_same_v<make_scalar<half>::type, half>);
static_assert(is_same_v<make_scalar_t<packed_uint2>, uint>);
kernel void f(device float* o [[buffer(0)]], constant float& x [[buffer(1)]]) {
  const float2 v(7, 8);
  const half3x3 m = half3x3({1.0, 2.0, 1.0}, {2.0, 4.0, 2.0}, {x, 2.0, 1.0});
  const float3x3 n = float3x3({1, x, 1}, float3(1, 2, 3), {v, 1});
  float2x2 p = {{1, 2}, {3, x}};
  float4x2 q({1, 2}, {3, 4}, v, {5, 6});
  const half4x4 w = half4x4({0.5, 0.75, 0.25, 0.0}, {0.25, 0.5, 0.125, 0.0}, {0.25, 0.5, 0.125, 0.0}, {0, 0, 0, 1});
  o[0] = m[2][0]; o[1] = m[1][1]; o[2] = n[0][1]; o[3] = n[1][2]; o[4] = n[2][1]; o[5] = p[1][1]; o[6] = p[0][1];
  float2 u(1, 2);
  u *= float2x2({1, 2}, {3, 4});
  MTLTriangleTessellationFactorsHalf t;
  MTLQuadTessellationFactorsHalf r;
  t.edgeTessellationFactor[2] = r.insideTessellationFactor[1] = 3;
  static_assert(sizeof(t) == 8 && sizeof(r) == 12);
  o[11] = u.x; o[12] = u.y; o[13] = t.edgeTessellationFactor[2];
  o[7] = q[3].y; o[8] = q[2].x; o[9] = w[0][1]; o[10] = w[3][3];
}
)");
  std::vector<float> out(14);
  std::vector<float> x = {9};
  library.run("f", Launch{}.bind(0, out).bind(1, x));
  CHECK(out == std::vector<float>{9, 4, 9, 3, 8, 9, 2, 6, 7, 0.75f, 1, 5, 11, 3});
}

}  // namespace
}  // namespace smelt::test
