// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of the shapes that people write: compiled from Metal, run on the CPU, numbers compared.
#include "smelt/base/floats.hpp"

#include "msl.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <numeric>

namespace smelt::test {
namespace {

std::vector<float> ramp(size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 0.0f);
  return values;
}

}  // namespace

TEST_CASE("saxpy") {
  const Msl source(R"(
#include <metal_stdlib>
using namespace metal;
kernel void saxpy(device const float* x [[buffer(0)]], device float* y [[buffer(1)]], constant float& a [[buffer(2)]],
                  uint i [[thread_position_in_grid]]) {
  y[i] = a * x[i] + y[i];
}
)");
  std::vector<float> x = ramp(100), y(100, 1.0f), a = {2.0f};
  source.run("saxpy", Launch{.grid = {100, 1, 1}, .group = {32, 1, 1}}.bind(0, x).bind(1, y).bind(2, a));
  for (size_t i = 0; i < y.size(); ++i) CHECK(y[i] == 2.0f * static_cast<float>(i) + 1.0f);

  const aot::KernelInfo& info = source.info("saxpy");
  REQUIRE(info.arguments.size() == 4);
  CHECK(info.arguments[0].type_name == "float");
  CHECK(info.arguments[0].access == aot::ArgumentAccess::read);
  CHECK(info.arguments[1].access == aot::ArgumentAccess::read_write);
  CHECK(info.arguments[2].address_space == 2);
  CHECK(info.arguments[2].name == "a");
  CHECK(info.arguments[3].type_name == "uint");
  CHECK(info.arguments[3].air_kind == "air.thread_position_in_grid");
}

TEST_CASE("a struct of arguments, and slots that nobody chose") {
  const Msl source(R"(
#include <metal_stdlib>
using namespace metal;
struct Args { int width; uint64_t stride; float scale[2]; };
kernel void scale(constant Args& args, device const float4* in [[buffer(4)]], device float4* out,
                  uint3 at [[thread_position_in_grid]], uint3 size [[threads_per_grid]]) {
  const uint64_t place = at.y * args.stride + at.x;
  if (int(at.x) < args.width) out[place] = in[place].wzyx * args.scale[at.y & 1] + float(size.x);
}
)");
  struct Args {
    int32_t width;
    uint64_t stride;
    float scale[2];
  };
  std::vector<Args> args = {{3, 4, {2.0f, 3.0f}}};
  std::vector<float> in = ramp(32), out(32, -1.0f);
  source.run("scale", Launch{.grid = {4, 2, 1}, .group = {2, 2, 1}}.bind(0, args).bind(4, in).bind(1, out));
  for (size_t row = 0; row < 2; ++row)
    for (size_t i = 0; i < 4; ++i)
      for (size_t lane = 0; lane < 4; ++lane) {
        const size_t at = (row * 4 + i) * 4;
        CHECK(out[at + lane] == (i < 3 ? in[at + 3 - lane] * args[0].scale[row] + 4.0f : -1.0f));
      }
  const aot::KernelInfo& info = source.info("scale");
  CHECK(info.arguments[0].type_name == "Args");
  CHECK(info.arguments[0].size == 24);
  CHECK(info.arguments[0].location == 0);
  CHECK(info.arguments[2].location == 1);
  CHECK(info.arguments[2].type_name == "float4");
}

TEST_CASE("an argument buffer: pointers in a struct, alone and in arrays, with and without numbers") {
  const Msl source(R"(
#include <metal_stdlib>
using namespace metal;
struct Arguments {
  metal::array<device float*, 2> outputs [[id(4)]];
  constant float* input;
  int width [[id(9)]];
};
struct Link { device const int* numbers; };
kernel void spread(constant Arguments& arguments [[buffer(0)]], constant Link* links [[buffer(1)]],
                   uint i [[thread_position_in_grid]]) {
  if (int(i) >= arguments.width) return;
  arguments.outputs[0][i] = arguments.input[i] + 1;
  arguments.outputs[1][i] = float(links[i & 1].numbers[i]);
}
)");
  std::vector<float> first(8), second(8), input = ramp(8);
  std::vector<int> even(8, 20), odd(8, 30);
  struct Arguments {
    float* outputs[2];
    float* input;
    int32_t width;
  };
  std::vector<Arguments> arguments = {{{first.data(), second.data()}, input.data(), 7}};
  std::vector<int*> links = {even.data(), odd.data()};
  source.run("spread", Launch{.grid = {8, 1, 1}, .group = {8, 1, 1}}.bind(0, arguments).bind(1, links));
  for (size_t i = 0; i < 8; ++i) {
    CHECK(first[i] == (i < 7 ? static_cast<float>(i + 1) : 0));
    CHECK(second[i] == (i < 7 ? (i % 2 == 0 ? 20.0f : 30.0f) : 0));
  }
  const aot::KernelInfo& info = source.info("spread");
  CHECK(info.arguments[0].kind == aot::ArgumentKind::indirect_buffer);
  CHECK(info.arguments[0].size == 32);
  CHECK(info.arguments[1].kind == aot::ArgumentKind::indirect_buffer);
  using aot::MemberInfo;
  const std::vector<MemberInfo> members = {
      {"outputs", "float", 4, 2, 0, 8, MemberKind::pointer, Access::read_write},
      {"input", "float", 6, 0, 16, 8, MemberKind::pointer, Access::read},
      {"width", "int", 9, 0, 24, 4, MemberKind::constant, Access::none},
  };
  CHECK(info.arguments[0].members == members);
}

TEST_CASE("an attribute between a name and its bounds, as SPIRV-Cross writes it: each pointer has its slot") {
  const Msl source(R"(
#include <metal_stdlib>
using namespace metal;
struct Lists {
  device float* rows [[id(0)]][3];
  constant uint* counts [[id(3)]];
  device float* grid [[id(5)]][2][2];
};
kernel void spread(constant Lists& lists [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  if (i >= lists.counts[0]) return;
  lists.rows[2][i] = lists.rows[0][i] + lists.rows[1][i];
  lists.grid[i & 1][1][i] = 7;
}
)");
  std::vector<float> first = {1, 2, 3, 4}, second = {10, 20, 30, 40}, sum(4), even(4), odd(4);
  std::vector<uint32_t> counts = {3};
  struct Lists {
    float* rows[3];
    uint32_t* counts;
    float* grid[2][2];
  };
  std::vector<Lists> lists = {
      {{first.data(), second.data(), sum.data()}, counts.data(), {{nullptr, even.data()}, {nullptr, odd.data()}}}};
  source.run("spread", Launch{.grid = {4, 1, 1}, .group = {4, 1, 1}}.bind(0, lists));
  CHECK(sum == std::vector<float>{11, 22, 33, 0});
  CHECK(even == std::vector<float>{7, 0, 7, 0});
  CHECK(odd == std::vector<float>{0, 7, 0, 0});
  using aot::MemberInfo;
  const std::vector<MemberInfo> members = {
      {"rows", "float", 0, 3, 0, 8, MemberKind::pointer, Access::read_write},
      {"counts", "uint", 3, 0, 24, 8, MemberKind::pointer, Access::read},
      {"grid", "float", 5, 4, 32, 8, MemberKind::pointer, Access::read_write},
  };
  const aot::KernelInfo& info = source.info("spread");
  CHECK(info.arguments[0].kind == aot::ArgumentKind::indirect_buffer);
  CHECK(info.arguments[0].members == members);
}

TEST_CASE("an argument buffer with structures inside, alone and in arrays: members are numbered and placed through") {
  const Msl source(R"(
#include <metal_stdlib>
using namespace metal;
struct Scale { float factor; float shift[2]; };
struct Lane { device float* out; Scale scale [[id(2)]]; };
struct Arguments {
  uint width;
  Lane lanes[2] [[id(3)]];
  constant float* input;
};
kernel void spread(constant Arguments& arguments [[buffer(0)]], uint2 at [[thread_position_in_grid]]) {
  constant Lane& lane = arguments.lanes[at.y];
  if (at.x < arguments.width)
    lane.out[at.x] = arguments.input[at.x] * lane.scale.factor + lane.scale.shift[0] - lane.scale.shift[1];
}
)");
  struct Lane {
    float* out;
    float factor, shift[2];
  };
  struct Arguments {
    uint32_t width;
    Lane lanes[2];
    float* input;
  };
  std::vector<float> first(4), second(4), input = ramp(4);
  std::vector<Arguments> arguments = {{3, {{first.data(), 2, {5, 1}}, {second.data(), 3, {0, 7}}}, input.data()}};
  source.run("spread", Launch{.grid = {4, 2, 1}, .group = {4, 1, 1}}.bind(0, arguments));
  for (size_t i = 0; i < 4; ++i) {
    CHECK(first[i] == (i < 3 ? 2 * input[i] + 4 : 0));
    CHECK(second[i] == (i < 3 ? 3 * input[i] - 7 : 0));
  }
  using aot::MemberInfo;
  const std::vector<MemberInfo> members = {
      {"width", "uint", 0, 0, 0, 4, MemberKind::constant, Access::none},
      {"lanes[0].out", "float", 3, 0, 8, 8, MemberKind::pointer, Access::read_write},
      {"lanes[0].scale.factor", "float", 5, 0, 16, 4, MemberKind::constant, Access::none},
      {"lanes[0].scale.shift", "float", 6, 2, 20, 4, MemberKind::constant, Access::none},
      {"lanes[1].out", "float", 8, 0, 32, 8, MemberKind::pointer, Access::read_write},
      {"lanes[1].scale.factor", "float", 10, 0, 40, 4, MemberKind::constant, Access::none},
      {"lanes[1].scale.shift", "float", 11, 2, 44, 4, MemberKind::constant, Access::none},
      {"input", "float", 13, 0, 56, 8, MemberKind::pointer, Access::read},
  };
  const aot::KernelInfo& info = source.info("spread");
  CHECK(info.arguments[0].kind == aot::ArgumentKind::indirect_buffer);
  CHECK(info.arguments[0].size == sizeof(Arguments));
  CHECK(info.arguments[0].members == members);
  CHECK(info.arguments[0].fields.size() == 3);
}

TEST_CASE("a structure that doubles with each level is refused, not written out") {
  std::string text = "struct S0 { device float* p; };\n";
  for (int i = 1; i < 24; ++i) text += fmt::format("struct S{0} {{ S{1} a, b; }};\n", i, i - 1);
  text += "kernel void k(constant S23& s [[buffer(0)]]) {}\n";
  CHECK(msl_error(text).find("an argument buffer of more than 16384 members is not supported") != std::string::npos);
}

TEST_CASE("tables as parameters: two dimensions in threadgroup memory, a constant array's data()") {
  const Msl source(R"(
#include <metal_stdlib>
using namespace metal;
struct Shape { metal::array<int, 3> sizes; };
float diagonal(threadgroup float tile[4][4], uint i) { return tile[i][3 - i]; }
int volume(constant int* sizes, int count) {
  int product = 1;
  for (int i = 0; i < count; ++i) product *= sizes[i];
  return product;
}
kernel void f(constant Shape& shape, device float* out, uint2 at [[thread_position_in_threadgroup]]) {
  threadgroup float tile[4][4];
  tile[at.y][at.x] = at.y * 10 + at.x;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  auto sizes = shape.sizes.data();
  sizes += 1;
  if (at.y == 0) out[at.x] = diagonal(tile, at.x) + volume(shape.sizes.data(), 3) + volume(sizes, 2) + sizes[1];
}
)");
  std::vector<int32_t> shape = {100, 200, 3};
  std::vector<float> out(4);
  source.run("f", Launch{.grid = {4, 4, 1}, .group = {4, 4, 1}}.bind(0, shape).bind(1, out));
  for (size_t i = 0; i < 4; ++i) CHECK(out[i] == static_cast<float>(i * 10 + 3 - i + 60000 + 600 + 3));
}

TEST_CASE("lambdas, also of bfloat") {
  const Msl source(R"(
#include <metal_stdlib>
using namespace metal;
kernel void f(device bfloat* x, uint i [[thread_position_in_grid]]) {
  const auto twice = [](bfloat a) { return a + a; };
  const auto later = [&](int by) { return float(x[i]) + by; };
  x[i] = bfloat(twice(x[i]) + later(1));
}
)");
  std::vector<uint16_t> x = {0x3f80, 0x4000};  // 1, 2
  source.run("f", Launch{.grid = {2, 1, 1}, .group = {2, 1, 1}}.bind(0, x));
  CHECK(x[0] == 0x4080);  // 4
  CHECK(x[1] == 0x40e0);  // 7
}

TEST_CASE("threadgroup memory, static and given at dispatch, with a barrier") {
  const Msl source(R"(
#include <metal_stdlib>
using namespace metal;
kernel void reverse(device const float* in, device float* out, threadgroup float* given [[threadgroup(0)]],
                    uint i [[thread_position_in_grid]], uint l [[thread_position_in_threadgroup]],
                    uint n [[threads_per_threadgroup]]) {
  threadgroup float own[64];
  own[l] = in[i];
  given[l] = 2.0 * in[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = own[n - 1 - l] + given[l];
}
)");
  std::vector<float> in = ramp(128), out(128);
  Launch launch{.grid = {128, 1, 1}, .group = {64, 1, 1}};
  launch.threadgroup_bytes[0] = 256;
  source.run("reverse", launch.bind(0, in).bind(1, out));
  for (size_t i = 0; i < 128; ++i) CHECK(out[i] == in[i / 64 * 64 + 63 - i % 64] + 2.0f * in[i]);
}

TEST_CASE("templates with names of their own, and a limit of threads") {
  const Msl source(R"(
#include <metal_stdlib>
using namespace metal;
template <typename T, int N>
[[max_total_threads_per_threadgroup(256)]] kernel void add(device T* x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  x[i] = x[i] + T(N);
}
template [[host_name("add_float_1")]] [[kernel]] decltype(add<float, 1>) add<float, 1>;
template [[host_name("add_int_7")]] kernel void add<int, 7>(device int*, uint);
)");
  std::vector<float> x = ramp(16);
  std::vector<int32_t> n(16, 5);
  source.run("add_float_1", Launch{.grid = {16, 1, 1}, .group = {16, 1, 1}}.bind(0, x));
  source.run("add_int_7", Launch{.grid = {16, 1, 1}, .group = {16, 1, 1}}.bind(0, n));
  CHECK(x[3] == 4.0f);
  CHECK(n[3] == 12);
  CHECK(source.info("add_int_7").max_threads == 256);
}

TEST_CASE("function constants: values, whether defined, derived, and deciding whether an argument exists") {
  const Msl source(R"(
#include <metal_stdlib>
using namespace metal;
constant int count [[function_constant(0)]];
constant bool has_bias [[function_constant(1)]];
constant float scale [[function_constant(2)]];
constant float factor = is_function_constant_defined(scale) ? scale * 2.0 : 1.0;
constant bool twice = count > 2 && has_bias;
kernel void apply(device float* x, device const float* bias [[buffer(1), function_constant(has_bias)]],
                  uint i [[thread_position_in_grid]]) {
  float value = x[i] * factor;
  for (int n = 0; n < count; ++n) value += 1;
  if (has_bias) value += bias[i];
  if (twice) value *= 2;
  x[i] = value;
}
)");
  std::vector<float> x = ramp(8), bias(8, 100.0f);
  source.run("apply",
             Launch{.grid = {8, 1, 1}, .group = {8, 1, 1}}.bind(0, x).constant<int32_t>(0, 2).constant<uint8_t>(1, 0));
  for (size_t i = 0; i < 8; ++i) CHECK(x[i] == static_cast<float>(i) + 2.0f);
  x = ramp(8);
  source.run("apply", Launch{.grid = {8, 1, 1}, .group = {8, 1, 1}}
                          .bind(0, x)
                          .bind(1, bias)
                          .constant<int32_t>(0, 3)
                          .constant<uint8_t>(1, 1)
                          .constant<float>(2, 4.0f));
  for (size_t i = 0; i < 8; ++i) CHECK(x[i] == (static_cast<float>(i) * 8.0f + 103.0f) * 2.0f);

  const aot::KernelInfo& info = source.info("apply");
  REQUIRE(info.constants.size() == 3);
  CHECK(info.constants[0].name == "count");
  CHECK(info.constants[0].type_name == "int");
  CHECK(info.arguments[1].conditional);
  CHECK_FALSE(info.arguments[0].conditional);
}

TEST_CASE("tables without a space, program-scope constants, helpers over every space") {
  const Msl source(R"(
#include <metal_stdlib>
using namespace metal;
constant float kTable[4] = {1, 2, 4, 8};
struct Pair { float a, b; float sum() const { return a + b; } };
float total(device const Pair& p) { return p.sum(); }
float total(threadgroup const Pair& p) { return 10 * p.sum(); }
kernel void f(device Pair* pairs, device float* out, uint i [[thread_position_in_threadgroup]]) {
  const int local_table[] = {3, 1, 4, 1, 5, 9, 2, 6};
  threadgroup Pair shared[8];
  shared[i] = pairs[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  Pair copy = shared[7 - i];
  float v = i < 4 ? kTable[i] : float(0);
  out[i] = total(pairs[i]) + total(shared[i]) + copy.a + v + local_table[i];
}
)");
  std::vector<float> pairs = ramp(16), out(8);
  source.run("f", Launch{.grid = {8, 1, 1}, .group = {8, 1, 1}}.bind(0, pairs).bind(1, out));
  const int table[] = {3, 1, 4, 1, 5, 9, 2, 6};
  for (size_t i = 0; i < 8; ++i) {
    const float sum = pairs[2 * i] + pairs[2 * i + 1];
    CHECK(out[i] ==
          11 * sum + pairs[2 * (7 - i)] + (i < 4 ? static_cast<float>(1 << i) : 0.0f) + static_cast<float>(table[i]));
  }
}

TEST_CASE("swizzles in templates, read and written") {
  const Msl source(R"(
#include <metal_stdlib>
using namespace metal;
struct Own { float xy; };
template <typename T> T mixed(vec<T, 4> v, T s) {
  v.xy = v.yx * s;
  v.zw += v.xy + v.bg;
  vec<T, 2> w = s * v.wz - T(1);
  Own own = {float(w.x)};
  return own.xy + w.y;
}
kernel void f(device const float4* in, device float* out, uint i [[thread_position_in_grid]]) {
  out[i] = mixed(in[i], 2.0f);
}
)");
  std::vector<float> in = ramp(8), out(2);
  source.run("f", Launch{.grid = {2, 1, 1}, .group = {2, 1, 1}}.bind(0, in).bind(1, out));
  for (size_t i = 0; i < 2; ++i) {
    const float x = 2 * in[4 * i + 1], y = 2 * in[4 * i], b = in[4 * i + 2];
    const float z = in[4 * i + 2] + x + b, w = in[4 * i + 3] + y + y;
    CHECK(out[i] == (2 * w - 1) + (2 * z - 1));
  }
}

TEST_CASE("shift amounts count modulo the width; division by zero stays in its lane") {
  const Msl source(R"(
#include <metal_stdlib>
using namespace metal;
kernel void f(device const int* in, device int* out, uint i [[thread_position_in_grid]]) {
  out[4 * i] = in[i] << 33;
  out[4 * i + 1] = int(uint(in[i]) >> (in[i] + 32u));
  out[4 * i + 2] = int(ulong(in[i]) << (64 + in[i]));
  int q = in[i] / (in[i] - 2);
  out[4 * i + 3] = in[i] == 2 ? 77 : q;
}
)");
  std::vector<int32_t> in = {1, 2, 3, 4}, out(16);
  source.run("f", Launch{.grid = {4, 1, 1}, .group = {4, 1, 1}}.bind(0, in).bind(1, out));
  for (int i = 0; i < 4; ++i) {
    CHECK(out[4 * i] == in[i] << 1);
    CHECK(out[4 * i + 1] == in[i] >> in[i]);
    CHECK(out[4 * i + 2] == in[i] << in[i]);
    CHECK(out[4 * i + 3] == (in[i] == 2 ? 77 : in[i] / (in[i] - 2)));
  }
}

TEST_CASE("void pointers, references to pointers, and what Apple says of them") {
  const Msl source(R"(
#include <metal_stdlib>
using namespace metal;
void skip(const device float*& x, device float*& y, uint n) { x += n; y += n; }
kernel void f(device const void* in, device void* out, uint i [[thread_position_in_grid]]) {
  const device float* x = (const device float*)in;
  device float* y = (device float*)out;
  skip(x, y, i);
  *y = *x;
}
)");
  std::vector<float> in = ramp(8), out(8);
  source.run("f", Launch{.grid = {8, 1, 1}, .group = {8, 1, 1}}.bind(0, in).bind(1, out));
  CHECK(in == out);
  const aot::KernelInfo& info = source.info("f");
  CHECK(info.arguments[0].type_name == "void");
  CHECK(info.arguments[0].access == aot::ArgumentAccess::read_write);
}

TEST_CASE("string literals are arrays in space constant") {
  // As TORCH_REPORT_ERROR of c10/metal/error.h and log_debug of MLX hand them over.
  const Msl source(R"(
#include <metal_stdlib>
using namespace metal;
static_assert(sizeof("ab") == 3, "a message " "of two parts");
#define WHERE(x) #x ":" "x"
static uint length(constant const char* s) { uint n = 0; while (s[n]) ++n; return n; }
template <size_t N> uint size(constant const char (&)[N]) { return N; }
constant const char* constant name = "abc";
constant char filled[] = "de" "f";
[[deprecated("not any more")]] void old();
kernel void f(device uint* out, uint i [[thread_position_in_grid]]) {
  constant const char* choice = i == 0 ? "zero" : "seven";
  out[0] = length("literal");
  out[1] = length(WHERE(a + b)) + (length(__FILE__) > 9 ? 0 : 100);
  out[2] = length(__func__);
  out[3] = size("four" "teen chars");
  out[4] = length(name) + length(filled);
  out[5] = length(choice);
  out[6] = uint("xyz"[1]);
  out[7] = length("quotes \" \\ \x41 and ends") + length("");
}
)");
  std::vector<uint32_t> out(8);
  source.run("f", Launch{.grid = {1, 1, 1}, .group = {1, 1, 1}}.bind(0, out));
  CHECK(out == std::vector<uint32_t>{7, 7, 1, 15, 6, 4, 'y', 21});
}

TEST_CASE("recursion: alone and in pairs, as c10's bessel_j1 and gamma do it; not where it needs other threads") {
  const Msl source(R"(
#include <metal_stdlib>
using namespace metal;
constant float factors[] = {1.0f, 0.5f};
float odd_one(float x) { return x < 0 ? -odd_one(-x) : x * x * factors[1]; }
float down(float x);
float up(float x) { return x > 8 ? x + down(x - 4) : exp2(x); }
float down(float x) { return x < 4 ? x : up(x - 2) * factors[0]; }
kernel void f(device float* out, constant float* in, uint i [[thread_position_in_grid]]) {
  out[i] = odd_one(in[i]) + up(in[i] + simd_sum(0.0f));
}
)");
  const std::function<float(float)> up = [&](float x) {
    const auto down = [&](float y) { return y < 4 ? y : up(y - 2); };
    return x > 8 ? x + down(x - 4) : std::exp2(x);
  };
  std::vector<float> in = ramp(64), out(64);
  for (float& x : in) x -= 32;
  source.run("f", Launch{.grid = {64, 1, 1}, .group = {32, 1, 1}}.bind(0, out).bind(1, in));
  for (size_t i = 0; i < out.size(); ++i) {
    const float half = in[i] * in[i] * 0.5f;
    CHECK(out[i] == doctest::Approx((in[i] < 0 ? -half : half) + up(in[i])));
  }
  CHECK_THROWS_WITH_AS(Msl(R"(
#include <metal_stdlib>
using namespace metal;
float together(float x) { return x < 1 ? simd_sum(x) : together(x - 1) * together(x - 2); }
kernel void f(device float* out, uint i [[thread_position_in_grid]]) { out[i] = together(out[i]); }
)"),
                       doctest::Contains("calls itself and uses 'air.simd_sum"), std::runtime_error);
}

TEST_CASE("recursion that returns a vector") {
  const Msl source(R"(
#include <metal_stdlib>
using namespace metal;
float2 halves(float2 x, int n) { return n == 0 ? x : halves(x * float2(0.5f, 2.0f), n - 1); }
kernel void f(device float2* out, uint i [[thread_position_in_grid]]) { out[i] = halves(float2(i), 3); }
)");
  std::vector<float> out(8);
  source.run("f", Launch{.grid = {4, 1, 1}, .group = {4, 1, 1}}.bind(0, out));
  CHECK(out == std::vector<float>{0, 0, 0.125f, 8, 0.25f, 16, 0.375f, 24});
}

TEST_CASE("recursion with bfloats as parameters and results, alone and in vectors") {
  for (const bool checked : {false, true}) {
    aot::CpuOptions cpu;
    cpu.checked = checked;
    const Msl source(R"(
#include <metal_stdlib>
using namespace metal;
bfloat odd_one(bfloat x) { return x < bfloat(0) ? -odd_one(-x) : x * x + bfloat(1); }
bfloat2 halves(bfloat2 x, int n) { return n == 0 ? x : halves(x * bfloat2(0.5f, 2.0f), n - 1); }
kernel void f(device float* out, constant float* in, uint i [[thread_position_in_grid]]) {
  const bfloat2 both = halves(bfloat2(bfloat(in[i])), 3);
  out[i] = float(odd_one(bfloat(in[i]))) + float(both.x) + float(both.y);
}
)",
                     msl_options(), cpu);
    std::vector<float> in = ramp(16), out(16);
    for (float& x : in) x -= 8;
    source.run("f", Launch{.grid = {16, 1, 1}, .group = {16, 1, 1}}.bind(0, out).bind(1, in));
    for (size_t i = 0; i < out.size(); ++i) {
      const float odd = in[i] * in[i] + 1;
      CHECK(out[i] == (in[i] < 0 ? -odd : odd) + in[i] * 0.125f + in[i] * 8);
    }
  }
}

constexpr const char* kEndless = R"(
#include <metal_stdlib>
using namespace metal;
uint on(uint n) { return n == 0 ? 1 : (on(n * 2 + 1) * 3) ^ n; }
uint twice(uint n) { return n == 0 ? 1 : (twice(n * 2 + 1) * 3 ^ twice(n | 1)) * 5; }
float third(float x) { return x == 0 ? 1 : third(x + 1) * 3 + third(x + 2); }
kernel void down(device uint* x, uint i [[thread_position_in_grid]]) { x[i] = on(x[i]); }
kernel void branching(device uint* x, uint i [[thread_position_in_grid]]) { x[i] = twice(x[i]); }
kernel void in_groups(device uint* x, uint i [[thread_position_in_grid]], uint t [[thread_index_in_simdgroup]]) {
  const float own = third(x[i]);
  threadgroup_barrier(mem_flags::mem_device);
  x[i] = simd_sum(own * t);
}
)";

TEST_CASE("recursion that does not end is reported, however the kernel is driven, and the launch ends") {
  for (const bool checked : {false, true}) {
    aot::CpuOptions cpu;
    cpu.checked = checked;
    const Msl source(kEndless, msl_options(), cpu);
    for (const char* kernel : {"down", "branching", "in_groups"}) {
      CAPTURE(std::string(kernel));
      std::vector<uint32_t> x(64, 0);
      smelt_cpu_fault fault{};
      Launch launch{.grid = {64, 1, 1}, .group = {32, 1, 1}};
      launch.fault = &fault;
      launch.bind(0, x);
      source.run(kernel, launch);
      CHECK(fault.claimed == 0);
      x.assign(64, 0);
      x[40] = 5;  // one of the threads
      source.run(kernel, launch);
      CHECK(fault.claimed == 1);
      CHECK(fault.buffer == SMELT_CPU_FAULT_RECURSION);
    }
  }
}

TEST_CASE("recursion goes as deep as the stack is sure to hold") {
  const Msl source(R"(
#include <metal_stdlib>
using namespace metal;
uint mix(uint n) { return n == 0 ? 1 : (mix(n - 1) * 3) ^ n; }
kernel void f(device uint* x) { x[0] = mix(x[0]); }
)");
  for (const uint32_t depth : {0, 1, 511, 512}) {
    std::vector<uint32_t> x = {depth};
    smelt_cpu_fault fault{};
    Launch launch;
    launch.fault = &fault;
    source.run("f", launch.bind(0, x));
    uint32_t expected = 1;
    for (uint32_t n = 1; n <= depth; ++n) expected = (expected * 3) ^ n;
    CHECK(fault.claimed == (depth < 512 ? 0 : 1));
    if (depth < 512) CHECK(x[0] == expected);
  }
  CHECK_THROWS_WITH_AS(Msl(R"(
#include <metal_stdlib>
using namespace metal;
float wide(float x) {
  float own[600];
  for (int i = 0; i < 600; ++i) own[i] = x * i;
  own[int(x * 3) & 511] = x < 1 ? x : wide(x - 1) + wide(x - 2);
  return own[int(x) & 511] + own[int(x * 7) & 511];
}
kernel void f(device float* out, uint i [[thread_position_in_grid]]) { out[i] = wide(out[i]); }
)"),
                       doctest::Contains("bytes of stack; at most"), std::runtime_error);
}

TEST_CASE("recursion in checked code: tables are guarded, pointers are refused") {
  aot::CpuOptions cpu;
  cpu.checked = true;
  const Msl source(R"(
#include <metal_stdlib>
using namespace metal;
constant float table[] = {1, 2, 3, 4};
float pick(int n) { return n < 0 ? 0.0f : table[n] + pick(n - 2); }
kernel void f(device float* x) { x[0] = pick(int(x[0])); }
)",
                   msl_options(), cpu);
  std::vector<float> x = {3};
  smelt_cpu_fault fault{};
  Launch launch;
  launch.fault = &fault;
  source.run("f", launch.bind(0, x));
  CHECK(fault.claimed == 0);
  CHECK(x[0] == 6);
  x[0] = 5;
  source.run("f", launch);
  CHECK(fault.claimed == 1);
  CHECK(fault.buffer == SMELT_CPU_FAULT_CONSTANT_TABLE);
  CHECK(fault.offset == 20);
  CHECK_THROWS_WITH_AS(Msl(R"(
int reach(int n, device int* x) { return n < 0 ? 0 : x[n] + reach(n - 2, x) * 3; }
kernel void f(device int* x) { x[0] = reach(x[0], x); }
)",
                           msl_options(), cpu),
                       doctest::Contains("takes a pointer, whose bounds"), std::runtime_error);
}

TEST_CASE("NAN is a constant, also where literals are text in space constant") {
  const Msl source(R"(
#include <metal_stdlib>
using namespace metal;
constexpr constant float same = __builtin_nanf("");
template <typename T> T larger(T a, T b) { return isnan(a) || isnan(b) ? NAN : max(a, b); }
kernel void f(device float* out, constant float* in) {
  out[0] = larger(in[0], in[1]);
  out[1] = larger(in[1], in[2]);
  out[2] = same;
  out[3] = half(NAN);
}
)");
  std::vector<float> out(4, 1.0f), in = {3, 5, NAN};
  source.run("f", Launch{.grid = {1, 1, 1}, .group = {1, 1, 1}}.bind(0, out).bind(1, in));
  CHECK(out[0] == 5.0f);
  for (size_t i = 1; i < out.size(); ++i) CHECK(std::isnan(out[i]));
}

TEST_CASE("casts between half and bfloat, however they are written") {
  // (bfloat)(x) as tinygrad's renderer writes it, T(x) and (T)x in a template as people do.
  const Msl source(R"(
#include <metal_stdlib>
using namespace metal;
#define TO_BFLOAT(x) ((bfloat)(x))
template <typename T, typename U> T made(U x) { return T(x); }
template <typename T, typename U> T cast(U x) { return (T)x; }
kernel void f(device const half* h, device bfloat* b, device half* back, uint i [[thread_position_in_grid]]) {
  b[7 * i] = (bfloat)(h[i]);
  b[7 * i + 1] = bfloat(h[i]);
  b[7 * i + 2] = TO_BFLOAT(h[i] * 2);
  b[7 * i + 3] = made<bfloat>(h[i]) + made<bfloat>(1.0f);
  b[7 * i + 4] = cast<bfloat>(h[i]);
  b[7 * i + 5] = (metal::bfloat)-h[i];
  b[7 * i + 6] = metal::bfloat(made<half>(made<bfloat>(float(h[i]))));
  back[3 * i] = (half)b[7 * i];
  back[3 * i + 1] = half(b[7 * i]) + (half)1;
  back[3 * i + 2] = cast<half>(cast<bfloat>(h[i]));
}
)");
  const std::vector<float> values = {1.0f, -2.5f, 0.3330078125f, 1000.5f};  // halves, two of them no bfloats
  std::vector<uint16_t> in, b(7 * values.size()), back(3 * values.size());
  for (const float value : values) in.push_back(to_half_bits(value));
  source.run("f", Launch{.grid = {4, 1, 1}, .group = {4, 1, 1}}.bind(0, in).bind(1, b).bind(2, back));
  for (size_t i = 0; i < values.size(); ++i) {
    const float rounded = from_bfloat_bits(to_bfloat_bits(values[i]));
    CHECK(b[7 * i] == to_bfloat_bits(values[i]));
    CHECK(b[7 * i + 1] == b[7 * i]);
    CHECK(b[7 * i + 2] == to_bfloat_bits(2 * values[i]));
    CHECK(b[7 * i + 3] == to_bfloat_bits(rounded + 1));
    CHECK(b[7 * i + 4] == b[7 * i]);
    CHECK(b[7 * i + 5] == to_bfloat_bits(-values[i]));
    CHECK(b[7 * i + 6] == b[7 * i]);
    CHECK(back[3 * i] == to_half_bits(rounded));
    CHECK(back[3 * i + 1] == to_half_bits(rounded + 1));
    CHECK(back[3 * i + 2] == to_half_bits(rounded));
  }
}

TEST_CASE("several declarators of threadgroup memory") {
  const Msl source(R"(
#include <metal_stdlib>
using namespace metal;
kernel void f(device float* x, uint t [[thread_index_in_threadgroup]]) {
  threadgroup float a[2][4], b[2][4];
  a[t / 4][t % 4] = x[t];
  threadgroup float* p = &b[0][0];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  p[t] = a[1 - t / 4][t % 4];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  x[t] = b[t / 4][3 - t % 4];
}
)");
  std::vector<float> x = {0, 1, 2, 3, 4, 5, 6, 7};
  source.run("f", Launch{.grid = {8, 1, 1}, .group = {8, 1, 1}}.bind(0, x));
  CHECK(x == std::vector<float>{7, 6, 5, 4, 3, 2, 1, 0});
}

TEST_CASE("only the kernels that are asked for are made") {
  aot::CompileOptions options = msl_options();
  options.functions = {"b"};
  const std::string text = R"(
kernel void a(device float* x, uint i [[thread_position_in_grid]]) { x[i] = 1; }
kernel void b(device float* x, uint i [[thread_position_in_grid]]) { x[i] = 2; }
)";
  const Msl source(text, options);
  CHECK(source.compiled().targets[0].functions.size() == 1);
  options.functions = {"c"};
  CHECK(msl_error(text, options) == "test.metal: there is no kernel 'c'");
}

TEST_CASE("the same source gives the same bytes, on any number of threads") {
  std::string text = "#include <metal_stdlib>\nusing namespace metal;\n";
  for (int i = 0; i < 6; ++i)
    text += "kernel void k" + std::to_string(i) +
            "(device float* x, uint i [[thread_position_in_grid]]) { x[i] = " + std::to_string(i) +
            " * sqrt(x[i]); }\n";
  const auto one = compile_msl(text);
  REQUIRE(one.has_value());
  aot::CompileOptions options = msl_options();
  options.threads = 3;
  const auto three = compile_msl(text, options);
  REQUIRE(three.has_value());
  CHECK(one->targets[0].metallib == three->targets[0].metallib);
}

TEST_CASE("a reference that a function constant takes away is not read: no load leaves its condition") {
  const Msl source(R"(#include <metal_stdlib>
using namespace metal;
constant bool on [[function_constant(0)]];
kernel void limit(device uint* out [[buffer(0)]], constant uint& most [[buffer(1), function_constant(on)]],
                  uint i [[thread_position_in_grid]]) {
  if (on) out[i] = most; else out[i] = 2;
}
kernel void walk(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                 constant int& step [[buffer(3), function_constant(on)]], uint i [[thread_position_in_grid]]) {
  float sum = 0;
  device const float* p = x + i;
  for (int j = 0; j < 3; ++j) {
    sum += p[0];
    if (on) p += step;
  }
  y[i] = sum;
}
)");
  std::vector<uint32_t> out(8), most{7};
  source.run("limit", Launch{.grid = {8, 1, 1}, .group = {8, 1, 1}}.bind(0, out).constant(0, false));
  CHECK(out == std::vector<uint32_t>(8, 2));
  source.run("limit", Launch{.grid = {8, 1, 1}, .group = {8, 1, 1}}.bind(0, out).bind(1, most).constant(0, true));
  CHECK(out == std::vector<uint32_t>(8, 7));
  std::vector<float> x{1, 2, 3, 4}, y(4);
  source.run("walk", Launch{.grid = {4, 1, 1}, .group = {4, 1, 1}}.bind(0, x).bind(1, y).constant(0, false));
  CHECK(y == std::vector<float>{3, 6, 9, 12});
}

}  // namespace smelt::test
