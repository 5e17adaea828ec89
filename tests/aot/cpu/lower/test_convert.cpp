// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// air.convert: saturation, NaN, rounding suffixes, bool, half and bfloat.
#include "jit.hpp"
#include "ulp.hpp"

#include <doctest/doctest.h>

#include <cfenv>

using namespace smelt::test;

namespace {

using Loop = void(int64_t, void*, const void*, const void*, const void*);

std::vector<float> float_values() {
  std::vector<float> result = {
      0,       -0.0f,  0.49f,         0.5f,          -0.5f,         1.5f,          2.5f,     -1.9f,   127.4f,
      127.6f,  128,    255.5f,        256,           -128.6f,       -129,          32767.5f, 65504,   65519,
      65520,   70000,  2147483520.0f, 2147483648.0f, 4294967040.0f, 4294967296.0f, 9.2e18f,  9.3e18f, 1.8e19f,
      1.9e19f, -1e30f, 1e30f,         INFINITY,      -INFINITY,     NAN,           1e-30f};
  for (uint64_t bits = 0; bits < 0x1'0000'0000; bits += 7'000'003) {
    const float x = float_of(static_cast<uint32_t>(bits));
    if (std::fabs(x) >= 0x1p-126f) result.push_back(x);
  }
  return result;
}

template <class T>
T saturated(float x) {
  if (std::isnan(x)) return 0;
  const long double t = std::trunc(static_cast<long double>(x));
  if (t < static_cast<long double>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
  if (t > static_cast<long double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
  return static_cast<T>(t);
}

template <class T>
void check_from_float() {
  const std::string type = "i" + std::to_string(sizeof(T) * 8), sign = std::is_signed_v<T> ? "s" : "u";
  const Jit jit(loop_over("f", "air.convert." + sign + "." + type + ".f.f32", type, {"float"}));
  const std::vector<float> in = float_values();
  std::vector<T> out(in.size());
  jit.function<Loop>("f")(static_cast<int64_t>(in.size()), out.data(), in.data(), nullptr, nullptr);
  int wrong = 0;
  for (size_t i = 0; i < in.size(); ++i) wrong += out[i] != saturated<T>(in[i]);
  CHECK_MESSAGE(wrong == 0, sign << "." << type);
}

long double rounded(long double x, int mode, auto&& to_nearest) {
  const int before = std::fegetround();
  std::fesetround(mode);
  volatile long double source = x;
  const auto result = to_nearest(source);
  std::fesetround(before);
  return result;
}

}  // namespace

TEST_CASE("float to integer saturates, NaN gives 0") {
  check_from_float<int8_t>();
  check_from_float<uint8_t>();
  check_from_float<int16_t>();
  check_from_float<uint16_t>();
  check_from_float<int32_t>();
  check_from_float<uint32_t>();
  check_from_float<int64_t>();
  check_from_float<uint64_t>();
}

TEST_CASE("conversions as constants give what they give at run time") {
  const Jit jit(R"(
declare i32 @air.convert.s.i32.f.f32(float)
define i32 @nan() {
  %r = call i32 @air.convert.s.i32.f.f32(float 0x7FF8000000000000)
  ret i32 %r
}
define i32 @large() {
  %r = call i32 @air.convert.s.i32.f.f32(float 0x41E65A0BC0000000)
  ret i32 %r
})");
  CHECK(jit.function<int()>("nan")() == 0);
  CHECK(jit.function<int()>("large")() == INT32_MAX);
}

TEST_CASE("bool is whether a value differs from zero") {
  const Jit jit(R"(
declare i1 @air.convert.u.i1.f.f32(float)
declare <2 x i1> @air.convert.u.v2i1.u.v2i32(<2 x i32>)
declare float @air.convert.f.f32.u.i1(i1)
define i32 @from_float(float %x) {
  %b = call i1 @air.convert.u.i1.f.f32(float %x)
  %r = zext i1 %b to i32
  ret i32 %r
}
define i32 @from_ints(i32 %x, i32 %y) {
  %v0 = insertelement <2 x i32> poison, i32 %x, i32 0
  %v = insertelement <2 x i32> %v0, i32 %y, i32 1
  %b = call <2 x i1> @air.convert.u.v2i1.u.v2i32(<2 x i32> %v)
  %z = zext <2 x i1> %b to <2 x i32>
  %p = extractelement <2 x i32> %z, i32 0
  %q = extractelement <2 x i32> %z, i32 1
  %s = shl i32 %q, 1
  %r = or i32 %p, %s
  ret i32 %r
}
define float @to_float(i32 %x) {
  %b = icmp ne i32 %x, 0
  %r = call float @air.convert.f.f32.u.i1(i1 %b)
  ret float %r
})");
  auto* from_float = jit.function<int(float)>("from_float");
  CHECK(from_float(0.5f) == 1);
  CHECK(from_float(-0.0f) == 0);
  CHECK(from_float(NAN) == 1);
  auto* from_ints = jit.function<int(int, int)>("from_ints");
  CHECK(from_ints(2, 0) == 1);  // not the lowest bit
  CHECK(from_ints(0, 256) == 2);
  CHECK(jit.function<float(int)>("to_float")(5) == 1.0f);
}

TEST_CASE("integers to float in every direction") {
  struct Mode {
    const char* suffix;
    int mode;
  };
  const std::vector<Mode> modes = {
      {"", FE_TONEAREST}, {".rte", FE_TONEAREST}, {".rtz", FE_TOWARDZERO}, {".rtn", FE_DOWNWARD}, {".rtp", FE_UPWARD}};
  std::string air;
  for (const Mode& m : modes) {
    const std::string suffix = m.suffix;
    air += loop_over("s32" + suffix, "air.convert.f.f32.s.i32" + suffix, "float", {"i32"});
    air += loop_over("s64" + suffix, "air.convert.f.f32.s.i64" + suffix, "float", {"i64"});
    air += loop_over("u64" + suffix, "air.convert.f.f32.u.i64" + suffix, "float", {"i64"});
  }
  const Jit jit(air);
  std::vector<int64_t> in = {0,         1,         -1,         INT64_MAX,  INT64_MIN,  INT64_MAX - 1,
                             0x1000001, 0x1000003, -0x1000001, 0x7fffffff, -0x7fffffff};
  uint64_t state = 7;
  while (in.size() < 4000) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    in.push_back(static_cast<int64_t>(state) >> (state % 40));
  }
  std::vector<int32_t> narrow;
  for (const int64_t x : in) narrow.push_back(static_cast<int32_t>(x));
  std::vector<float> out(in.size());
  const auto count = static_cast<int64_t>(in.size());
  for (const Mode& m : modes) {
    const auto check = [&](const std::string& name, const void* data, auto&& value) {
      jit.function<Loop>(name + m.suffix)(count, out.data(), data, nullptr, nullptr);
      int wrong = 0;
      for (size_t i = 0; i < in.size(); ++i) {
        const long double want = rounded(value(i), m.mode, [](long double x) { return static_cast<float>(x); });
        wrong += static_cast<float>(want) != out[i];
      }
      CHECK_MESSAGE(wrong == 0, name << m.suffix << ": " << wrong);
    };
    check("s32", narrow.data(), [&](size_t i) { return static_cast<long double>(narrow[i]); });
    check("s64", in.data(), [&](size_t i) { return static_cast<long double>(in[i]); });
    check("u64", in.data(), [&](size_t i) { return static_cast<long double>(static_cast<uint64_t>(in[i])); });
  }
}

TEST_CASE("half and bfloat") {
  std::string air = loop_over("to_half", "air.convert.f.f16.f.f32", "half", {"float"}) +
                    loop_over("to_half_rtz", "air.convert.f.f16.f.f32.rtz", "half", {"float"}) +
                    loop_over("to_bfloat", "air.convert.f.bf16.f.f32", "bfloat", {"float"}) +
                    loop_over("to_bfloat_rtz", "air.convert.f.bf16.f.f32.rtz", "bfloat", {"float"}) +
                    loop_over("from_half", "air.convert.f.f32.f.f16", "float", {"half"}) +
                    loop_over("from_bfloat", "air.convert.f.f32.f.bf16", "float", {"bfloat"}) +
                    loop_over("half_to_bfloat", "air.convert.f.bf16.f.f16", "bfloat", {"half"}) +
                    loop_over("int_to_bfloat", "air.convert.f.bf16.s.i32", "bfloat", {"i32"}) +
                    loop_over("int_to_half", "air.convert.f.f16.u.i32", "half", {"i32"}) +
                    loop_over("half_to_int", "air.convert.s.i16.f.f16", "i16", {"half"});
  const Jit jit(air);
  const std::vector<float> floats = float_values();
  const auto count = static_cast<int64_t>(floats.size());
  std::vector<uint16_t> out(floats.size());
  const auto run = [&](const char* name, const void* in, void* to, int64_t n) {
    jit.function<Loop>(name)(n, to, in, nullptr, nullptr);
  };
  const auto is_nan16 = [](uint16_t bits, int exponent_bits) {
    const int mantissa = 15 - exponent_bits;
    return (bits & 0x7fff) > (((1 << exponent_bits) - 1) << mantissa);
  };
  run("to_half", floats.data(), out.data(), count);
  int wrong = 0;
  for (size_t i = 0; i < floats.size(); ++i)
    wrong += out[i] != half_from(floats[i]) && !(std::isnan(floats[i]) && is_nan16(out[i], 5));
  CHECK(wrong == 0);
  run("to_bfloat", floats.data(), out.data(), count);
  wrong = 0;
  for (size_t i = 0; i < floats.size(); ++i)
    wrong += out[i] != bfloat_from(floats[i]) && !(std::isnan(floats[i]) && is_nan16(out[i], 8));
  CHECK(wrong == 0);
  run("to_bfloat_rtz", floats.data(), out.data(), count);
  wrong = 0;
  for (size_t i = 0; i < floats.size(); ++i)
    wrong += out[i] != std::bit_cast<uint32_t>(floats[i]) >> 16 && !std::isnan(floats[i]);
  CHECK(wrong == 0);
  run("to_half_rtz", floats.data(), out.data(), count);
  wrong = 0;
  for (size_t i = 0; i < floats.size(); ++i) {
    if (std::isnan(floats[i])) continue;
    const float got = half_to_float(out[i]), next = half_to_float(static_cast<uint16_t>(out[i] + 1));
    wrong += !(std::fabs(got) <= std::fabs(floats[i]) && (std::fabs(next) > std::fabs(floats[i]) || std::isinf(got)));
  }
  CHECK(wrong == 0);

  std::vector<uint16_t> all(65536), small(65536);
  for (uint32_t i = 0; i < 65536; ++i) all[i] = static_cast<uint16_t>(i);
  std::vector<float> wide(65536);
  run("from_half", all.data(), wide.data(), 65536);
  wrong = 0;
  for (uint32_t i = 0; i < 65536; ++i) {
    const float want = half_to_float(all[i]);
    wrong += std::bit_cast<uint32_t>(want) != std::bit_cast<uint32_t>(wide[i]) && !std::isnan(want);
  }
  CHECK(wrong == 0);
  run("half_to_bfloat", all.data(), small.data(), 65536);
  wrong = 0;
  for (uint32_t i = 0; i < 65536; ++i)
    wrong += small[i] != bfloat_from(half_to_float(all[i])) && !std::isnan(half_to_float(all[i]));
  CHECK(wrong == 0);
  run("from_bfloat", all.data(), wide.data(), 65536);
  wrong = 0;
  for (uint32_t i = 0; i < 65536; ++i) wrong += std::bit_cast<uint32_t>(wide[i]) != i << 16;
  CHECK(wrong == 0);
  std::vector<int16_t> shorts(65536);
  run("half_to_int", all.data(), shorts.data(), 65536);
  wrong = 0;
  for (uint32_t i = 0; i < 65536; ++i) wrong += shorts[i] != saturated<int16_t>(half_to_float(all[i]));
  CHECK(wrong == 0);

  // One rounding only: 2^24 + 2^16 + 1 lies just above the middle of two bfloats; through float it would be the middle.
  const std::vector<int32_t> ints = {0x1010001, 0x1030001, -0x1010001, 0x7fffffff, -1, 0, 257, 65519, 65520};
  std::vector<uint16_t> from_ints(ints.size());
  run("int_to_bfloat", ints.data(), from_ints.data(), static_cast<int64_t>(ints.size()));
  for (size_t i = 0; i < ints.size(); ++i) CHECK(from_ints[i] == bfloat_from(ints[i]));
  run("int_to_half", ints.data(), from_ints.data(), static_cast<int64_t>(ints.size()));
  for (size_t i = 0; i < ints.size(); ++i)
    CHECK(from_ints[i] == half_from(static_cast<long double>(static_cast<uint32_t>(ints[i]))));
}

TEST_CASE("saturated integer conversions") {
  const Jit jit(loop_over("a", "air.convert.s.i8.s.i32.sat", "i8", {"i32"}) +
                loop_over("b", "air.convert.u.i8.s.i32.sat", "i8", {"i32"}) +
                loop_over("c", "air.convert.s.i32.u.i32.sat", "i32", {"i32"}) +
                loop_over("d", "air.convert.u.i32.s.i8.sat", "i32", {"i8"}));
  const auto once = [&](const char* name, auto in, auto out) {
    jit.function<Loop>(name)(1, &out, &in, nullptr, nullptr);
    return out;
  };
  CHECK(once("a", int32_t{300}, int8_t{}) == 127);
  CHECK(once("a", int32_t{-300}, int8_t{}) == -128);
  CHECK(once("b", int32_t{-300}, uint8_t{}) == 0);
  CHECK(once("b", int32_t{300}, uint8_t{}) == 255);
  CHECK(once("c", uint32_t{0x80000000}, int32_t{}) == INT32_MAX);
  CHECK(once("d", int8_t{-5}, uint32_t{}) == 0);
  CHECK(once("d", int8_t{5}, uint32_t{}) == 5);
}

TEST_CASE("pack and unpack") {
  const Jit jit(loop_over("pack_unorm", "air.pack.unorm4x8.v4f32", "i32", {"<4 x float>"}) +
                loop_over("pack_snorm", "air.pack.snorm2x16.v2f32", "i32", {"<2 x float>"}) +
                loop_over("unpack_unorm", "air.unpack.unorm4x8.v4f32", "<4 x float>", {"i32"}) +
                loop_over("unpack_snorm", "air.unpack.snorm4x8.v4f32", "<4 x float>", {"i32"}) +
                loop_over("unpack_565", "air.unpack.unorm.rgb565.v3f32", "<3 x float>", {"i16"}));
  alignas(16) const float in[4] = {0, 1, 0.5f, NAN};
  uint32_t packed = 0;
  jit.function<Loop>("pack_unorm")(1, &packed, in, nullptr, nullptr);
  CHECK(packed == 0x0080ff00);  // 127.5 to even is 128; NaN is 0
  alignas(16) const float two[2] = {-2, 1};
  jit.function<Loop>("pack_snorm")(1, &packed, two, nullptr, nullptr);
  CHECK(packed == 0x7fff8001);
  alignas(16) float out[4] = {};
  packed = 0xff807f00;
  jit.function<Loop>("unpack_unorm")(1, out, &packed, nullptr, nullptr);
  CHECK(out[0] == 0);
  CHECK(out[1] == 127 / 255.0f);
  CHECK(out[3] == 1);
  jit.function<Loop>("unpack_snorm")(1, out, &packed, nullptr, nullptr);
  CHECK(out[1] == 1);
  CHECK(out[2] == -1);  // -128 is below the range
  const uint16_t colour = 0xf800;
  jit.function<Loop>("unpack_565")(1, out, &colour, nullptr, nullptr);
  CHECK(out[0] == 1);
  CHECK(out[1] == 0);
}
