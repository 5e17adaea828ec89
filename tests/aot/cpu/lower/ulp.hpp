// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Distance of a computed float from the exact value, in units in the last place of the exact value.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace smelt::test {

inline constexpr double kWrong = 1e9;  ///< a special value that is not what it should be

/// Results below the normal range may be flushed: anything from 0 to the smallest normal number passes there, as does
/// either side of the largest finite number when the exact value is within one unit of it.
inline double ulp_distance(float got, long double want) {
  constexpr float kSmallest = std::numeric_limits<float>::min(), kLargest = std::numeric_limits<float>::max();
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got) ? 0 : kWrong;
  const float rounded = static_cast<float>(want);
  if (std::isinf(rounded) || std::isinf(got)) {
    if (rounded == got) return 0;
    if (std::signbit(rounded) != std::signbit(got)) return kWrong;
    return std::fabs(want) >= kLargest * (1 - 0x1p-23L) && std::fabs(got) >= kLargest * (1 - 0x1p-23f) ? 1 : kWrong;
  }
  const long double difference = std::fabs(static_cast<long double>(got) - want);
  if (std::fabs(want) < kSmallest)
    return difference <= 0x1.8p-149L || std::fabs(got) <= kSmallest ? 0 : static_cast<double>(difference * 0x1p149L);
  int exponent = 0;
  std::frexp(want, &exponent);
  return static_cast<double>(std::ldexp(difference, 24 - exponent));
}

inline float float_of(uint32_t bits) {
  return std::bit_cast<float>(bits);
}

/// half <-> float in plain arithmetic, as the reference for F16C and for our own code.
inline float half_to_float(uint16_t h) {
  const uint32_t exponent = h >> 10 & 31, mantissa = h & 1023;
  const float sign = h >> 15 ? -1.0f : 1.0f;
  if (exponent == 31) return mantissa ? std::numeric_limits<float>::quiet_NaN() : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), -24);
  return sign * std::ldexp(static_cast<float>(mantissa + 1024), static_cast<int>(exponent) - 25);
}
/// To nearest even.
inline uint16_t half_from(long double x) {
  const uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  if (std::isnan(x)) return 0x7e00;
  const long double a = std::fabs(x);
  if (a >= 65520.0L) return static_cast<uint16_t>(sign | 0x7c00);
  int exponent = -14;
  if (a >= 0x1p-14L) exponent = std::ilogb(a);
  const long double steps = std::nearbyint(std::ldexp(a, 10 - exponent));  // the default mode: ties to even
  const int whole = static_cast<int>(steps) + ((exponent + 14) << 10);
  return static_cast<uint16_t>(sign | whole);
}
inline float bfloat_to_float(uint16_t b) {
  return float_of(static_cast<uint32_t>(b) << 16);
}
/// To nearest even, for |x| in the normal range.
inline uint16_t bfloat_from(long double x) {
  const uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  if (std::isnan(x)) return 0x7fc0;
  const long double a = std::fabs(x);
  if (a == 0) return sign;
  if (std::isinf(x)) return static_cast<uint16_t>(sign | 0x7f80);
  const int exponent = std::max(std::ilogb(a), -126);
  const long double steps = std::nearbyint(std::ldexp(a, 7 - exponent));
  const int whole = static_cast<int>(steps) + ((exponent + 126) << 7);
  return static_cast<uint16_t>(sign | std::min(whole, 0x7f80));
}

}  // namespace smelt::test
