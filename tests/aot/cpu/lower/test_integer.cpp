// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integer operations against plain arithmetic in 128 bits, for all 8-bit pairs and for edges of the wider types.
#include "jit.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <limits>
#include <type_traits>

using namespace smelt::test;

namespace {

using Loop = void(int64_t, void*, const void*, const void*, const void*);
using Wide = __int128;

template <class T>
constexpr int kBits = sizeof(T) * 8;

template <class T>
Wide clamped(Wide value) {
  const Wide low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
  return value < low ? low : value > high ? high : value;
}
template <class T>
T median(T a, T b, T c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

template <class T>
struct Reference {
  const char* name;
  int operands;
  Wide (*value)(Wide, Wide, Wide);
};

template <class T>
std::vector<Reference<T>> references() {
  using U = std::make_unsigned_t<T>;
  constexpr int bits = kBits<T>;
  return {
      {"abs_diff", 2, [](Wide a, Wide b, Wide) { return a < b ? b - a : a - b; }},
      {"add_sat", 2, [](Wide a, Wide b, Wide) { return clamped<T>(a + b); }},
      {"sub_sat", 2, [](Wide a, Wide b, Wide) { return clamped<T>(a - b); }},
      {"hadd", 2, [](Wide a, Wide b, Wide) { return (a + b) >> 1; }},
      {"rhadd", 2, [](Wide a, Wide b, Wide) { return (a + b + 1) >> 1; }},
      {"mul_hi", 2,
       [](Wide a, Wide b, Wide) {
         // The unsigned product of two 64-bit numbers fits no signed 128 bits, but wraps right.
         if (std::is_signed_v<T>) return (a * b) >> bits;
         return static_cast<Wide>((static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b)) >> bits);
       }},
      {"mad_hi", 3,
       [](Wide a, Wide b, Wide c) {
         if (std::is_signed_v<T>) return ((a * b) >> bits) + c;
         return static_cast<Wide>((static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b)) >> bits) + c;
       }},
      {"min", 2, [](Wide a, Wide b, Wide) { return a < b ? a : b; }},
      {"max", 2, [](Wide a, Wide b, Wide) { return a < b ? b : a; }},
      {"min3", 3, [](Wide a, Wide b, Wide c) { return std::min(std::min(a, b), c); }},
      {"max3", 3, [](Wide a, Wide b, Wide c) { return std::max(std::max(a, b), c); }},
      {"median3", 3, [](Wide a, Wide b, Wide c) { return median(a, b, c); }},
      {"popcount", -1, [](Wide a, Wide, Wide) { return static_cast<Wide>(std::popcount(static_cast<U>(a))); }},
      {"reverse_bits", -1,
       [](Wide a, Wide, Wide) {
         U reversed = 0;
         for (int i = 0; i < bits; ++i)
           reversed = static_cast<U>(reversed | ((static_cast<U>(a) >> i & 1) << (bits - 1 - i)));
         return static_cast<Wide>(reversed);
       }},
      {"rotate", -2,
       [](Wide a, Wide b, Wide) {
         const int by = static_cast<int>(static_cast<U>(b) % bits);
         return static_cast<Wide>(std::rotl(static_cast<U>(a), by));
       }},
  };
}

template <class T>
std::vector<T> values() {
  std::vector<T> result;
  if (sizeof(T) == 1) {
    for (int i = 0; i < 256; ++i) result.push_back(static_cast<T>(i));
    return result;
  }
  using Limits = std::numeric_limits<T>;
  result = {0,
            1,
            2,
            3,
            7,
            31,
            static_cast<T>(-1),
            static_cast<T>(-2),
            Limits::min(),
            Limits::max(),
            static_cast<T>(Limits::max() - 1),
            static_cast<T>(Limits::min() + 1),
            static_cast<T>(Limits::max() / 2 + 1)};
  uint64_t state = 99;
  while (result.size() < 40) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    result.push_back(static_cast<T>(state >> 7));
  }
  return result;
}

template <class T>
void check_type(const std::string& suffix) {
  const std::string type = "i" + std::to_string(kBits<T>), sign = std::is_signed_v<T> ? "s." : "u.";
  std::string air;
  for (const auto& reference : references<T>()) {
    const int operands = std::abs(reference.operands);
    const std::string name = std::string("air.") + reference.name + "." + (reference.operands < 0 ? "" : sign) + type;
    air += loop_over(reference.name, name, type, std::vector<std::string>(static_cast<size_t>(operands), type));
  }
  air += loop_over("mad_sat", "air.mad_sat." + sign + type, type, {type, type, type});
  air += loop_over("clz", "air.clz." + type, type, {type, "=i1 false"});
  air += loop_over("ctz", "air.ctz." + type, type, {type, "=i1 true"});
  air += loop_over("extract", "air.extract_bits." + sign + type, type, {type, "i32", "i32"});
  const Jit jit(air);

  std::vector<T> a, b, c, out;
  const std::vector<T> all = values<T>();
  for (const T x : all)
    for (const T y : all) a.push_back(x), b.push_back(y), c.push_back(static_cast<T>(x ^ (y >> 1)));
  out.resize(a.size());
  const auto count = static_cast<int64_t>(a.size());
  const auto compare = [&](const std::string& name, auto&& want) {
    jit.function<Loop>(name)(count, out.data(), a.data(), b.data(), c.data());
    int wrong = 0;
    for (size_t i = 0; i < a.size(); ++i) wrong += static_cast<T>(want(i)) != out[i];
    CHECK_MESSAGE(wrong == 0, name << " " << suffix << ": " << wrong << " of " << a.size());
  };
  for (const auto& reference : references<T>())
    compare(reference.name, [&](size_t i) { return reference.value(a[i], b[i], c[i]); });
  if (sizeof(T) < 8) compare("mad_sat", [&](size_t i) { return clamped<T>(static_cast<Wide>(a[i]) * b[i] + c[i]); });
  using U = std::make_unsigned_t<T>;
  compare("clz", [&](size_t i) { return std::countl_zero(static_cast<U>(a[i])); });
  compare("ctz", [&](size_t i) { return std::countr_zero(static_cast<U>(a[i])); });

  // Every field of a few values.
  std::vector<T> source, got;
  std::vector<uint32_t> offset, width;
  for (const T x : {static_cast<T>(0x5A), static_cast<T>(-3), std::numeric_limits<T>::min()})
    for (uint32_t o = 0; o < kBits<T>; ++o)
      for (uint32_t n = 0; o + n <= kBits<T>; ++n) source.push_back(x), offset.push_back(o), width.push_back(n);
  got.resize(source.size());
  jit.function<Loop>("extract")(static_cast<int64_t>(source.size()), got.data(), source.data(), offset.data(),
                                width.data());
  int wrong = 0;
  for (size_t i = 0; i < source.size(); ++i) {
    Wide field =
        width[i] == 0 ? 0 : (static_cast<Wide>(static_cast<U>(source[i])) >> offset[i]) & ((Wide{1} << width[i]) - 1);
    if (std::is_signed_v<T> && width[i] && field >> (width[i] - 1) & 1) field -= Wide{1} << width[i];
    wrong += static_cast<T>(field) != got[i];
  }
  CHECK_MESSAGE(wrong == 0, "extract_bits " << suffix);
}

}  // namespace

TEST_CASE("integer operations of 8 to 64 bits") {
  check_type<int8_t>("s.i8");
  check_type<uint8_t>("u.i8");
  check_type<int16_t>("s.i16");
  check_type<uint16_t>("u.i16");
  check_type<int32_t>("s.i32");
  check_type<uint32_t>("u.i32");
  check_type<int64_t>("s.i64");
  check_type<uint64_t>("u.i64");
}

TEST_CASE("the rest of the integer operations") {
  const Jit jit(loop_over("abs", "air.abs.s.i32", "i32", {"i32"}) +
                loop_over("mul24", "air.mul24.s.i32", "i32", {"i32", "i32"}) +
                loop_over("mad24", "air.mad24.u.i32", "i32", {"i32", "i32", "i32"}) +
                loop_over("clamp", "air.clamp.s.v2i32", "<2 x i32>", {"<2 x i32>", "<2 x i32>", "<2 x i32>"}) + R"(
declare i32 @air.insert_bits.u.i32(i32, i32, i32, i32)
define i32 @insert(i32 %base, i32 %x, i32 %offset, i32 %count) {
  %r = call i32 @air.insert_bits.u.i32(i32 %base, i32 %x, i32 %offset, i32 %count)
  ret i32 %r
}
declare i32 @air.mad_sat.s.i32(i32, i32, i32)
declare i64 @air.mad_sat.s.i64(i64, i64, i64)
define i64 @mad_sat(i64 %a, i64 %b, i64 %c) {
  %r = call i64 @air.mad_sat.s.i64(i64 %a, i64 %b, i64 %c)
  ret i64 %r
}
declare i1 @air.simd_vote_all.i64(i64)
declare i1 @air.quad_vote_any.i64(i64)
define i32 @votes(i64 %mask) {
  %all = call i1 @air.simd_vote_all.i64(i64 %mask)
  %any = call i1 @air.quad_vote_any.i64(i64 %mask)
  %a = zext i1 %all to i32
  %b = select i1 %any, i32 2, i32 0
  %r = or i32 %a, %b
  ret i32 %r
})");
  const int32_t x = -5, y = 7;
  int32_t got = 0;
  jit.function<Loop>("abs")(1, &got, &x, nullptr, nullptr);
  CHECK(got == 5);
  jit.function<Loop>("mul24")(1, &got, &x, &y, nullptr);
  CHECK(got == -35);
  const uint32_t big = 0xffffff, two = 2, three = 3;
  uint32_t sum = 0;
  jit.function<Loop>("mad24")(1, &sum, &big, &two, &three);
  CHECK(sum == 0x2000001);
  const int32_t v[2] = {-9, 9}, low[2] = {-3, -3}, high[2] = {4, 4};
  int32_t clamped_vector[2] = {};
  jit.function<Loop>("clamp")(1, clamped_vector, v, low, high);
  CHECK(clamped_vector[0] == -3);
  CHECK(clamped_vector[1] == 4);

  auto* insert = jit.function<uint32_t(uint32_t, uint32_t, uint32_t, uint32_t)>("insert");
  CHECK(insert(0xffffffff, 0, 4, 8) == 0xfffff00f);
  CHECK(insert(0x12345678, 0xffffffff, 3, 0) == 0x12345678);
  CHECK(insert(0x12345678, 0xcafebabe, 0, 32) == 0xcafebabe);
  CHECK(insert(0, 0xff, 28, 4) == 0xf0000000);
  auto* mad_sat = jit.function<int64_t(int64_t, int64_t, int64_t)>("mad_sat");
  CHECK(mad_sat(INT64_MAX, 2, 0) == INT64_MAX);
  CHECK(mad_sat(INT64_MIN, 2, 5) == INT64_MIN);
  CHECK(mad_sat(3, -4, 5) == -7);
  auto* votes = jit.function<int(uint64_t)>("votes");
  CHECK(votes(0xffffffff) == 3);
  CHECK(votes(0x7fffffff) == 2);
  CHECK(votes(0xfffffff0) == 0);
}

TEST_CASE("integer division never traps") {
  const Jit jit(R"(
define i32 @sdiv(i32 %a, i32 %b) {
  %r = sdiv exact i32 %a, %b
  ret i32 %r
}
define i32 @srem(i32 %a, i32 %b) {
  %r = srem i32 %a, %b
  ret i32 %r
}
define <4 x i32> @udiv(<4 x i32> %a, <4 x i32> %b) {
  %r = udiv <4 x i32> %a, %b
  ret <4 x i32> %r
}
define i64 @sdiv64(i64 %a, i64 %b) {
  %r = sdiv i64 %a, %b
  ret i64 %r
}
define void @udiv_vector(ptr %out, ptr %a, ptr %b) {
  %x = load <4 x i32>, ptr %a
  %y = load <4 x i32>, ptr %b
  %r = udiv <4 x i32> %x, %y
  store <4 x i32> %r, ptr %out
  ret void
})");
  auto* sdiv = jit.function<int(int, int)>("sdiv");
  auto* srem = jit.function<int(int, int)>("srem");
  auto* sdiv64 = jit.function<int64_t(int64_t, int64_t)>("sdiv64");
  CHECK(sdiv(12, -3) == -4);
  sdiv(5, 0);
  sdiv(INT32_MIN, -1);
  CHECK(srem(-7, 3) == -1);
  srem(5, 0);
  CHECK(srem(INT32_MIN, -1) == 0);
  sdiv64(1, 0);
  sdiv64(INT64_MIN, -1);
  alignas(16) const uint32_t a[4] = {10, 20, 30, 40}, b[4] = {3, 0, 7, 0};
  alignas(16) uint32_t out[4] = {};
  jit.function<void(void*, const void*, const void*)>("udiv_vector")(out, a, b);
  CHECK(out[0] == 3);  // other components are intact
  CHECK(out[2] == 4);
}
