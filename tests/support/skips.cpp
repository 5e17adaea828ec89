// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "skips.hpp"

#include <doctest/doctest.h>

#include <atomic>

namespace smelt::test {

namespace {
std::atomic<bool> any = false;
}

void skipped(const std::string& what) {
  any = true;
  const doctest::TestCaseData* test = doctest::getContextOptions()->currentTest;
  // As a string: doctest 2.4.11 prints the address that a pointer has.
  MESSAGE("SKIPPED: ", std::string(test == nullptr ? "" : test->m_name), ": ", what);
}

bool any_skipped() {
  return any;
}

}  // namespace smelt::test
