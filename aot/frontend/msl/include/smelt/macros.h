/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// How the headers of this folder are written: attributes, lists of types, and the shapes of declarations that repeat.
//
// An AIR operation is a declaration whose assembler label is the operation's exact name (README.md). Scalars need
// nothing more: the user's function *is* that declaration. Vectors are classes (smelt/vector.h) and are wrapped:
// metal::__air holds the operation on Clang's own vectors, the user's function unpacks and packs.
#ifndef __SMELT_MACROS_H
#define __SMELT_MACROS_H

#include "smelt_language.h"

/// The driver inlines every function that is no kernel.
#define __SMELT_INLINE inline
/// The statement once for each of 2 to 4 components or columns, `i` a constant. No loop: nothing unrolls one before AIR
/// is written, and one that picks a component by its number keeps the vector in memory.
#define __SMELT_EACH(i, count, ...) \
  {                                 \
    constexpr int i = 0;            \
    __VA_ARGS__;                    \
  }                                 \
  {                                 \
    constexpr int i = 1;            \
    __VA_ARGS__;                    \
  }                                 \
  if constexpr (count > 2) {        \
    constexpr int i = 2;            \
    __VA_ARGS__;                    \
  }                                 \
  if constexpr (count > 3) {        \
    constexpr int i = 3;            \
    __VA_ARGS__;                    \
  }
/// The result depends on the operands alone.
#define __SMELT_PURE __attribute__((const))
/// Other lanes take part: no pass may move the call into or out of a branch.
#define __SMELT_LANES __attribute__((convergent, nothrow))

#define METAL_FUNC inline __attribute__((always_inline))
#define METAL_CONST const
/// Says of a wrapper that this parameter is to be a constant; everything is inlined before that counts.
#define METAL_CONST_ARG(parameter)

#define __SMELT_TEXT_(x) #x
#define __SMELT_TEXT(x) __SMELT_TEXT_(x)
#define __SMELT_JOIN_(a, b) a##b
#define __SMELT_JOIN(a, b) __SMELT_JOIN_(a, b)

// ---- Lists of types: M(type, AIR sign, AIR type)
// ---------------------------------------------------------------------

#define __SMELT_EACH_SMALL_INTEGER(M) \
  M(char, s, i8) M(uchar, u, i8) M(short, s, i16) M(ushort, u, i16) M(int, s, i32) M(uint, u, i32)
#define __SMELT_EACH_INTEGER(M) __SMELT_EACH_SMALL_INTEGER(M) M(long, s, i64) M(ulong, u, i64)
#define __SMELT_EACH_SIGNED(M) M(char, s, i8) M(short, s, i16) M(int, s, i32) M(long, s, i64)

// ---- Declarations ----
//
// Operations of one, two or three values of one type. `label` is the name without its type, "air.exp." for
// air.exp.v4f32, `type` its suffix, f32, and `how` an attribute.
//   __SMELT_SCALAR_n    the user's function of scalars: the operation itself
//   __SMELT_NATIVE_n    the operation on Clang's vectors, to stand in metal::__air
//   __SMELT_VECTOR_n    the user's functions of vectors, which call metal::__air::operation
// A namespace is opened once per header, not once per function: Clang reads every reopening back from the precompiled
// header when it looks into the namespace.

#define __SMELT_SCALAR_1(name, T, label, type, how) \
  T name(T)                                         \
  how __asm(label #type);
#define __SMELT_SCALAR_2(name, T, label, type, how) \
  T name(T, T)                                      \
  how __asm(label #type);
#define __SMELT_SCALAR_3(name, T, label, type, how) \
  T name(T, T, T)                                   \
  how __asm(label #type);

#define __SMELT_NATIVE_1(name, T, label, type, how)                \
  __native<T, 2> name(__native<T, 2>) how __asm(label "v2" #type); \
  __native<T, 3> name(__native<T, 3>) how __asm(label "v3" #type); \
  __native<T, 4> name(__native<T, 4>) how __asm(label "v4" #type);
#define __SMELT_NATIVE_2(name, T, label, type, how)                                \
  __native<T, 2> name(__native<T, 2>, __native<T, 2>) how __asm(label "v2" #type); \
  __native<T, 3> name(__native<T, 3>, __native<T, 3>) how __asm(label "v3" #type); \
  __native<T, 4> name(__native<T, 4>, __native<T, 4>) how __asm(label "v4" #type);
#define __SMELT_NATIVE_3(name, T, label, type, how)                                                \
  __native<T, 2> name(__native<T, 2>, __native<T, 2>, __native<T, 2>) how __asm(label "v2" #type); \
  __native<T, 3> name(__native<T, 3>, __native<T, 3>, __native<T, 3>) how __asm(label "v3" #type); \
  __native<T, 4> name(__native<T, 4>, __native<T, 4>, __native<T, 4>) how __asm(label "v4" #type);

#define __SMELT_VECTOR_1(name, V, operation)    \
  __SMELT_INLINE V name(V a) {                  \
    return V(__air::operation(a.__v), __raw()); \
  }
#define __SMELT_VECTOR_2(name, V, operation)           \
  __SMELT_INLINE V name(V a, V b) {                    \
    return V(__air::operation(a.__v, b.__v), __raw()); \
  }
#define __SMELT_VECTOR_3(name, V, operation)                  \
  __SMELT_INLINE V name(V a, V b, V c) {                      \
    return V(__air::operation(a.__v, b.__v, c.__v), __raw()); \
  }
#define __SMELT_VECTORS(arity, name, T, operation)                                            \
  __SMELT_VECTOR_##arity(name, T##2, operation) __SMELT_VECTOR_##arity(name, T##3, operation) \
      __SMELT_VECTOR_##arity(name, T##4, operation)

// operator[] of objects in a space, or volatile: it gives elements of the same kind, so that a pointer or reference to
// one can be made. `element` is made of `self` and the index.
#define __SMELT_ELEMENT(C, T, index, element)                   \
  __SMELT_INLINE constexpr T& operator[](this C& self, index) { \
    return element;                                             \
  }
#define __SMELT_ELEMENTS(C, T, index, element)                                                                \
  __SMELT_OTHER_SPACES(__SMELT_ELEMENT(SMELT_DEVICE C, SMELT_DEVICE T, index, element))                       \
  __SMELT_OTHER_SPACES(__SMELT_ELEMENT(SMELT_DEVICE const C, SMELT_DEVICE const T, index, element))           \
  __SMELT_OTHER_SPACES(__SMELT_ELEMENT(SMELT_THREADGROUP C, SMELT_THREADGROUP T, index, element))             \
  __SMELT_OTHER_SPACES(__SMELT_ELEMENT(SMELT_THREADGROUP const C, SMELT_THREADGROUP const T, index, element)) \
  __SMELT_OTHER_SPACES(__SMELT_ELEMENT(SMELT_CONSTANT C, SMELT_CONSTANT T, index, element))                   \
  template <class Self>                                                                                       \
    requires(__is_volatile(Self))                                                                             \
  __SMELT_INLINE auto& operator[](this Self& self, index) {                                                   \
    return element;                                                                                           \
  }

#endif
