// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `if (__builtin_available(macOS 15, *))` of Apple's compilers: GCC has no such thing, and Clang says yes to every
// version where the system is none of Apple's. Here the system calls itself macOS 15, and iOS 18 and so on where a list
// begins with one of them; what follows the first is not looked at.
#pragma once

#if !defined(__APPLE__) && !defined(__builtin_available)
#define __builtin_available(first, ...) (SMELT_AVAILABLE_##first)
#define SMELT_AVAILABLE_macOS 15 >=
#define SMELT_AVAILABLE_iOS 18 >=
#define SMELT_AVAILABLE_macCatalyst 18 >=
#define SMELT_AVAILABLE_tvOS 18 >=
#define SMELT_AVAILABLE_watchOS 11 >=
#define SMELT_AVAILABLE_visionOS 2 >=
#endif
