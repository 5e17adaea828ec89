// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a test could not look at here.
#pragma once

#include <string>

namespace smelt::test {

/// The running test case has no input or tool to go on: `what` says which, and how to get it. The case then returns.
/// The program ends with exit code 77, which CTest calls skipped, unless something failed; `scripts/test` lists what
/// was not proven at its end. Any thread.
void skipped(const std::string& what);

/// True when a case of this program was skipped.
bool any_skipped();

}  // namespace smelt::test
