// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a program and the compiler that it opens agree on. Both are of one build: the table has no version, and another
// build's is refused.
#pragma once

#include <cstdint>

extern "C" {

/// In libsmelt-aot.so: the functions by the order of their mangled names.
struct smelt_opened_table_t {
  const char* identity;  ///< of the sources, and of the list of functions
  uint64_t count;
  void (*const* functions)();
};
extern __attribute__((visibility("default"))) const smelt_opened_table_t smelt_opened_table;

/// In the program, or in a module of Python's, where each has its own: null until they are known; filled by
/// smelt_open_compiler.
extern __attribute__((visibility("hidden"))) void (*smelt_opened_functions[])();
extern __attribute__((visibility("hidden"))) const uint64_t smelt_opened_count;
extern __attribute__((visibility("hidden"))) const char* const smelt_opened_identity;

/// Opens it, or ends the program with exit code 1 and a message. Any thread.
__attribute__((visibility("hidden"))) void smelt_open_compiler() noexcept;
/// Opens it. Null when it is open, else why not. Any thread. A module of Python's asks this first, since it may not end
/// the program.
__attribute__((visibility("hidden"))) const char* smelt_compiler_trouble() noexcept;
}
