// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#define DOCTEST_CONFIG_IMPLEMENT
#include "skips.hpp"

#include <doctest/doctest.h>

// What LLVM was doing when a guard takes it back is leaked on purpose (aot/air/llvm_support/guard.hpp).
extern "C" const char* __lsan_default_suppressions();
extern "C" __attribute__((visibility("default"))) const char* __lsan_default_suppressions() {
  return "leak:contain_fatal_errors\nleak:contain_crashes\n";
}

int main(int argc, char** argv) {
  const int failed = doctest::Context(argc, argv).run();
  if (failed != 0) return failed;
  return smelt::test::any_skipped() ? 77 : 0;
}
