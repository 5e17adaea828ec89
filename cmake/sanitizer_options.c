// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Linked into every program of a build with a sanitizer. Not by the environment: the compiling child has none.

// Leaks are not looked for: what a contained fault leaves behind is leaked on purpose, and so is the stack of its
// thread.
const char* __asan_default_options(void) {
  return "detect_leaks=0";
}

// Under a sanitizer a thread goes on where a fault was contained (llvm_support/guard.hpp): to TSan it is in the
// signal's handler for ever, and frees memory there.
const char* __tsan_default_options(void) {
  return "report_signal_unsafe=0";
}
