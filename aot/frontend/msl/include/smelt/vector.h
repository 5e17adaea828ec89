/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// vec<T, N> and packed_vec<T, N>: docs/formats/metal-language.md 1.2.
//
// A vector is a class round one of Clang's own vectors, since those take no functional casts with several arguments. A
// union shows the same bytes as components: these are members, and not properties as swizzles are, because Clang 19
// cannot rebuild `v.x += ...` of a property in a template when an operator+= of somebody's is in sight. Constant
// expressions see the components, everything else the vector: __n() is whichever it is. Which member is the union's, a
// constant expression of C++17 cannot change: it assigns the whole.
//
// Swizzles are properties: they yield values, so that template deduction sees true vectors, and cannot be referred to,
// as MSL demands. Writing one stores its components one by one: threads that write different components of one vector
// in memory do not disturb each other.
#ifndef __SMELT_VECTOR_H
#define __SMELT_VECTOR_H

#include <metal_type_traits>

namespace metal {

/// How an element is kept: a bool is a byte of 0 or 1.
template <class T>
struct __kept {
  using type = T;
};
template <>
struct __kept<bool> {
  using type = uchar;
};
template <class T, int N>
using __native = typename __kept<T>::type __attribute__((ext_vector_type(N)));
/// What a comparison of such vectors gives: integers of the same size, 0 or -1.
template <int size>
struct __mask_element;
template <>
struct __mask_element<1> {
  using type = char;
};
template <>
struct __mask_element<2> {
  using type = short;
};
template <>
struct __mask_element<4> {
  using type = int;
};
template <>
struct __mask_element<8> {
  using type = long;
};
template <class T, int N>
using __mask = typename __mask_element<sizeof(T)>::type __attribute__((ext_vector_type(N)));

/// Marks the constructor that takes Clang's vector.
struct __raw {};

/// half and bfloat meet in float only.
template <class T, class U>
inline constexpr bool __crosses_small =
    (__is_same(T, half) && __is_same(U, bfloat)) || (__is_same(T, bfloat) && __is_same(U, half));
template <class T, class U>
__SMELT_INLINE constexpr T __convert(U value) {
  if constexpr (__crosses_small<T, U>)
    return static_cast<T>(static_cast<float>(value));
  else
    return static_cast<T>(value);
}
template <class T, class U, int N>
__SMELT_INLINE constexpr __native<T, N> __convert_vector(__native<U, N> value) {
  if constexpr (__is_same(T, U))
    return value;
  else if constexpr (__is_same(T, bool))
    return __builtin_convertvector(value != __native<U, N>(0), __native<bool, N>) & __native<bool, N>(1);
  else if constexpr (__crosses_small<T, U>)
    return __builtin_convertvector(__builtin_convertvector(value, __native<float, N>), __native<T, N>);
  else
    return __builtin_convertvector(value, __native<T, N>);
}

/// How many components an argument brings to the constructor of a vector of T; 0 when it may not stand there.
template <class T, class A>
inline constexpr int __brings =
    __shape<A>::is_vector ? (__is_same(typename __shape<A>::element, T) ? __shape<A>::count : 0)
                          : (__is_number<A> && __is_convertible_to(A, T) ? 1 : 0);
template <class T, class A>
inline constexpr bool __is_part = __is_number<A> && __is_convertible_to(A, T);
template <class T, int N, class... A>
concept __fills = sizeof...(A) > 1 && ((__brings<T, A> > 0) && ...) && (__brings<T, A> + ... + 0) == N;

template <class T, class U>
inline constexpr bool __is_shift = __is_integral(T) && !__is_same(T, bool) && __is_integral(U) && !__is_same(U, bool);

template <class T, int N>
struct __components {
  T e[N];
  int filled = 0;
  __SMELT_INLINE constexpr __components() {}
  template <class A>
  __SMELT_INLINE constexpr void append(A value) {
    if constexpr (__shape<A>::is_vector) {
      __SMELT_EACH(i, __shape<A>::count, append(value.__at(i)));
    } else {
      e[filled++] = static_cast<T>(value);
    }
  }
};

/// An array as Clang's vector. Its elements cannot be set one by one in a constant expression.
template <class T, class K = typename __kept<T>::type>
__SMELT_INLINE constexpr __native<T, 2> __native_of(const T (&e)[2]) {
  return {static_cast<K>(e[0]), static_cast<K>(e[1])};
}
template <class T, class K = typename __kept<T>::type>
__SMELT_INLINE constexpr __native<T, 3> __native_of(const T (&e)[3]) {
  return {static_cast<K>(e[0]), static_cast<K>(e[1]), static_cast<K>(e[2])};
}
template <class T, class K = typename __kept<T>::type>
__SMELT_INLINE constexpr __native<T, 4> __native_of(const T (&e)[4]) {
  return {static_cast<K>(e[0]), static_cast<K>(e[1]), static_cast<K>(e[2]), static_cast<K>(e[3])};
}

namespace __vectors {

// ---- Members of every width. `T`, `N` and `E` are the class's. ------------------------------------------------------

// Swizzles, listed in smelt/swizzles<N>.h: READ(count, name, name in colours, indices), WRITE the same for those that
// may stand on the left. Their types have names: each `vec<T, 2>` that is written is a type of its own to Clang, and
// with 1,300 swizzles of 14 elements most of the precompiled file would be such types.
#define __SMELT_SWIZZLE_TYPES      \
  using __vec2 = metal::vec<T, 2>; \
  using __vec3 = metal::vec<T, 3>; \
  using __vec4 = metal::vec<T, 4>;
// `self` is the class; the last argument is the body of the getter.
#define __SMELT_GETTER(self, count, name, ...)                 \
  __SMELT_INLINE constexpr __vec##count __get_##name() const { \
    __VA_ARGS__;                                               \
  }                                                            \
  __SMELT_INLINE __vec##count __get_##name() const volatile {  \
    return self(*this).__get_##name();                         \
  }
#define __SMELT_PUTTER(count, name, ...)                           \
  __SMELT_INLINE constexpr void __put_##name(__vec##count value) { \
    constexpr int at[] = {__VA_ARGS__};                            \
    __SMELT_EACH(i, count, __set(at[i], value.__at(i)));           \
  }                                                                \
  __SMELT_INLINE void __put_##name(__vec##count value) volatile {  \
    constexpr int at[] = {__VA_ARGS__};                            \
    __SMELT_EACH(i, count, (&x)[at[i]] = value.__at(i));           \
  }
#define __SMELT_SHUFFLED(count, ...) return __vec##count(__builtin_shufflevector(__n(), __n(), __VA_ARGS__), __raw())
#define __SMELT_READ(count, name, colours, ...)                          \
  __SMELT_GETTER(vec, count, name, __SMELT_SHUFFLED(count, __VA_ARGS__)) \
  __declspec(property(get = __get_##name)) __vec##count name, colours;
#define __SMELT_WRITE(count, name, colours, ...)                         \
  __SMELT_GETTER(vec, count, name, __SMELT_SHUFFLED(count, __VA_ARGS__)) \
  __SMELT_PUTTER(count, name, __VA_ARGS__)                               \
  __declspec(property(get = __get_##name, put = __put_##name)) __vec##count name, colours;

#define __SMELT_ARITHMETIC(op, condition)                       \
  friend __SMELT_INLINE constexpr vec operator op(vec a, vec b) \
    requires(condition)                                         \
  {                                                             \
    return vec(E(a.__n() op b.__n()), __raw());                 \
  }                                                             \
  __SMELT_INLINE constexpr vec& operator op##=(vec b)           \
    requires(condition)                                         \
  {                                                             \
    return *this = vec(E(__n() op b.__n()), __raw());           \
  }                                                             \
  template <class V>                                            \
    requires(__is_volatile(V) && (condition))                   \
  __SMELT_INLINE V& operator op##=(this V & self, vec b) {      \
    return self = vec(self) op b;                               \
  }
// A shift amount counts modulo the width (docs/formats/metal-language.md 2.6). It may be a vector of another type of
// integer: the result has the left side's.
#define __SMELT_SHIFT(op)                                                         \
  friend __SMELT_INLINE constexpr vec operator op(vec a, vec b)                   \
    requires(__is_shift<T, T>)                                                    \
  {                                                                               \
    return vec(E(a.__n() op(b.__n() & E(8 * sizeof(T) - 1))), __raw());           \
  }                                                                               \
  __SMELT_INLINE constexpr vec& operator op##=(vec b)                             \
    requires(__is_shift<T, T>)                                                    \
  {                                                                               \
    return *this = *this op b;                                                    \
  }                                                                               \
  template <class V>                                                              \
    requires(__is_volatile(V) && __is_shift<T, T>)                                \
  __SMELT_INLINE V& operator op##=(this V & self, vec b) {                        \
    return self = vec(self) op b;                                                 \
  }                                                                               \
  template <class U>                                                              \
    requires(!__is_same(U, T) && __is_shift<T, U>)                                \
  friend __SMELT_INLINE constexpr vec operator op(vec a, metal::vec<U, N> b) {    \
    return a op vec(b);                                                           \
  }                                                                               \
  template <class V, class U>                                                     \
    requires(!__is_same(U, T) && __is_shift<T, U>)                                \
  __SMELT_INLINE constexpr V& operator op##=(this V & self, metal::vec<U, N> b) { \
    self op## = vec(b);                                                           \
    return self;                                                                  \
  }
#define __SMELT_COMPARISON(op)                                                    \
  friend __SMELT_INLINE constexpr metal::vec<bool, N> operator op(vec a, vec b) { \
    return metal::vec<bool, N>::__from_mask(a.__n() op b.__n());                  \
  }
#define __SMELT_LOGICAL(op)                                                                                    \
  friend __SMELT_INLINE constexpr metal::vec<bool, N> operator op##op(vec a, vec b) {                          \
    return metal::vec<bool, N>(__convert_vector<bool, T, N>(a.__n()) op __convert_vector<bool, T, N>(b.__n()), \
                               __raw());                                                                       \
  }

#define __SMELT_VECTOR_MEMBERS                                                                           \
  using value_type = T;                                                                                  \
  vec() = default;                                                                                       \
  void operator&()&& = delete; /* a swizzle has no address */                                            \
  template <class U>                                                                                     \
    requires(__is_number<U> && __is_convertible_to(U, T))                                                \
  __SMELT_INLINE constexpr vec(U value)                                                                  \
      : vec(E(static_cast<typename __kept<T>::type>(static_cast<T>(value))), __raw()) {}                 \
  template <class U>                                                                                     \
    requires(!__is_same(U, T))                                                                           \
  __SMELT_INLINE constexpr explicit vec(metal::vec<U, N> other)                                          \
      : vec(__convert_vector<T, U, N>(other.__n()), __raw()) {}                                          \
  template <class U>                                                                                     \
    requires(!__is_same(U, T))                                                                           \
  __SMELT_INLINE constexpr explicit vec(metal::packed_vec<U, N> other) : vec(metal::vec<U, N>(other)) {} \
  template <class... A>                                                                                  \
    requires __fills<T, N, A...>                                                                         \
  __SMELT_INLINE constexpr vec(A... parts) : vec(__put_together(parts...), __raw()) {}                   \
                                                                                                         \
  template <class... A>                                                                                  \
  static __SMELT_INLINE constexpr E __put_together(A... parts) {                                         \
    __components<T, N> all;                                                                              \
    (all.append(parts), ...);                                                                            \
    return __native_of<T>(all.e);                                                                        \
  }                                                                                                      \
  __SMELT_INLINE constexpr E __n() const {                                                               \
    if (!__builtin_is_constant_evaluated()) return __v;                                                  \
    T all[N] = {};                                                                                       \
    __SMELT_EACH(i, N, all[i] = __at(i));                                                                \
    return __native_of<T>(all);                                                                          \
  }                                                                                                      \
  template <class M>                                                                                     \
  static __SMELT_INLINE constexpr vec __from_mask(M mask) {                                              \
    return vec(__builtin_convertvector(mask, E) & E(1), __raw());                                        \
  }                                                                                                      \
  __SMELT_INLINE constexpr T operator[](int i) const {                                                   \
    return __builtin_is_constant_evaluated() ? __at(i) : static_cast<T>(__v[i]);                         \
  }                                                                                                      \
  __SMELT_INLINE T& operator[](int i) {                                                                  \
    return reinterpret_cast<T*>(&__v)[i];                                                                \
  }                                                                                                      \
  template <class V>                                                                                     \
    requires(__is_volatile(V))                                                                           \
  __SMELT_INLINE auto& operator[](this V& self, int i) {                                                 \
    return (&self.x)[i];                                                                                 \
  }                                                                                                      \
                                                                                                         \
  template <class V>                                                                                     \
    requires(__is_volatile(V) && __is_same(__smelt_plain_t<V>, vec))                                     \
  __SMELT_INLINE vec(V& other) : vec(E(other.__v), __raw()) {}                                           \
  template <class V>                                                                                     \
    requires(__is_volatile(V) && __is_same(__smelt_plain_t<V>, vec))                                     \
  __SMELT_INLINE vec& operator=(V& other) {                                                              \
    return *this = vec(other);                                                                           \
  }                                                                                                      \
  template <class V>                                                                                     \
    requires(__is_volatile(V))                                                                           \
  __SMELT_INLINE V& operator=(this V& self, vec value) {                                                 \
    self.__v = value.__v;                                                                                \
    return self;                                                                                         \
  }                                                                                                      \
                                                                                                         \
  __SMELT_ARITHMETIC(+, (!__is_same(T, bool)))                                                           \
  __SMELT_ARITHMETIC(-, (!__is_same(T, bool)))                                                           \
  __SMELT_ARITHMETIC(*, (!__is_same(T, bool)))                                                           \
  __SMELT_ARITHMETIC(/, (!__is_same(T, bool)))                                                           \
  __SMELT_ARITHMETIC(%, (__is_integral(T) && !__is_same(T, bool)))                                       \
  __SMELT_ARITHMETIC(&, __is_integral(T))                                                                \
  __SMELT_ARITHMETIC(|, __is_integral(T))                                                                \
  __SMELT_ARITHMETIC(^, __is_integral(T))                                                                \
  __SMELT_SHIFT(<<)                                                                                      \
  __SMELT_SHIFT(>>)                                                                                      \
  __SMELT_COMPARISON(<)                                                                                  \
  __SMELT_COMPARISON(>)                                                                                  \
  __SMELT_COMPARISON(<=)                                                                                 \
  __SMELT_COMPARISON(>=)                                                                                 \
  __SMELT_COMPARISON(==)                                                                                 \
  __SMELT_COMPARISON(!=)                                                                                 \
  __SMELT_LOGICAL(&)                                                                                     \
  __SMELT_LOGICAL(|)                                                                                     \
  friend __SMELT_INLINE constexpr vec operator+(vec a) {                                                 \
    return a;                                                                                            \
  }                                                                                                      \
  friend __SMELT_INLINE constexpr vec operator-(vec a)                                                   \
    requires(!__is_same(T, bool))                                                                        \
  {                                                                                                      \
    return vec(E(-a.__n()), __raw());                                                                    \
  }                                                                                                      \
  friend __SMELT_INLINE constexpr vec operator~(vec a)                                                   \
    requires(__is_integral(T) && !__is_same(T, bool))                                                    \
  {                                                                                                      \
    return vec(E(~a.__n()), __raw());                                                                    \
  }                                                                                                      \
  friend __SMELT_INLINE constexpr metal::vec<bool, N> operator!(vec a) {                                 \
    return metal::vec<bool, N>::__from_mask(a.__n() == E(0));                                            \
  }                                                                                                      \
  __SMELT_INLINE constexpr vec& operator++() {                                                           \
    return *this += vec(1);                                                                              \
  }                                                                                                      \
  __SMELT_INLINE constexpr vec& operator--() {                                                           \
    return *this -= vec(1);                                                                              \
  }                                                                                                      \
  __SMELT_INLINE constexpr vec operator++(int) {                                                         \
    const vec before = *this;                                                                            \
    *this += vec(1);                                                                                     \
    return before;                                                                                       \
  }                                                                                                      \
  __SMELT_INLINE constexpr vec operator--(int) {                                                         \
    const vec before = *this;                                                                            \
    *this -= vec(1);                                                                                     \
    return before;                                                                                       \
  }                                                                                                      \
  template <class V>                                                                                     \
    requires(__is_volatile(V))                                                                           \
  __SMELT_INLINE V& operator++(this V& self) {                                                           \
    return self += vec(1);                                                                               \
  }                                                                                                      \
  template <class V>                                                                                     \
    requires(__is_volatile(V))                                                                           \
  __SMELT_INLINE V& operator--(this V& self) {                                                           \
    return self -= vec(1);                                                                               \
  }                                                                                                      \
  template <class V>                                                                                     \
    requires(__is_volatile(V))                                                                           \
  __SMELT_INLINE vec operator++(this V& self, int) {                                                     \
    const vec before(self);                                                                              \
    self += vec(1);                                                                                      \
    return before;                                                                                       \
  }                                                                                                      \
  template <class V>                                                                                     \
    requires(__is_volatile(V))                                                                           \
  __SMELT_INLINE vec operator--(this V& self, int) {                                                     \
    const vec before(self);                                                                              \
    self -= vec(1);                                                                                      \
    return before;                                                                                       \
  }

template <class T>
struct vec<__extended<T, 2>> {
  static constexpr int N = 2;
  using E = __native<T, 2>;
  union {
    struct {
      T x, y;
    };
    struct {
      T r, g;
    };
    E __v;
  };

  __SMELT_INLINE constexpr vec(T __x, T __y) : x(__x), y(__y) {}
  __SMELT_INLINE constexpr vec(E __e, __raw) : __v(__e) {
    if (__builtin_is_constant_evaluated()) *this = vec(static_cast<T>(E(__e).x), static_cast<T>(E(__e).y));
  }
  __SMELT_INLINE constexpr T __at(int i) const { return i == 0 ? x : y; }
  __SMELT_INLINE constexpr void __set(int i, T value) { (i == 0 ? x : y) = value; }
  __SMELT_SWIZZLE_TYPES
#include "smelt/swizzles2.h"
  __SMELT_VECTOR_MEMBERS
};

template <class T>
struct vec<__extended<T, 3>> {
  static constexpr int N = 3;
  using E = __native<T, 3>;
  union {
    struct {
      T x, y, z;
    };
    struct {
      T r, g, b;
    };
    E __v;
  };

  __SMELT_INLINE constexpr vec(T __x, T __y, T __z) : x(__x), y(__y), z(__z) {}
  __SMELT_INLINE constexpr vec(E __e, __raw) : __v(__e) {
    if (__builtin_is_constant_evaluated())
      *this = vec(static_cast<T>(E(__e).x), static_cast<T>(E(__e).y), static_cast<T>(E(__e).z));
  }
  // Apple's compiler casts a vector of four to one of three, which has its size (docs/formats/metal-language.md 1.2).
  template <class U>
    requires(__is_same(U, T))
  __SMELT_INLINE constexpr explicit vec(metal::vec<U, 4> __four) : vec(__four.x, __four.y, __four.z) {}
  __SMELT_INLINE constexpr T __at(int i) const { return i == 0 ? x : i == 1 ? y : z; }
  __SMELT_INLINE constexpr void __set(int i, T value) { (i == 0 ? x : i == 1 ? y : z) = value; }
  __SMELT_SWIZZLE_TYPES
#include "smelt/swizzles3.h"
  __SMELT_VECTOR_MEMBERS
};

template <class T>
struct vec<__extended<T, 4>> {
  static constexpr int N = 4;
  using E = __native<T, 4>;
  union {
    struct {
      T x, y, z, w;
    };
    struct {
      T r, g, b, a;
    };
    E __v;
  };

  __SMELT_INLINE constexpr vec(T __x, T __y, T __z, T __w) : x(__x), y(__y), z(__z), w(__w) {}
  __SMELT_INLINE constexpr vec(E __e, __raw) : __v(__e) {
    if (__builtin_is_constant_evaluated())
      *this =
          vec(static_cast<T>(E(__e).x), static_cast<T>(E(__e).y), static_cast<T>(E(__e).z), static_cast<T>(E(__e).w));
  }
  /// A list with one component less leaves the last at 0, as Clang's vectors do.
  template <class X, class Y, class Z>
    requires(__is_part<T, X> && __is_part<T, Y> && __is_part<T, Z>)
  __SMELT_INLINE constexpr vec(X __x, Y __y, Z __z)
      : x(static_cast<T>(__x)), y(static_cast<T>(__y)), z(static_cast<T>(__z)), w(T(0)) {}
  __SMELT_INLINE constexpr T __at(int i) const { return i == 0 ? x : i == 1 ? y : i == 2 ? z : w; }
  __SMELT_INLINE constexpr void __set(int i, T value) { (i == 0 ? x : i == 1 ? y : i == 2 ? z : w) = value; }
  __SMELT_SWIZZLE_TYPES
#include "smelt/swizzles4.h"
  __SMELT_VECTOR_MEMBERS
};

/// Wider ones, as storage: public kernels keep the 64 elements of a SIMD-group's matrix so. They are set, copied and
/// indexed; how Metal computes with them is not known.
template <class T, int N>
  requires(N > 4)
struct vec<__extended<T, N>> {
  using E = __native<T, N>;
  using value_type = T;
  E __v;

  vec() = default;
  template <class U>
    requires(__is_number<U> && __is_convertible_to(U, T))
  __SMELT_INLINE explicit vec(U value) : __v(E(static_cast<typename __kept<T>::type>(static_cast<T>(value)))) {}
  __SMELT_INLINE vec(E __e, __raw) : __v(__e) {}
  __SMELT_INLINE T operator[](int i) const { return static_cast<T>(__v[i]); }
  __SMELT_INLINE T& operator[](int i) { return reinterpret_cast<T*>(&__v)[i]; }
};

#undef __SMELT_VECTOR_MEMBERS
#undef __SMELT_LOGICAL
#undef __SMELT_COMPARISON
#undef __SMELT_SHIFT
#undef __SMELT_ARITHMETIC
#undef __SMELT_WRITE
#undef __SMELT_READ
#undef __SMELT_SHUFFLED

// ---- Packed: elements side by side, aligned as one of them
// ------------------------------------------------------------

#define __SMELT_PICKED(count, ...)    \
  constexpr int at[] = {__VA_ARGS__}; \
  return __pick<count>(at)
#define __SMELT_READ(count, name, colours, ...)                               \
  __SMELT_GETTER(packed_vec, count, name, __SMELT_PICKED(count, __VA_ARGS__)) \
  __declspec(property(get = __get_##name)) __vec##count name, colours;
#define __SMELT_WRITE(count, name, colours, ...)                              \
  __SMELT_GETTER(packed_vec, count, name, __SMELT_PICKED(count, __VA_ARGS__)) \
  __SMELT_PUTTER(count, name, __VA_ARGS__)                                    \
  __declspec(property(get = __get_##name, put = __put_##name)) __vec##count name, colours;

// Arithmetic is the aligned vector's. Three forms, so that packed op packed finds one and a mixed pair is no tie.
#define __SMELT_PACKED_OPERATOR(op)                                              \
  friend __SMELT_INLINE constexpr auto operator op(packed_vec a, packed_vec b) { \
    return V(a) op V(b);                                                         \
  }                                                                              \
  friend __SMELT_INLINE constexpr auto operator op(packed_vec a, V b) {          \
    return V(a) op b;                                                            \
  }                                                                              \
  friend __SMELT_INLINE constexpr auto operator op(V a, packed_vec b) {          \
    return a op V(b);                                                            \
  }
#define __SMELT_PACKED_ARITHMETIC(op)                        \
  __SMELT_PACKED_OPERATOR(op)                                \
  __SMELT_INLINE constexpr packed_vec& operator op##=(V b) { \
    return *this = packed_vec(V(*this) op b);                \
  }                                                          \
  template <class P>                                         \
    requires(__is_volatile(P))                               \
  __SMELT_INLINE P& operator op##=(this P & self, V b) {     \
    return self = packed_vec(V(packed_vec(self)) op b);      \
  }

// With a vector of another type of integer, as the aligned vector's.
#define __SMELT_PACKED_SHIFT(op)                                                                   \
  __SMELT_PACKED_ARITHMETIC(op)                                                                    \
  template <class U>                                                                               \
    requires(!__is_same(U, T) && __is_shift<T, U>)                                                 \
  friend __SMELT_INLINE constexpr V operator op(packed_vec a, metal::vec<U, N> b) {                \
    return V(a) op b;                                                                              \
  }                                                                                                \
  template <class U>                                                                               \
    requires(!__is_same(U, T) && __is_shift<T, U>)                                                 \
  friend __SMELT_INLINE constexpr V operator op(packed_vec a, metal::packed_vec<U, N> b) {         \
    return V(a) op metal::vec<U, N>(b);                                                            \
  }                                                                                                \
  template <class U>                                                                               \
    requires(!__is_same(U, T) && __is_shift<U, T>)                                                 \
  friend __SMELT_INLINE constexpr metal::vec<U, N> operator op(metal::vec<U, N> a, packed_vec b) { \
    return a op V(b);                                                                              \
  }                                                                                                \
  template <class P, class U>                                                                      \
    requires(!__is_same(U, T) && __is_shift<T, U>)                                                 \
  __SMELT_INLINE constexpr P& operator op##=(this P & self, metal::vec<U, N> b) {                  \
    self op## = V(b);                                                                              \
    return self;                                                                                   \
  }

#define __SMELT_PACKED_MEMBERS                                                                   \
  using V = metal::vec<T, N>;                                                                    \
  using value_type = T;                                                                          \
  packed_vec() = default;                                                                        \
  template <class U>                                                                             \
    requires(__is_number<U> && __is_convertible_to(U, T))                                        \
  __SMELT_INLINE constexpr explicit packed_vec(U value) : packed_vec(V(value)) {}                \
  template <class U>                                                                             \
    requires(!__is_same(U, T))                                                                   \
  __SMELT_INLINE constexpr explicit packed_vec(metal::vec<U, N> other) : packed_vec(V(other)) {} \
  template <class U>                                                                             \
    requires(!__is_same(U, T))                                                                   \
  __SMELT_INLINE constexpr explicit packed_vec(metal::packed_vec<U, N> other)                    \
      : packed_vec(V(metal::vec<U, N>(other))) {}                                                \
  template <class... A>                                                                          \
    requires __fills<T, N, A...>                                                                 \
  __SMELT_INLINE constexpr packed_vec(A... parts) : packed_vec(V(parts...)) {}                   \
  template <int count>                                                                           \
  __SMELT_INLINE constexpr metal::vec<T, count> __pick(const int(&at)[count]) const {            \
    if constexpr (count == 2)                                                                    \
      return metal::vec<T, 2>(__at(at[0]), __at(at[1]));                                         \
    else if constexpr (count == 3)                                                               \
      return metal::vec<T, 3>(__at(at[0]), __at(at[1]), __at(at[2]));                            \
    else                                                                                         \
      return metal::vec<T, 4>(__at(at[0]), __at(at[1]), __at(at[2]), __at(at[3]));               \
  }                                                                                              \
  __SMELT_INLINE constexpr T operator[](int i) const {                                           \
    return __at(i);                                                                              \
  }                                                                                              \
  __SMELT_INLINE T& operator[](int i) {                                                          \
    return reinterpret_cast<T*>(this)[i];                                                        \
  }                                                                                              \
  template <class P>                                                                             \
    requires(__is_volatile(P))                                                                   \
  __SMELT_INLINE auto& operator[](this P& self, int i) {                                         \
    return (&self.x)[i];                                                                         \
  }                                                                                              \
  template <class P>                                                                             \
    requires(__is_volatile(P) && __is_same(__smelt_plain_t<P>, packed_vec))                      \
  __SMELT_INLINE packed_vec(P& other) {                                                          \
    __SMELT_EACH(i, N, (&x)[i] = (&other.x)[i]);                                                 \
  }                                                                                              \
  template <class P>                                                                             \
    requires(__is_volatile(P) && __is_same(__smelt_plain_t<P>, packed_vec))                      \
  __SMELT_INLINE packed_vec& operator=(P& other) {                                               \
    return *this = packed_vec(other);                                                            \
  }                                                                                              \
  template <class P>                                                                             \
    requires(__is_volatile(P))                                                                   \
  __SMELT_INLINE P& operator=(this P& self, packed_vec value) {                                  \
    __SMELT_EACH(i, N, (&self.x)[i] = (&value.x)[i]);                                            \
    return self;                                                                                 \
  }                                                                                              \
  __SMELT_PACKED_ARITHMETIC(+)                                                                   \
  __SMELT_PACKED_ARITHMETIC(-)                                                                   \
  __SMELT_PACKED_ARITHMETIC(*)                                                                   \
  __SMELT_PACKED_ARITHMETIC(/)                                                                   \
  __SMELT_PACKED_ARITHMETIC(%)                                                                   \
  __SMELT_PACKED_ARITHMETIC(&)                                                                   \
  __SMELT_PACKED_ARITHMETIC(|)                                                                   \
  __SMELT_PACKED_ARITHMETIC(^)                                                                   \
  __SMELT_PACKED_SHIFT(<<)                                                                       \
  __SMELT_PACKED_SHIFT(>>)                                                                       \
  __SMELT_PACKED_OPERATOR(<)                                                                     \
  __SMELT_PACKED_OPERATOR(>)                                                                     \
  __SMELT_PACKED_OPERATOR(<=)                                                                    \
  __SMELT_PACKED_OPERATOR(>=)                                                                    \
  __SMELT_PACKED_OPERATOR(==)                                                                    \
  __SMELT_PACKED_OPERATOR(!=)                                                                    \
  __SMELT_PACKED_OPERATOR(&&)                                                                    \
  __SMELT_PACKED_OPERATOR(||)                                                                    \
  __SMELT_INLINE constexpr V operator+() const {                                                 \
    return V(*this);                                                                             \
  }                                                                                              \
  __SMELT_INLINE constexpr V operator-() const {                                                 \
    return -V(*this);                                                                            \
  }                                                                                              \
  __SMELT_INLINE constexpr V operator~() const {                                                 \
    return ~V(*this);                                                                            \
  }                                                                                              \
  __SMELT_INLINE constexpr metal::vec<bool, N> operator!() const {                               \
    return !V(*this);                                                                            \
  }                                                                                              \
  __SMELT_INLINE constexpr packed_vec& operator++() {                                            \
    return *this += V(1);                                                                        \
  }                                                                                              \
  __SMELT_INLINE constexpr packed_vec& operator--() {                                            \
    return *this -= V(1);                                                                        \
  }

template <class T>
struct packed_vec<__extended<T, 2>> {
  static constexpr int N = 2;
  union {
    struct {
      T x, y;
    };
    struct {
      T r, g;
    };
  };
  __SMELT_PACKED_MEMBERS
  __SMELT_INLINE constexpr packed_vec(V v) : x(v.x), y(v.y) {}
  __SMELT_INLINE operator V() const volatile { return packed_vec(*this); }
  __SMELT_INLINE constexpr operator V() const { return V(x, y); }
  __SMELT_INLINE constexpr T __at(int i) const { return i == 0 ? x : y; }
  __SMELT_INLINE constexpr void __set(int i, T value) { (i == 0 ? x : y) = value; }
  __SMELT_SWIZZLE_TYPES
#include "smelt/swizzles2.h"
};
template <class T>
struct packed_vec<__extended<T, 3>> {
  static constexpr int N = 3;
  union {
    struct {
      T x, y, z;
    };
    struct {
      T r, g, b;
    };
  };
  __SMELT_PACKED_MEMBERS
  __SMELT_INLINE constexpr packed_vec(V v) : x(v.x), y(v.y), z(v.z) {}
  __SMELT_INLINE operator V() const volatile { return packed_vec(*this); }
  __SMELT_INLINE constexpr operator V() const { return V(x, y, z); }
  __SMELT_INLINE constexpr T __at(int i) const { return i == 0 ? x : i == 1 ? y : z; }
  __SMELT_INLINE constexpr void __set(int i, T value) { (i == 0 ? x : i == 1 ? y : z) = value; }
  __SMELT_SWIZZLE_TYPES
#include "smelt/swizzles3.h"
};
template <class T>
struct packed_vec<__extended<T, 4>> {
  static constexpr int N = 4;
  union {
    struct {
      T x, y, z, w;
    };
    struct {
      T r, g, b, a;
    };
  };
  __SMELT_PACKED_MEMBERS
  __SMELT_INLINE constexpr packed_vec(V v) : x(v.x), y(v.y), z(v.z), w(v.w) {}
  __SMELT_INLINE operator V() const volatile { return packed_vec(*this); }
  __SMELT_INLINE constexpr operator V() const { return V(x, y, z, w); }
  __SMELT_INLINE constexpr T __at(int i) const { return i == 0 ? x : i == 1 ? y : i == 2 ? z : w; }
  __SMELT_INLINE constexpr void __set(int i, T value) { (i == 0 ? x : i == 1 ? y : i == 2 ? z : w) = value; }
  __SMELT_SWIZZLE_TYPES
#include "smelt/swizzles4.h"
};

#undef __SMELT_PACKED_MEMBERS
#undef __SMELT_PACKED_ARITHMETIC
#undef __SMELT_PACKED_SHIFT
#undef __SMELT_PACKED_OPERATOR
#undef __SMELT_WRITE
#undef __SMELT_READ
#undef __SMELT_PICKED
#undef __SMELT_PUTTER
#undef __SMELT_GETTER
#undef __SMELT_SWIZZLE_TYPES

}  // namespace __vectors
}  // namespace metal

#endif
