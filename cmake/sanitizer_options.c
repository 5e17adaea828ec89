// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Linked into every program of a build with AddressSanitizer. Not by the environment: the compiling child has none.

// Leaks are not looked for: what a contained fault leaves behind is leaked on purpose, and so is the stack of its
// thread.
const char* __asan_default_options(void) {
  return "detect_leaks=0";
}
