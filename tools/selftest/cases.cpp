// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cases.hpp"

#include "smelt/base/floats.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace smelt::selftest {
namespace {

using loader::Size3;

/// Numbers that are the same on every machine.
class Numbers {
 public:
  uint32_t next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>(state_ >> 33);
  }
  /// In [-1, 1), with few enough bits that sums of hundreds stay exact in order-independent comparisons.
  float small() { return static_cast<float>(static_cast<int>(next() % 2048) - 1024) / 1024.0f; }

 private:
  uint64_t state_ = 42;
};

template <class T>
Bytes bytes_of(const std::vector<T>& values) {
  Bytes bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}
template <class T>
Bytes scalar(T value) {
  return bytes_of(std::vector<T>{value});
}

std::vector<float> small_floats(size_t count) {
  Numbers numbers;
  std::vector<float> values(count);
  for (float& value : values) value = numbers.small();
  return values;
}

Case saxpy() {
  constexpr size_t n = 100003;
  const std::vector<float> x = small_floats(n);
  std::vector<float> y(n, 0.25f), expected(n);
  for (size_t i = 0; i < n; ++i) expected[i] = 2.0f * x[i] + y[i];
  return {"saxpy", "a x + y, a grid that is not a multiple of the group",
          {n},     {256},
          1,       {bytes_of(x), bytes_of(y), scalar(2.0f)},
          1,       ResultType::f32,
          1e-6,    bytes_of(expected)};
}

Case saxpy_half() {
  constexpr size_t n = 5000;
  const std::vector<float> values = small_floats(n);
  std::vector<uint16_t> x(n), y(n, to_half_bits(0.25f)), expected(n);
  for (size_t i = 0; i < n; ++i) {
    x[i] = to_half_bits(values[i]);
    expected[i] = to_half_bits(3.0f * from_half_bits(x[i]) + 0.25f);
  }
  return {"saxpy_half",
          "the same in half precision",
          {n},
          {64},
          1,
          {bytes_of(x), bytes_of(y), scalar(3.0f)},
          1,
          ResultType::f16,
          1e-3,
          bytes_of(expected)};
}

Case positions() {
  constexpr uint32_t w = 37, h = 23, d = 11;
  std::vector<uint32_t> expected(w * h * d);
  for (uint32_t z = 0; z < d; ++z)
    for (uint32_t y = 0; y < h; ++y)
      for (uint32_t x = 0; x < w; ++x) expected[(z * h + y) * w + x] = x | y << 10 | z << 20;
  return {"positions", "three dimensions, trimmed groups",
          {w, h, d},   {8, 4, 2},
          3,           {Bytes(expected.size() * 4), scalar(w), scalar(h)},
          0,           ResultType::u32,
          0,           bytes_of(expected)};
}

Case integers() {
  constexpr size_t n = 4099;
  Numbers numbers;
  std::vector<int32_t> a(n), b(n), expected(n);
  for (size_t i = 0; i < n; ++i) {
    a[i] = static_cast<int32_t>(numbers.next() << 1) / 3;  // away from the one quotient that overflows
    b[i] = static_cast<int32_t>(numbers.next()) - (1 << 30);
    const int32_t x = a[i], y = b[i] | 1;
    const auto product = static_cast<int32_t>((int64_t{x} * y) >> 32);
    const auto sum = static_cast<uint32_t>(x / y) + static_cast<uint32_t>(x % y) * 3 +
                     static_cast<uint32_t>(x >> (y & 31)) + static_cast<uint32_t>(product) +
                     static_cast<uint32_t>(std::popcount(static_cast<uint32_t>(x)));
    expected[i] = static_cast<int32_t>(sum);
  }
  return {"integers", "division, shifts, 64-bit products",
          {n},        {128},
          1,          {bytes_of(a), bytes_of(b), Bytes(4 * n)},
          2,          ResultType::u32,
          0,          bytes_of(expected)};
}

Case simd_sums() {
  constexpr size_t n = 32 * 64;
  const std::vector<float> x = small_floats(n);
  std::vector<float> expected(n);
  for (size_t i = 0; i < n; ++i)
    for (size_t k = 0; k < 32; ++k) expected[i] += x[i / 32 * 32 + k];
  return {"simd_sums", "exchange within a simdgroup",
          {n},         {128},
          1,           {bytes_of(x), Bytes(4 * n)},
          1,           ResultType::f32,
          1e-6,        bytes_of(expected)};
}

Case group_sums() {
  constexpr size_t groups = 40, n = groups * 256;
  const std::vector<float> x = small_floats(n);
  std::vector<float> expected(groups);
  for (size_t i = 0; i < n; ++i) expected[i / 256] += x[i];
  return {"group_sums",
          "threadgroup memory, barriers in a loop",
          {n},
          {256},
          1,
          {bytes_of(x), Bytes(4 * groups)},
          1,
          ResultType::f32,
          1e-6,
          bytes_of(expected)};
}

Case softmax() {
  constexpr size_t rows = 17, n = rows * 256;
  std::vector<float> x = small_floats(n), expected(n);
  for (float& value : x) value *= 8;
  for (size_t row = 0; row < rows; ++row) {
    const float* in = &x[row * 256];
    const float largest = *std::max_element(in, in + 256);
    double sum = 0;
    for (size_t k = 0; k < 256; ++k) sum += std::exp(double{in[k]} - largest);
    for (size_t k = 0; k < 256; ++k)
      expected[row * 256 + k] = static_cast<float>(std::exp(double{in[k]} - largest) / sum);
  }
  return {"softmax", "exp, uniform loops, barriers",
          {n},       {256},
          1,         {bytes_of(x), Bytes(4 * n)},
          1,         ResultType::f32,
          1e-5,      bytes_of(expected)};
}

Case matmul() {
  constexpr uint32_t n = 64;
  const std::vector<float> a = small_floats(n * n);
  std::vector<float> b(a.rbegin(), a.rend()), expected(n * n);
  for (uint32_t i = 0; i < n; ++i)
    for (uint32_t j = 0; j < n; ++j) {
      double sum = 0;
      for (uint32_t k = 0; k < n; ++k) sum += double{a[i * n + k]} * b[k * n + j];
      expected[i * n + j] = static_cast<float>(sum);
    }
  return {"matmul", "tiles in threadgroup memory, two dimensions",
          {n, n},   {16, 16},
          2,        {bytes_of(a), bytes_of(b), Bytes(4 * n * n), scalar(n)},
          2,        ResultType::f32,
          1e-5,     bytes_of(expected)};
}

Case histogram() {
  constexpr size_t n = 50000;
  Numbers numbers;
  std::vector<uint32_t> values(n), expected(64, 7);
  for (uint32_t& value : values) {
    value = numbers.next();
    ++expected[value & 63];
  }
  return {"histogram", "contended device atomics",
          {n},         {256},
          1,           {bytes_of(values), bytes_of(std::vector<uint32_t>(64, 7))},
          1,           ResultType::u32,
          0,           bytes_of(expected)};
}

Case collatz() {
  constexpr size_t n = 3001;
  std::vector<uint32_t> start(n), expected(n);
  for (uint32_t i = 0; i < n; ++i) {
    start[i] = i + 1;
    uint64_t value = start[i];
    while (value != 1 && expected[i] < 1000) {
      value = value % 2 == 0 ? value / 2 : 3 * value + 1;
      ++expected[i];
    }
  }
  return {"collatz", "threads that part ways", {n}, {64}, 1, {bytes_of(start), Bytes(4 * n)}, 1, ResultType::u32,
          0,         bytes_of(expected)};
}

float element(ByteView bytes, size_t i, ResultType type) {
  if (type == ResultType::f16) return from_half_bits(load_le<uint16_t>(&bytes[2 * i]));
  return std::bit_cast<float>(load_le<uint32_t>(&bytes[4 * i]));
}

}  // namespace

std::vector<Case> cases() {
  return {saxpy(),      saxpy_half(), positions(), integers(),  simd_sums(),
          group_sums(), softmax(),    matmul(),    histogram(), collatz()};
}

double difference(const Case& one, ByteView found, ByteView wanted) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (found.size() != wanted.size()) return kInfinity;
  if (one.type == ResultType::u32) {
    size_t wrong = 0;
    for (size_t at = 0; at + 4 <= found.size(); at += 4)
      wrong += load_le<uint32_t>(&found[at]) != load_le<uint32_t>(&wanted[at]);
    return wrong == 0 ? 0 : kInfinity;
  }
  const size_t count = found.size() / (one.type == ResultType::f16 ? 2 : 4);
  double largest = 0, apart = 0;
  for (size_t i = 0; i < count; ++i) {
    const double a = element(found, i, one.type), b = element(wanted, i, one.type);
    if (std::isfinite(a) != std::isfinite(b)) return kInfinity;
    largest = std::max(largest, std::abs(b));
    apart = std::max(apart, std::abs(a - b));
  }
  return largest == 0 ? apart : apart / largest;
}

}  // namespace smelt::selftest
