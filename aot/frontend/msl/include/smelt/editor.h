/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// For editors: clangd has neither the token filter nor the spaces of methods. So the words of the language are macros
// here, which go before everything else (`smelt clangd-config` writes the flags), and all memory is of one space.
// What an editor then underlines is wrong; what it does not underline the compiler may still refuse.
#ifndef __SMELT_EDITOR_H
#define __SMELT_EDITOR_H

typedef _Float16 half;

#define kernel
#define vertex
#define fragment
#define thread
#define device
#define constant const
#define threadgroup_imageblock
#define threadgroup __w64  // a keyword of Clang that means nothing: [[threadgroup(0)]] has to have a word

#define SMELT_DEVICE
#define SMELT_CONSTANT const
#define SMELT_THREADGROUP
#define SMELT_IMAGEBLOCK
#define __SMELT_OF_THREAD
#define __SMELT_OF_DEVICE
#define __SMELT_OF_CONSTANT
#define __SMELT_OF_THREADGROUP
#define __SMELT_OTHER_SPACES(...)

#define is_function_constant_defined(name) true

constexpr half operator""h(long double value) {
  return value;
}
constexpr __bf16 operator"" bf(long double value) {
  return value;
}

#endif
