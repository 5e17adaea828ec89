// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors in ggml's layout: four extents and strides in bytes, innermost first; elements of any of its types. Values
// are read as doubles, as the types' public definitions say (GGUF's block formats).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace smelt::test {

enum class Type : uint8_t { f32, f16, bf16, i32, i64, q4_0, q4_1, q5_0, q5_1, q8_0, mxfp4, iq4_nl, q4_K, q5_K, q6_K };

struct TypeTraits {
  std::string_view name;  ///< as in kernels' names
  size_t block = 1;       ///< elements a block
  size_t bytes = 4;       ///< of a block
  bool quantized() const { return block > 1; }
};
const TypeTraits& traits(Type type);

uint16_t half_from(double value);  ///< to the nearest, ties to even
double half_to(uint16_t bits);
uint16_t bfloat_from(float value);
float bfloat_to(uint16_t bits);

/// Uniform in [-1, 1), the same for the same index and seed.
double noise(size_t index, uint32_t seed);

using Extents = std::array<int64_t, 4>;

class Tensor {
 public:
  Tensor(Type type, Extents ne, size_t row_padding = 0);

  Type type() const { return type_; }
  const Extents& ne() const { return ne_; }
  const std::array<uint64_t, 4>& nb() const { return nb_; }
  int64_t count() const { return ne_[0] * ne_[1] * ne_[2] * ne_[3]; }
  int64_t rows() const { return ne_[1] * ne_[2] * ne_[3]; }
  std::vector<std::byte>& bytes() { return bytes_; }
  const std::vector<std::byte>& bytes() const { return bytes_; }

  double at(int64_t i0, int64_t i1 = 0, int64_t i2 = 0, int64_t i3 = 0) const;
  /// Not for block formats.
  void set(double value, int64_t i0, int64_t i1 = 0, int64_t i2 = 0, int64_t i3 = 0);

  /// Values in [-amplitude, amplitude); block formats get random bits with scales of about that size.
  Tensor& fill(uint32_t seed, double amplitude = 1.0);
  Tensor& fill_with(const std::function<double(int64_t, int64_t, int64_t, int64_t)>& value);
  /// A pattern that no kernel is likely to write, so that what was left unwritten is seen.
  Tensor& poison();

  /// Calls body(i0, i1, i2, i3) for every element.
  void each(const std::function<void(int64_t, int64_t, int64_t, int64_t)>& body) const;

 private:
  size_t offset(int64_t i0, int64_t i1, int64_t i2, int64_t i3) const;

  Type type_;
  Extents ne_;
  std::array<uint64_t, 4> nb_{};
  std::vector<std::byte> bytes_;
};

/// Value `index` of a block at `block`.
double block_value(Type type, const std::byte* block, size_t index);

}  // namespace smelt::test
