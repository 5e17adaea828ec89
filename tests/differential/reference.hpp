// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Metal's types, operators and functions in plain C++, for the C++ text that generate.py writes beside Metal's. A stock
// compiler builds it without vectorisation. It includes nothing of smelt.
//
// The threads of a threadgroup run in lock step, statement by statement, under masks that the text itself keeps. So a
// barrier has nothing to do, and what a SIMD group computes together is a loop over the lanes that the mask has.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

using uchar = unsigned char;
using ushort = unsigned short;
using uint = unsigned int;
using ulong = unsigned long;
using half = _Float16;

constexpr int kMost = 160;  // threads of a group

struct Mask {
  bool b[kMost];
};
inline Mask operator&(const Mask& x, const Mask& y) {
  Mask r;
  for (int t = 0; t < kMost; ++t) r.b[t] = x.b[t] && y.b[t];
  return r;
}
inline Mask without(const Mask& x, const Mask& y) {
  Mask r;
  for (int t = 0; t < kMost; ++t) r.b[t] = x.b[t] && !y.b[t];
  return r;
}
inline bool any(const Mask& x) {
  for (bool one : x.b)
    if (one) return true;
  return false;
}
inline Mask none() {
  return Mask{};
}
#define EACH(m)               \
  for (int t = 0; t < n; ++t) \
    if ((m).b[t])

/// judge.py fills it in: its class Launch has the same fields.
struct Launch {
  uint grid[3], group[3];
  const unsigned char* A;
  uint* O;
  const uint* P;
  uint* B;
  uint* C;
  uint* bins;
  const unsigned char* S;
  const uint* F;    // function constants
  const uint* T;    // texels that are read, 64 x 8
  uint* W;          // texels that are written, one of each thread
  uint texel_bits;  // of each
  double* R;        // what reals are, and how far off they may be: two of each thread
};

/// The threads of one group.
struct Group {
  int n = 0;
  uint gx[kMost], gy[kMost], lx[kMost], ly[kMost], index[kMost], lane[kMost], simd[kMost], number[kMost];
  uint size[2], position[2];
  Mask all{};
};

template <class Body>
void each_group(const Launch& launch, Body body) {
  for (uint y = 0; y < launch.grid[1]; y += launch.group[1])
    for (uint x = 0; x < launch.grid[0]; x += launch.group[0]) {
      Group g;
      g.size[0] = std::min(launch.group[0], launch.grid[0] - x);
      g.size[1] = std::min(launch.group[1], launch.grid[1] - y);
      g.position[0] = x / launch.group[0];
      g.position[1] = y / launch.group[1];
      for (uint ly = 0; ly < g.size[1]; ++ly)
        for (uint lx = 0; lx < g.size[0]; ++lx) {
          const int t = g.n++;
          g.lx[t] = lx, g.ly[t] = ly, g.gx[t] = x + lx, g.gy[t] = y + ly;
          g.index[t] = uint(t), g.lane[t] = uint(t) % 32, g.simd[t] = uint(t) / 32;
          g.number[t] = g.gy[t] * launch.grid[0] + g.gx[t];
          g.all.b[t] = true;
        }
      body(g);
    }
}

// ---- Operators and functions

template <class T>
constexpr int bits_of = int(8 * sizeof(T));
template <class T>
using Unsigned = std::make_unsigned_t<T>;
/// In which sums and products wrap.
template <class T>
using Wide = std::conditional_t<sizeof(T) <= 4, uint, ulong>;

template <class T, class N>
auto shl(T a, N count) {
  using P = decltype(a << 0);
  return P(Unsigned<P>(P(a)) << (ulong(count) & ulong(bits_of<P> - 1)));
}
template <class T, class N>
auto shr(T a, N count) {
  using P = decltype(a >> 0);
  return P(P(a) >> (ulong(count) & ulong(bits_of<P> - 1)));
}
/// A conversion of a float: toward zero, saturated, 0 for NaN.
template <class T, class F>
T to(F from) {
  const float x = float(from);
  if (x != x) return 0;
  if (double(x) >= double(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
  if (double(x) <= double(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
  return T(x);
}
template <class T, class F>
T as(F from) {
  static_assert(sizeof(T) == sizeof(F));
  T r;
  std::memcpy(&r, &from, sizeof r);
  return r;
}
template <class T>
T load(const unsigned char* memory, ulong index) {
  T r;
  std::memcpy(&r, memory + index * sizeof(T), sizeof r);
  return r;
}

// ---- Types of several elements: built-in vectors, which is what Metal's are

#define VECTORS(T)                                    \
  typedef T T##2 __attribute__((ext_vector_type(2))); \
  typedef T T##3 __attribute__((ext_vector_type(3))); \
  typedef T T##4 __attribute__((ext_vector_type(4))); \
  struct packed_##T##2 {                              \
    T at[2];                                          \
    T operator[](int i) const {                       \
      return at[i];                                   \
    }                                                 \
  };                                                  \
  struct packed_##T##3 {                              \
    T at[3];                                          \
    T operator[](int i) const {                       \
      return at[i];                                   \
    }                                                 \
  };                                                  \
  struct packed_##T##4 {                              \
    T at[4];                                          \
    T operator[](int i) const {                       \
      return at[i];                                   \
    }                                                 \
  };
VECTORS(uchar)
VECTORS(char)
VECTORS(ushort)
VECTORS(short)
VECTORS(uint)
VECTORS(int)
VECTORS(half)
VECTORS(float)

template <class T>
T min_(T a, T b) {
  return b < a ? b : a;
}
template <class T>
T max_(T a, T b) {
  return a < b ? b : a;
}
template <class T>
T clamp_(T x, T low, T high) {
  return min_(max_(x, low), high);
}
template <class T>
T abs_(T x) {
  return x < T(0) ? T(Wide<T>(0) - Wide<T>(x)) : x;
}
template <class T>
Unsigned<T> absdiff_(T a, T b) {
  return a < b ? Unsigned<T>(Wide<T>(b) - Wide<T>(a)) : Unsigned<T>(Wide<T>(a) - Wide<T>(b));
}
template <class T>
T popcount_(T x) {
  int count = 0;
  for (int i = 0; i < bits_of<T>; ++i) count += int(Unsigned<T>(x) >> i & 1);
  return T(count);
}
template <class T>
T clz_(T x) {
  int i = bits_of<T>;
  while (i > 0 && (Unsigned<T>(x) >> (i - 1) & 1) == 0) --i;
  return T(bits_of<T> - i);
}
template <class T>
T ctz_(T x) {
  int i = 0;
  while (i < bits_of<T> && (Unsigned<T>(x) >> i & 1) == 0) ++i;
  return T(i);
}
template <class T>
T reverse_bits_(T x) {
  Unsigned<T> r = 0;
  for (int i = 0; i < bits_of<T>; ++i) r = Unsigned<T>(r | (Unsigned<T>(x) >> i & 1) << (bits_of<T> - 1 - i));
  return T(r);
}
template <class T>
T rotate_(T x, T by) {
  const int count = int(Unsigned<T>(by) & Unsigned<T>(bits_of<T> - 1));
  if (count == 0) return x;
  return T(Unsigned<T>(Unsigned<T>(x) << count) | Unsigned<T>(Unsigned<T>(x) >> (bits_of<T> - count)));
}
template <class T>
using Twice = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
template <class T>
T mulhi_(T a, T b) {
  return T(Twice<T>(a) * Twice<T>(b) >> bits_of<T>);
}
template <class T>
T limited(__int128 x) {
  return T(std::clamp(x, __int128(std::numeric_limits<T>::min()), __int128(std::numeric_limits<T>::max())));
}
template <class T>
T addsat_(T a, T b) {
  return limited<T>(__int128(a) + b);
}
template <class T>
T subsat_(T a, T b) {
  return limited<T>(__int128(a) - b);
}
template <class T>
T hadd_(T a, T b) {
  return T((__int128(a) + b) >> 1);
}
template <class T>
T rhadd_(T a, T b) {
  return T((__int128(a) + b + 1) >> 1);
}
template <class T>
T madhi_(T a, T b, T c) {
  return T(Wide<T>(mulhi_(a, b)) + Wide<T>(c));
}
template <class T>
T extract_bits_(T x, uint offset, uint count) {
  if (count == 0) return 0;
  const Unsigned<T> field = Unsigned<T>(Unsigned<T>(x) << (bits_of<T> - int(offset) - int(count)));
  return T(T(field) >> (bits_of<T> - int(count)));
}
template <class T>
T insert_bits_(T base, T insert, uint offset, uint count) {
  const ulong field = (count >= 64 ? ~0ul : (1ul << count) - 1) << offset;
  return T((ulong(Unsigned<T>(base)) & ~field) | (ulong(Unsigned<T>(insert)) << offset & field));
}
template <class T, class C>
T select_(T a, T b, C c) {
  return c ? b : a;
}

// ---- Vectors

/// Metal's `T` with `N` components.
template <class T, int N>
struct Vec {
  T at[N];
  T& operator[](ulong i) { return at[i]; }
  const T& operator[](ulong i) const { return at[i]; }
};
template <class F, class T, int N, class... More>
auto each_of(F f, const Vec<T, N>& first, const More&... more) {
  Vec<decltype(f(first[0], more[0]...)), N> r;
  for (int i = 0; i < N; ++i) r[ulong(i)] = f(first[ulong(i)], more[ulong(i)]...);
  return r;
}
/// A function of one component, on all of them.
#define ON(f, ...) each_of([](auto... x) { return f(x...); }, __VA_ARGS__)

template <class T, int N, class F>
Vec<T, N> splat(F x) {
  Vec<T, N> r;
  for (T& one : r.at) one = T(x);
  return r;
}
template <class T, class F, int N>
Vec<T, N> convert(const Vec<F, N>& x) {
  Vec<T, N> r;
  for (int i = 0; i < N; ++i) {
    if constexpr (std::is_integral_v<T> && std::is_floating_point_v<F>)
      r[ulong(i)] = to<T>(x[ulong(i)]);
    else
      r[ulong(i)] = T(x[ulong(i)]);
  }
  return r;
}
template <int... Places, class T, int N>
Vec<T, sizeof...(Places)> taken(const Vec<T, N>& x) {
  return {{x.at[Places]...}};
}
template <int... Places, class T, int N>
void put(Vec<T, N>& into, Vec<T, sizeof...(Places)> x) {
  int i = 0;
  ((into.at[Places] = x.at[i++]), ...);
}
template <class T, int N, int Stride>
Vec<T, N> load_vector(const unsigned char* memory, ulong index) {
  Vec<T, N> r;
  std::memcpy(&r, memory + index * Stride * sizeof(T), sizeof r);
  return r;
}
template <class T, int N>
void store_vector(uint* memory, ulong offset, const Vec<T, N>& x) {
  std::memcpy(reinterpret_cast<unsigned char*>(memory) + offset, &x, sizeof x);
}
/// Metal's `T` with columns and rows.
template <class T, int C, int R>
struct Mat {
  Vec<T, R> at[C];
  Vec<T, R>& operator[](ulong i) { return at[i]; }
  const Vec<T, R>& operator[](ulong i) const { return at[i]; }
};
template <class T, int C, int R>
Vec<T, R> times_column(const Mat<T, C, R>& m, const Vec<T, C>& v) {
  Vec<T, R> r{};
  for (int i = 0; i < R; ++i)
    for (int k = 0; k < C; ++k) r.at[i] = T(r.at[i] + T(m.at[k].at[i] * v.at[k]));
  return r;
}
template <class T, int C, int R>
Vec<T, C> row_times(const Vec<T, R>& v, const Mat<T, C, R>& m) {
  Vec<T, C> r{};
  for (int i = 0; i < C; ++i)
    for (int k = 0; k < R; ++k) r.at[i] = T(r.at[i] + T(m.at[i].at[k] * v.at[k]));
  return r;
}

template <int N>
bool any_of(const Vec<bool, N>& x) {
  return std::any_of(x.at, x.at + N, [](bool one) { return one; });
}
template <int N>
bool all_of(const Vec<bool, N>& x) {
  return std::all_of(x.at, x.at + N, [](bool one) { return one; });
}

template <class T>
T plus_(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return T(Wide<T>(a) + Wide<T>(b));
  else
    return T(a + b);
}
template <class T>
T minus_(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return T(Wide<T>(a) - Wide<T>(b));
  else
    return T(a - b);
}
template <class T>
T times_(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return T(Wide<T>(a) * Wide<T>(b));
  else
    return T(a * b);
}
template <class T>
T negated(T x) {
  return -x;
}
template <class T>
T inverted(T x) {
  return T(~x);
}
inline float fma_(float a, float b, float c) {
  return std::fma(a, b, c);
}
template <class T>
T and_(T a, T b) {
  return T(a & b);
}
template <class T>
T or_(T a, T b) {
  return T(a | b);
}
template <class T>
T xor_(T a, T b) {
  return T(a ^ b);
}
template <class T>
T left_(T a, T count) {
  return T(Wide<T>(a) << (ulong(count) & ulong(bits_of<T> - 1)));
}
template <class T>
T right_(T a, T count) {
  return T(a >> (ulong(count) & ulong(bits_of<T> - 1)));
}
/// The generator never uses the quotient of a division by 0, so any value will do here.
template <class T>
T over_(T a, T b) {
  return b == 0 ? T(0) : T(a / b);
}
template <class T>
T rest_(T a, T b) {
  return b == 0 ? T(0) : T(a % b);
}
#define COMPARES(name, operation) \
  template <class T>              \
  bool name(T a, T b) {           \
    return a operation b;         \
  }
COMPARES(less_, <)
COMPARES(most_of, <=)
COMPARES(same_, ==)
COMPARES(unlike_, !=)
COMPARES(more_, >)
COMPARES(least_of, >=)

// ---- Textures and matrices

inline uint texel(const uint* texels, uint x, uint y) {
  return x < 64 && y < 8 ? texels[y * 64 + x] : 0;
}
/// The nearest that so many bits can hold, in the low bits.
inline uint texel_of(uint x, uint bits) {
  return bits == 32 ? x : min_(x, (1u << bits) - 1);
}
inline uint texel_of(int x, uint bits) {
  const long most = (1l << (bits - 1)) - 1;
  return uint(clamp_(long(x), -most - 1, most)) & (bits == 32 ? ~0u : (1u << bits) - 1);
}
/// r = a * b + c, of 8 x 8.
inline void multiply(float* r, const float* a, const float* b, const float* c) {
  float made[64];
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) {
      made[i * 8 + j] = c[i * 8 + j];
      for (int k = 0; k < 8; ++k) made[i * 8 + j] += a[i * 8 + k] * b[k * 8 + j];
    }
  std::memcpy(r, made, sizeof made);
}

// ---- Floats under fast math

/// A float and how far from it fast math may be. `size` is the sum of its terms' absolute values: terms may be added up
/// in any order, and products distributed. Bounds of functions are those of the Metal specification's table for fast
/// math, or wider.
struct Real {
  double value = 0, size = 0, error = 0;

  Real() = default;
  explicit Real(double exact) : value(exact), size(std::fabs(exact)) {}
  Real(double value_, double size_, double error_)
      : value(value_), size(size_), error(error_ + 0x1p-22 * size_ + 0x1p-120) {}
};
inline Real operator+(Real a, Real b) {
  return {a.value + b.value, a.size + b.size, a.error + b.error};
}
inline Real operator-(Real a) {
  return {-a.value, a.size, a.error};
}
inline Real operator-(Real a, Real b) {
  return a + -b;
}
inline Real operator*(Real a, Real b) {
  return {a.value * b.value, a.size * b.size, a.size * b.error + b.size * a.error + a.error * b.error};
}
/// The result of a function of `x`, which is at most `slope` steep and `error` off.
inline Real function(double value, const Real& x, double slope, double error = 0) {
  return {value, std::fabs(value), x.error * slope + error};
}
inline Real one_more(Real x) {
  return function(std::fabs(x.value), x, 1) + Real(1);
}
inline Real divide(Real a, Real b) {  // by at least 1
  return a * function(1 / b.value, b, 1.1);
}
inline Real clamp(Real x, double low, double high) {
  Real r = function(std::clamp(x.value, low, high), x, 1);
  r.error = std::min(r.error, high - low);
  return r;
}
inline Real least(Real a, Real b) {
  return function(std::min(a.value, b.value), a.error > b.error ? a : b, 1);
}
inline Real most(Real a, Real b) {
  return function(std::max(a.value, b.value), a.error > b.error ? a : b, 1);
}
inline Real mixed(Real a, Real b, double t) {
  return a + (b - a) * Real(t);
}
inline Real root(Real x) {  // of at least 1
  return function(std::sqrt(x.value), x, 0.6);
}
inline Real inverse_root(Real x) {
  return function(1 / std::sqrt(x.value), x, 0.6);
}
inline Real logarithm(Real x) {
  return function(std::log2(x.value), x, 1.5, 0x1p-20);
}
inline Real power(Real x) {  // of at most 8
  const double value = std::exp2(x.value);
  return function(value, x, 180, 0x1p-20 * value);
}
inline Real sine(Real x) {
  return function(std::sin(x.value), x, 1, 0x1p-11);
}
inline Real cosine(Real x) {
  return function(std::cos(x.value), x, 1, 0x1p-11);
}
inline Real to_half(Real x) {
  return function(x.value, x, 1, 0x1p-10 * std::fabs(x.value) + 0x1p-24);
}
inline Real smooth(Real x) {  // smoothstep(0, 8, x)
  const double t = std::clamp(x.value / 8, 0.0, 1.0);
  return function(t * t * (3 - 2 * t), x, 0.25, 0x1p-20);
}

// ---- What lanes do together. `m`: the lanes that are on; lanes that are off get nothing.

template <class T, class Combine>
void reduce(const Mask& m, int n, int width, const T* x, T* r, Combine combine) {
  for (int first = 0; first < n; first += width) {
    bool some = false;
    T all{};
    for (int t = first; t < std::min(n, first + width); ++t)
      if (m.b[t]) all = some ? combine(all, x[t]) : x[t], some = true;
    for (int t = first; t < std::min(n, first + width); ++t)
      if (m.b[t]) r[t] = all;
  }
}
template <class T, class Combine>
void prefix(const Mask& m, int n, int width, bool inclusive, T neutral, const T* x, T* r, Combine combine) {
  for (int first = 0; first < n; first += width) {
    bool some = !inclusive;
    T all = neutral;
    for (int t = first; t < std::min(n, first + width); ++t) {
      if (!m.b[t]) continue;
      if (!inclusive) r[t] = all;
      all = some ? combine(all, x[t]) : x[t], some = true;
      if (inclusive) r[t] = all;
    }
  }
}
/// Lane `from` of the group that `t` is in, if it is on; else `otherwise`.
template <class T>
void move(const Mask& m, int n, int width, const T* x, const uint* from, T otherwise, T* r) {
  for (int t = 0; t < n; ++t) {
    if (!m.b[t]) continue;
    const int source = t / width * width + int(from[t] % uint(width));
    r[t] = source < n && m.b[source] ? x[source] : otherwise;
  }
}
inline uint first_of(const Mask& m, int n, int width, int t) {
  const int begin = t / width * width;
  for (int i = begin; i < std::min(n, begin + width); ++i)
    if (m.b[i]) return uint(i - begin);
  return 0;
}
inline ulong ballot(const Mask& m, int n, int width, const bool* x, int t) {
  const int begin = t / width * width;
  ulong r = 0;
  for (int i = begin; i < std::min(n, begin + width); ++i)
    if (m.b[i] && x[i]) r |= 1ul << (i - begin);
  return r;
}
