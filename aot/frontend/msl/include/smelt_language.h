/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// What the token filter puts into user code, and the types that Metal has as keywords. Comes before everything else.
#pragma once

#ifdef __SMELT_EDITOR__
#include "smelt/editor.h"
#else
#define SMELT_DEVICE __attribute__((opencl_global_device))
#define SMELT_CONSTANT __attribute__((opencl_global_host)) const
#define SMELT_THREADGROUP __attribute__((opencl_local))
#define SMELT_IMAGEBLOCK __attribute__((opencl_global))

// Behind a method's parameter list: the space of its object.
#define __SMELT_OF_THREAD __attribute__((msl_this_thread))
#define __SMELT_OF_DEVICE __attribute__((msl_this_device))
#define __SMELT_OF_CONSTANT __attribute__((msl_this_constant))
#define __SMELT_OF_THREADGROUP __attribute__((msl_this_threadgroup))

// What is declared for another space too.
#define __SMELT_OTHER_SPACES(...) __VA_ARGS__
#endif

typedef __bf16 bfloat;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long int64_t;
typedef unsigned long uint64_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;

// ---- is_function_constant_defined(x) becomes __smelt_function_constant_defined(&x) ----

extern "C" bool __smelt_air_function_constant_defined(SMELT_CONSTANT void*) __asm("air.is_function_constant_defined");

template <class T>
inline __attribute__((always_inline)) bool __smelt_function_constant_defined(SMELT_CONSTANT T* of) {
  return __smelt_air_function_constant_defined((SMELT_CONSTANT void*)of);
}

// ---- the arms of ?: ----

template <class T>
struct __smelt_plain {
  using type = T;
};
template <class T>
struct __smelt_plain<const T> {
  using type = typename __smelt_plain<T>::type;
};
template <class T>
struct __smelt_plain<volatile T> {
  using type = typename __smelt_plain<T>::type;
};
template <class T>
struct __smelt_plain<const volatile T> {
  using type = typename __smelt_plain<T>::type;
};
#define __SMELT_PLAIN(space)                                      \
  template <class T>                                              \
  struct __smelt_plain<__attribute__((space)) T> {                \
    using type = typename __smelt_plain<T>::type;                 \
  };                                                              \
  template <class T>                                              \
  struct __smelt_plain<__attribute__((space)) const T> {          \
    using type = typename __smelt_plain<T>::type;                 \
  };                                                              \
  template <class T>                                              \
  struct __smelt_plain<__attribute__((space)) volatile T> {       \
    using type = typename __smelt_plain<T>::type;                 \
  };                                                              \
  template <class T>                                              \
  struct __smelt_plain<__attribute__((space)) const volatile T> { \
    using type = typename __smelt_plain<T>::type;                 \
  };
__SMELT_PLAIN(opencl_global_device)
__SMELT_PLAIN(opencl_global_host)
__SMELT_PLAIN(opencl_local)
#undef __SMELT_PLAIN

template <class T>
using __smelt_plain_t = typename __smelt_plain<__remove_reference_t(T)>::type;

// A class value in memory of a space, or const, and a number in a space: by value and plain. Anything else: itself.
template <class T>
constexpr bool __smelt_by_value = ((__is_class(__remove_reference_t(T)) || __is_union(__remove_reference_t(T))) &&
                                   !__is_same(__smelt_plain_t<T>, __remove_reference_t(T))) ||
                                  ((__is_arithmetic(__remove_reference_t(T)) || __is_enum(__remove_reference_t(T))) &&
                                   !__is_same(__smelt_plain_t<T>, __remove_cv(__remove_reference_t(T))));

template <class T>
  requires(__smelt_by_value<T>)
inline __attribute__((always_inline)) constexpr __smelt_plain_t<T> __msl_arm(T&& value) {
  return value;
}
template <class T>
  requires(!__smelt_by_value<T> && __is_lvalue_reference(T))
inline __attribute__((always_inline)) constexpr T __msl_arm(T&& value) {
  return value;
}
template <class T>
  requires(!__smelt_by_value<T> && !__is_lvalue_reference(T))
inline __attribute__((always_inline)) constexpr T __msl_arm(T&& value) {
  return static_cast<T&&>(value);
}

// ---- static_cast: Clang refuses half <-> bfloat, which Metal has as an explicit conversion ----

template <class A, class B>
constexpr bool __smelt_half_and_bfloat =
    (__is_same(A, half) && __is_same(B, __bf16)) || (__is_same(A, __bf16) && __is_same(B, half));

template <class T, class U>
inline __attribute__((always_inline)) constexpr T __msl_cast(U&& value) {
  if constexpr (__smelt_half_and_bfloat<__smelt_plain_t<T>, __smelt_plain_t<U>>)
    return (T)(float)value;
  else
    return static_cast<T>(static_cast<U&&>(value));
}

// (T)x, where T and x are half and bfloat: ->* binds as a cast does, but for the rare member pointers.
template <class T>
struct __msl_cast_to {
  template <class U>
  inline __attribute__((always_inline)) constexpr T operator->*(U&& value) const {
    return __msl_cast<T>(static_cast<U&&>(value));
  }
};

// ---- "text" becomes "text"__msl, a constant char[5]; the same text is the same array ----

template <class C, C... Text>
inline constexpr SMELT_CONSTANT C __msl_literal[] = {Text..., C(0)};
template <class C, C... Text>
inline __attribute__((always_inline)) constexpr auto& operator""__msl() {
  return __msl_literal<C, Text...>;
}

// ---- __func__ becomes (*(__msl_characters<sizeof(__func__)>*)(size_t)&__func__) ----

template <size_t N>
using __msl_characters = SMELT_CONSTANT char[N];
