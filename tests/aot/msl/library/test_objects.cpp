// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What no other file here calls: members of array, logs, uniform values, the newest packing, and single functions whose
// families are tested elsewhere.
#include "msl_library.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace smelt::test {
namespace {

const std::string kHead = "#include <metal_stdlib>\nusing namespace metal;\n";

TEST_CASE("objects: members of array, uniform values, logs that evaluate their arguments") {
  const MslLibrary library(kHead + R"(
kernel void f(device int* out [[buffer(0)]]) {
  array<int, 4> a = {{3, 5, 7, 9}};
  const array<int, 4> c = a;
  int sum = 0;
  for (thread int* p = a.begin(); p != a.end(); ++p) sum += *p;
  a.back() = 11;
  out[0] = sum;
  out[1] = a.front();
  out[2] = a.data()[3];
  out[3] = c.data()[2] + c.back();
  out[4] = int(a.size());
  out[5] = a.empty();
  out[6] = make_uniform(42);
  out[7] = simd_is_helper_thread() || quad_is_helper_thread();
  os_log_default.log("%d", out[8] = 1);
  os_log_default.log_debug("%d", out[9] = 2);
  os_log_default.log_info("%d", out[10] = 3);
  os_log_default.log_error("%d", out[11] = 4);
  os_log_default.log_fault("%d", out[12] = 5);
  os_log_default.log_with_type(log_type_error, "%d", out[13] = 6);
}
)");
  std::vector<int32_t> out(14, -1);
  library.run("f", Launch{}.bind(0, out));
  CHECK(out == std::vector<int32_t>{24, 3, 11, 16, 4, 0, 42, 0, 1, 2, 3, 4, 5, 6});
}

TEST_CASE("objects: limits of vectors are those of a component") {
  const MslLibrary library(kHead + R"(
kernel void f(device float* out [[buffer(0)]]) {
  out[0] = numeric_limits<float4>::epsilon().w;
  out[1] = numeric_limits<float3>::denorm_min().z;
  out[2] = numeric_limits<float2>::infinity().y;
  out[3] = numeric_limits<float2>::lowest().x;
  out[4] = as_type<uint>(numeric_limits<float4>::quiet_NaN().w) == as_type<uint>(numeric_limits<float>::quiet_NaN());
  out[5] = as_type<uint>(numeric_limits<float4>::signaling_NaN().w) == as_type<uint>(numeric_limits<float>::signaling_NaN());
}
)");
  std::vector<float> out(6, -1);
  library.run("f", Launch{}.bind(0, out));
  using Limits = std::numeric_limits<float>;
  const std::vector<float> want = {Limits::epsilon(), Limits::denorm_min(), Limits::infinity(), Limits::lowest(), 1, 1};
  CHECK(out == want);
}

TEST_CASE("objects: variants of functions that are tested in another one") {
  const MslLibrary library(kHead + R"(
kernel void f(device float* out [[buffer(0)]]) {
  out[0] = fast::distance(float2(1, 2), float2(4, 6));
  float3 n = precise::normalize(float3(3, 0, 4));
  out[1] = n.x; out[2] = n.y; out[3] = n.z;
  float c;
  out[4] = fast::sincos(0.5f, c);
  out[5] = c;
  out[6] = nextafter(1.0f, 2.0f);
  out[7] = fast::nextafter(1.0f, 0.0f);
  out[8] = nextafter(1.0h, 2.0h);
}
kernel void diagonal(device float* out [[buffer(0)]]) {
  simdgroup_store(make_diagonal_simdgroup_matrix<float, 8, 8>(2.5f), out, 8);
}
)");
  std::vector<float> out(9), matrix(64, -1);
  library.run("f", Launch{}.bind(0, out));
  const double want[] = {5, 0.6, 0, 0.8, std::sin(0.5), std::cos(0.5)};
  for (size_t i = 0; i < std::size(want); ++i) CHECK(std::fabs(out[i] - want[i]) < 1e-6);
  CHECK(out[6] == std::nextafter(1.0f, 2.0f));
  CHECK(out[7] == std::nextafter(1.0f, 0.0f));
  CHECK(out[8] == 1 + std::ldexp(1.0f, -10));
  library.run("diagonal", Launch{.grid = {32, 1, 1}, .group = {32, 1, 1}}.bind(0, matrix));
  for (size_t i = 0; i < 64; ++i) CHECK(matrix[i] == (i % 9 == 0 ? 2.5f : 0.0f));
}

TEST_CASE("objects: signed ten bits and two, since Metal 4") {
  const MslLibrary library(kHead + R"(
kernel void f(device uint* words [[buffer(0)]], device float4* back [[buffer(1)]]) {
  words[0] = pack_float_to_snorm10a2(float4(1, -1, 0.25f, -1));
  words[1] = pack_half_to_snorm10a2(half4(1, -1, 0.25h, 1));
  back[0] = unpack_snorm10a2_to_float(words[0]);
  back[1] = float4(unpack_snorm10a2_to_half(words[1]));
}
)",
                           {.target = "macos26"});
  std::vector<uint32_t> words(2);
  std::vector<float> back(8);
  library.run("f", Launch{}.bind(0, words).bind(1, back));
  constexpr uint32_t kThree = 511u | (-511u & 0x3ff) << 10 | 128u << 20;
  CHECK(words[0] == (kThree | 3u << 30));
  CHECK(words[1] == (kThree | 1u << 30));
  const double want[] = {1, -1, 128.0 / 511, -1, 1, -1, 128.0 / 511, 1};
  for (size_t i = 0; i < 8; ++i) CHECK(std::fabs(back[i] - want[i]) < 2e-4);
}

}  // namespace
}  // namespace smelt::test
