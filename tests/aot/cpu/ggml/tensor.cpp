// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tensor.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <stdexcept>

namespace smelt::test {
namespace {

constexpr TypeTraits kTraits[] = {
    {"f32", 1, 4},     {"f16", 1, 2},      {"bf16", 1, 2},     {"i32", 1, 4},      {"i64", 1, 8},
    {"q4_0", 32, 18},  {"q4_1", 32, 20},   {"q5_0", 32, 22},   {"q5_1", 32, 24},   {"q8_0", 32, 34},
    {"mxfp4", 32, 17}, {"iq4_nl", 32, 18}, {"q4_K", 256, 144}, {"q5_K", 256, 176}, {"q6_K", 256, 210},
};

constexpr int kIq4Values[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
constexpr double kE2m1Values[8] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

unsigned byte(const std::byte* at) {
  return std::to_integer<unsigned>(*at);
}

/// Element of 32 four-bit values in 16 bytes: the first half in the low nibbles.
unsigned nibble(const std::byte* quants, size_t index) {
  return index < 16 ? byte(quants + index) & 15 : byte(quants + index - 16) >> 4;
}

/// The six-bit scale and minimum number `index` of a K block's 12 bytes.
void scale_and_minimum(const std::byte* packed, size_t index, unsigned& scale, unsigned& minimum) {
  if (index < 4) {
    scale = byte(packed + index) & 63;
    minimum = byte(packed + index + 4) & 63;
  } else {
    scale = (byte(packed + index + 4) & 15) | (byte(packed + index - 4) >> 6 << 4);
    minimum = (byte(packed + index + 4) >> 4) | (byte(packed + index) >> 6 << 4);
  }
}

double k_block_4_or_5(const std::byte* block, size_t index, bool five) {
  unsigned scale = 0;
  unsigned minimum = 0;
  scale_and_minimum(block + 4, index / 32, scale, minimum);
  const std::byte* low = block + 16 + (five ? 32 : 0);
  const unsigned pair = byte(low + index / 64 * 32 + index % 32);
  unsigned quant = index / 32 % 2 == 0 ? pair & 15 : pair >> 4;
  if (five) quant |= (byte(block + 16 + index % 32) >> (index / 32) & 1) << 4;
  return half_to(load<uint16_t>(block)) * scale * quant - half_to(load<uint16_t>(block + 2)) * minimum;
}

double k_block_6(const std::byte* block, size_t index) {
  const size_t half = index / 128;
  const size_t quarter = index % 128 / 32;
  const size_t l = index % 32;
  const unsigned low = byte(block + half * 64 + quarter % 2 * 32 + l);
  const unsigned high = byte(block + 128 + half * 32 + l) >> (2 * quarter) & 3;
  const int quant = static_cast<int>((quarter < 2 ? low & 15 : low >> 4) | high << 4) - 32;
  const int scale = load<int8_t>(block + 192 + index / 16);
  return half_to(load<uint16_t>(block + 208)) * scale * quant;
}

/// Where a block's half-precision scales lie.
std::vector<size_t> half_offsets(Type type) {
  switch (type) {
    case Type::q4_1:
    case Type::q5_1:
    case Type::q4_K:
    case Type::q5_K:
      return {0, 2};
    case Type::q6_K:
      return {208};
    case Type::mxfp4:
      return {};
    default:
      return {0};
  }
}

}  // namespace

const TypeTraits& traits(Type type) {
  return kTraits[static_cast<size_t>(type)];
}

uint16_t half_from(double value) {
  const auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const double magnitude = std::fabs(value);
  if (std::isnan(value)) return 0x7e00;
  if (magnitude >= 65520) return sign | 0x7c00;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  const int step = std::max(exponent - 11, -24);  // weight of the last bit
  const auto units = static_cast<uint32_t>(std::nearbyint(std::ldexp(magnitude, -step)));
  if (step == -24) return static_cast<uint16_t>(sign | units);
  return static_cast<uint16_t>(sign | (((step + 24) << 10) + units));
}

double half_to(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  double value = 0;
  if (exponent == 31)
    value = fraction != 0 ? NAN : INFINITY;
  else
    value = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return (bits & 0x8000) != 0 ? -value : value;
}

uint16_t bfloat_from(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return 0x7fc0;
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

float bfloat_to(uint16_t bits) {
  return std::bit_cast<float>(uint32_t{bits} << 16);
}

double noise(size_t index, uint32_t seed) {
  uint64_t x = (index + 1) * 0x9e3779b97f4a7c15ull + seed * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  x ^= x >> 31;
  return std::ldexp(static_cast<double>(x >> 11), -52) - 1;
}

double block_value(Type type, const std::byte* block, size_t index) {
  switch (type) {
    case Type::q4_0:
      return half_to(load<uint16_t>(block)) * (static_cast<int>(nibble(block + 2, index)) - 8);
    case Type::q4_1:
      return half_to(load<uint16_t>(block)) * nibble(block + 4, index) + half_to(load<uint16_t>(block + 2));
    case Type::q5_0: {
      const unsigned high = load<uint32_t>(block + 2) >> index & 1;
      return half_to(load<uint16_t>(block)) * (static_cast<int>(nibble(block + 6, index) | high << 4) - 16);
    }
    case Type::q5_1: {
      const unsigned high = load<uint32_t>(block + 4) >> index & 1;
      return half_to(load<uint16_t>(block)) * (nibble(block + 8, index) | high << 4) +
             half_to(load<uint16_t>(block + 2));
    }
    case Type::q8_0:
      return half_to(load<uint16_t>(block)) * load<int8_t>(block + 2 + index);
    case Type::mxfp4: {
      const unsigned code = nibble(block + 1, index);
      const double value = std::ldexp(kE2m1Values[code & 7], static_cast<int>(byte(block)) - 127);
      return (code & 8) != 0 ? -value : value;
    }
    case Type::iq4_nl:
      return half_to(load<uint16_t>(block)) * kIq4Values[nibble(block + 2, index)];
    case Type::q4_K:
      return k_block_4_or_5(block, index, false);
    case Type::q5_K:
      return k_block_4_or_5(block, index, true);
    case Type::q6_K:
      return k_block_6(block, index);
    default:
      throw std::logic_error("not a block format");
  }
}

Tensor::Tensor(Type type, Extents ne, size_t row_padding) : type_(type), ne_(ne) {
  const TypeTraits& facts = traits(type);
  if (ne[0] % static_cast<int64_t>(facts.block) != 0) throw std::logic_error("a row is not whole blocks");
  nb_[0] = facts.bytes;
  nb_[1] = static_cast<uint64_t>(ne[0]) / facts.block * facts.bytes + row_padding;
  nb_[2] = nb_[1] * static_cast<uint64_t>(ne[1]);
  nb_[3] = nb_[2] * static_cast<uint64_t>(ne[2]);
  bytes_.resize(nb_[3] * static_cast<uint64_t>(ne[3]));
}

size_t Tensor::offset(int64_t i0, int64_t i1, int64_t i2, int64_t i3) const {
  return static_cast<size_t>(i0) / traits(type_).block * nb_[0] + static_cast<size_t>(i1) * nb_[1] +
         static_cast<size_t>(i2) * nb_[2] + static_cast<size_t>(i3) * nb_[3];
}

double Tensor::at(int64_t i0, int64_t i1, int64_t i2, int64_t i3) const {
  const std::byte* place = bytes_.data() + offset(i0, i1, i2, i3);
  switch (type_) {
    case Type::f32:
      return load<float>(place);
    case Type::f16:
      return half_to(load<uint16_t>(place));
    case Type::bf16:
      return bfloat_to(load<uint16_t>(place));
    case Type::i32:
      return load<int32_t>(place);
    case Type::i64:
      return static_cast<double>(load<int64_t>(place));
    default:
      return block_value(type_, place, static_cast<size_t>(i0) % traits(type_).block);
  }
}

void Tensor::set(double value, int64_t i0, int64_t i1, int64_t i2, int64_t i3) {
  std::byte* place = bytes_.data() + offset(i0, i1, i2, i3);
  const auto store = [place](auto bits) { std::memcpy(place, &bits, sizeof(bits)); };
  switch (type_) {
    case Type::f32:
      return store(static_cast<float>(value));
    case Type::f16:
      return store(half_from(value));
    case Type::bf16:
      return store(bfloat_from(static_cast<float>(value)));
    case Type::i32:
      return store(static_cast<int32_t>(value));
    case Type::i64:
      return store(static_cast<int64_t>(value));
    default:
      throw std::logic_error("elements of blocks cannot be set");
  }
}

Tensor& Tensor::fill(uint32_t seed, double amplitude) {
  if (!traits(type_).quantized())
    return fill_with(
        [&, next = size_t{0}](int64_t, int64_t, int64_t, int64_t) mutable { return amplitude * noise(next++, seed); });
  for (size_t i = 0; i < bytes_.size(); ++i) bytes_[i] = static_cast<std::byte>(128 + 127.9 * noise(i, seed));
  const size_t block = traits(type_).bytes;
  for (size_t at = 0; at + block <= bytes_.size(); at += block) {
    // Scales such that values are about the amplitude: quants times their own scales reach 2^3 to 2^12.
    const double divisor = type_ == Type::q6_K ? 4000 : block > 100 ? 1000 : type_ == Type::q8_0 ? 127 : 16;
    for (const size_t place : half_offsets(type_)) {
      const uint16_t scale = half_from(amplitude / divisor * (1 + 0.5 * noise(at + place, seed + 1)));
      std::memcpy(bytes_.data() + at + place, &scale, 2);
    }
    if (type_ == Type::mxfp4) bytes_[at] = static_cast<std::byte>(125 + (at / block) % 3);
  }
  return *this;
}

Tensor& Tensor::fill_with(const std::function<double(int64_t, int64_t, int64_t, int64_t)>& value) {
  each([&](int64_t i0, int64_t i1, int64_t i2, int64_t i3) { set(value(i0, i1, i2, i3), i0, i1, i2, i3); });
  return *this;
}

Tensor& Tensor::poison() {
  std::fill(bytes_.begin(), bytes_.end(), std::byte{0xfb});
  return *this;
}

void Tensor::each(const std::function<void(int64_t, int64_t, int64_t, int64_t)>& body) const {
  for (int64_t i3 = 0; i3 < ne_[3]; ++i3)
    for (int64_t i2 = 0; i2 < ne_[2]; ++i2)
      for (int64_t i1 = 0; i1 < ne_[1]; ++i1)
        for (int64_t i0 = 0; i0 < ne_[0]; ++i0) body(i0, i1, i2, i3);
}

}  // namespace smelt::test
