// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// AMD's operations on the lanes of a wave and on packed bytes, as docs/formats/triton-amdgcn.md section 4 defines them,
// for the C++ text that triton_ir.py writes. All lanes of a wave are on.
#pragma once

#include "reference.hpp"

/// r[t] = x of the lane of t's wave that `from(lane)` names.
template <class T, class From>
void lanes(int n, const T* x, T* r, From from) {
  for (int t = 0; t < n; ++t) r[t] = x[t / 32 * 32 + (from(t, t % 32) & 31)];
}
inline int swizzled(int l, int imm) {
  if (imm & 0x8000) return (l & ~3) | (imm >> 2 * (l & 3) & 3);
  return ((l & (imm & 31)) | (imm >> 5 & 31)) ^ (imm >> 10 & 31);
}
/// The lane that a DPP control reads, or -1 where that is outside of the row.
inline int dpp_lane(int l, int control) {
  const int row = l & ~15, i = l & 15, by = control & 15;
  if (control < 0x100) return (l & ~3) | (control >> 2 * (l & 3) & 3);
  switch (control >> 4) {
    case 0x10:
      return i + by < 16 ? row + i + by : -1;
    case 0x11:
      return i >= by ? row + i - by : -1;
    case 0x12:
      return row + ((i - by) & 15);
    case 0x14:
      return by == 0 ? row + 15 - i : row + (i & 8) + 7 - (i & 7);
    case 0x15:
      return row + by;
    default:
      return row + (i ^ by);
  }
}
template <class T>
void dpp(int n, const T* old, const T* x, T* r, int control, int rows, int banks, bool bound) {
  for (int t = 0; t < n; ++t) {
    const int l = t % 32, from = dpp_lane(l, control);
    const bool written = (rows >> (l >> 4) & 1) && (banks >> ((l & 15) >> 2) & 1);
    r[t] = !written ? old[t] : from >= 0 ? x[t - l + from] : bound ? T(0) : old[t];
  }
}
inline int permuted(int l, uint low, uint high, bool other) {
  const int nibble = int((l & 8 ? high : low) >> 4 * (l & 7) & 15);
  return ((other ? l ^ 16 : l) & 16) | nibble;
}
inline uint perm(uint a, uint b, uint selector) {
  const ulong both = ulong(a) << 32 | b;
  uint r = 0;
  for (int i = 0; i < 4; ++i) {
    const uint s = selector >> 8 * i & 255;
    uint byte = 255;
    if (s < 8)
      byte = uint(both >> 8 * s & 255);
    else if (s < 12)
      byte = both >> (16 * (s - 8) + 15) & 1 ? 255 : 0;
    else if (s == 12)
      byte = 0;
    r |= byte << 8 * i;
  }
  return r;
}
/// The sum of products of `32 / bits` numbers, and c; `limit`: to what the result's type holds.
inline uint dot(uint a, uint b, uint c, int bits, bool signed_a, bool signed_b, bool limit) {
  const auto part = [bits](uint x, int i, bool is_signed) {
    const uint one = x >> bits * i & ((1u << bits) - 1);
    return is_signed && one >> (bits - 1) ? long(one) - (1l << bits) : long(one);
  };
  const bool result_signed = signed_a || signed_b;
  long sum = result_signed ? long(int(c)) : long(c);
  for (int i = 0; i < 32 / bits; ++i) sum += part(a, i, signed_a) * part(b, i, signed_b);
  if (!limit) return uint(sum);
  if (result_signed) return uint(int(std::clamp(sum, -0x80000000l, 0x7fffffffl)));
  return uint(std::clamp(sum, 0l, 0xffffffffl));
}
template <class T>
T bswap_(T x) {
  T r = 0;
  for (int i = 0; i < bits_of<T>; i += 8) r = T(r | T(x >> i & 255) << (bits_of<T> - 8 - i));
  return r;
}
template <class T>
T fshl_(T a, T b, T by) {
  const int count = int(by % T(bits_of<T>));
  return count ? T(T(a << count) | T(b >> (bits_of<T> - count))) : a;
}
template <class T>
T fshr_(T a, T b, T by) {
  const int count = int(by % T(bits_of<T>));
  return count ? T(T(a << (bits_of<T> - count)) | T(b >> count)) : b;
}
/// A load through a buffer resource: 0 where it would end past `records` bytes.
template <class T>
T buffer_load(const unsigned char* base, uint offset, ulong records) {
  T r{};
  if (ulong(offset) + sizeof(T) <= records) std::memcpy(&r, base + offset, sizeof r);
  return r;
}
